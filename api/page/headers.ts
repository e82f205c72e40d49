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

/** Allows nothing from other sites and nothing inline. `formSources`: other sites that a redirect after a form may lead to. */
export function setPolicy(response: Response, formSources: readonly string[]): void {
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
      formAction: [...self, ...formSources],
    },
  });
  set(response.req, response, rethrow);
}

function rethrow(error?: unknown): void {
  if (error !== undefined) throw error as Error;
}
