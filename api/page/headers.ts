import type { RequestHandler, Response } from 'express';
import helmet from 'helmet';

/** Headers of every page. Transport security is the server's business. */
export const pageHeaders: RequestHandler[] = [
  helmet({
    contentSecurityPolicy: false,
    strictTransportSecurity: false,
    frameguard: { action: 'deny' },
    // Other sites must not learn a payment page's address.
    referrerPolicy: { policy: 'same-origin' },
  }),
  (_request, response, next) => {
    response.set({
      'Cache-Control': 'no-store',
      'X-Robots-Tag': 'noindex, nofollow',
      'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
    });
    setPolicy(response, []);
    next();
  },
];

/**
 * The Content-Security-Policy: nothing from other sites and nothing inline. `return_urls`: where a form may lead to
 * besides; Chromium applies form-action to the redirect after a form too.
 */
export function setPolicy(response: Response, return_urls: readonly string[]): void {
  const self = ["'self'"];
  const set = helmet.contentSecurityPolicy({
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      styleSrc: self,
      scriptSrc: self,
      imgSrc: self,
      baseUri: ["'none'"],
      frameAncestors: ["'none'"],
      formAction: [...self, ...new Set(return_urls.map(sourceOf))],
    },
  });
  set(response.req, response, rethrow);
}

function rethrow(error?: unknown): void {
  if (error !== undefined) throw error as Error;
}

/**
 * The origin where the policy's grammar can express it, else the scheme alone: it has no IPv6 addresses, and a `;`
 * would begin another directive.
 */
export function sourceOf(address: string): string {
  const { origin, protocol } = new URL(address);
  return /^https?:\/\/[a-z0-9.-]+(:\d+)?$/.test(origin) ? origin : protocol;
}
