import { createHash } from 'node:crypto';
import { parseCookie } from 'cookie';
import { doubleCsrf } from 'csrf-csrf';
import type { Request, RequestHandler, Response } from 'express';

/** Protects the forms against requests that other sites forge in the customer's name (CSRF). */
export interface CsrfProtection {
  /** The token of a form on the page at this path; sets its cookie. */
  token(request: Request, response: Response, page: string): string;
  /** Whether a form came from a page of ours, in the browser that page was sent to, for this payable. */
  isValid(request: Request): boolean;
  /** A digest of the browser's cookie for this payable; `undefined` when it has none yet. Only the browser knows it. */
  payer(request: Request): string | undefined;
  /** Makes the cookies readable; comes before all of the above. */
  cookies: RequestHandler;
}

/** The field that carries the token. */
export const TOKEN_FIELD = 'token';

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
  const { generateCsrfToken, validateRequest } = doubleCsrf({
    getSecret: () => page_secrets,
    getSessionIdentifier: (request) => String(request.params['id']),
    cookieName,
    // Lax, not strict: the customer comes from the merchant's site, and must keep the cookie of a tab that is open
    // already.
    cookieOptions: { sameSite: 'lax', httpOnly: true, secure },
    getCsrfTokenFromRequest: (request) => {
      const token: unknown = (request.body as Record<string, unknown> | undefined)?.[TOKEN_FIELD];
      return typeof token === 'string' ? token : undefined;
    },
  });
  return {
    token: (request, response, page) =>
      generateCsrfToken(request, response, { cookieOptions: { path: page.replace(/\/$/, '') } }),
    isValid: (request) => validateRequest(request),
    payer: ({ cookies }) => {
      const token = (cookies as Record<string, string | undefined>)[cookieName];
      return token === undefined ? undefined : createHash('sha256').update(token).digest('base64url');
    },
    cookies: (request, _response, next) => {
      // Of two cookies with one name the first counts: browsers send the one with the longer path first.
      request.cookies = parseCookie(request.headers.cookie ?? '');
      next();
    },
  };
}
