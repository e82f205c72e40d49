import { createHash } from 'node:crypto';
import { parseCookie } from 'cookie';
import { doubleCsrf, type DoubleCsrfConfigOptions } from 'csrf-csrf';
import type { Request, RequestHandler, Response } from 'express';

/** Protects the forms against requests that other sites forge in the customer's name (CSRF). */
export interface CsrfProtection {
  /** The token of a form on the page at this path; sets its cookie. */
  token(request: Request, response: Response, page: string): string;
  /** Whether a form came from a page of ours, in the browser that page was sent to, for this payable. */
  isValid(request: Request): boolean;
  /**
   * A digest of the browser's cookie for this payable; `undefined` when it has none that is signed by one of the
   * secrets. Only the browser knows it.
   */
  payer(request: Request): string | undefined;
  /** Makes the cookies readable; comes before all of the above. */
  cookies: RequestHandler;
}

/** The field that carries the token. */
export const TOKEN_FIELD = 'token';

/**
 * How long a browser keeps the cookie after it was last sent: a payer who closed it finds the payment again (rules
 * 19.8). Milliseconds.
 */
const COOKIE_MS = 24 * 60 * 60_000;

/**
 * Double submit of a signed token: cookie and hidden field hold the same token, which is good for one payable. Every
 * payable has a cookie of its own (by its path), so that two payments in one browser do not disturb each other.
 */
export function createCsrfProtection({
  page_secrets,
  public_url,
}: {
  /** The first signs, all are accepted: two while one replaces the other. */
  page_secrets: string[];
  public_url: string;
}): CsrfProtection {
  const secure = new URL(public_url).protocol === 'https:';
  const cookieName = secure ? '__Secure-pay' : 'pay';
  const cookieOf = ({ cookies }: Request) => (cookies as Record<string, string | undefined>)[cookieName];
  const settings: DoubleCsrfConfigOptions = {
    getSecret: () => page_secrets,
    getSessionIdentifier: (request) => String(request.params['id']),
    cookieName,
    // Lax, not strict: the customer comes from the merchant's site, and must keep the cookie of a tab that is open
    // already.
    cookieOptions: { sameSite: 'lax', httpOnly: true, secure, maxAge: COOKIE_MS },
  };
  const { generateCsrfToken, validateRequest } = doubleCsrf({
    ...settings,
    getCsrfTokenFromRequest: (request) => {
      const token: unknown = (request.body as Record<string, unknown> | undefined)?.[TOKEN_FIELD];
      return typeof token === 'string' ? token : undefined;
    },
  });
  // Compares the cookie with itself: only its signature counts.
  const { validateRequest: isSigned } = doubleCsrf({ ...settings, getCsrfTokenFromRequest: cookieOf });
  return {
    token: (request, response, page) =>
      generateCsrfToken(request, response, { cookieOptions: { path: page.replace(/\/$/, '') } }),
    isValid: (request) => validateRequest(request),
    payer: (request) => {
      const cookie = cookieOf(request);
      // A page replaces a cookie that is not signed: the form would come from another payer than its page was for.
      if (cookie === undefined || !isSigned(request)) return undefined;
      return createHash('sha256').update(cookie).digest('base64url');
    },
    cookies: (request, _response, next) => {
      // Of two cookies with one name the first counts: browsers send the one with the longer path first.
      request.cookies = parseCookie(request.headers.cookie ?? '');
      next();
    },
  };
}
