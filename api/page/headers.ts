import type { RequestHandler } from 'express';
import helmet from 'helmet';

const SELF = ["'self'"];

/**
 * Nothing from other sites and nothing inline. Chromium applies form-action to every redirect after a form too: to the
 * merchant's address, which may have changed since the page was opened, and from there to others of the merchant.
 */
const POLICY = {
  defaultSrc: ["'none'"],
  styleSrc: SELF,
  scriptSrc: SELF,
  imgSrc: SELF,
  baseUri: ["'none'"],
  frameAncestors: ["'none'"],
  formAction: [...SELF, 'https:', 'http:'],
};

/** Headers of every page. Transport security is the server's business. */
export const pageHeaders: RequestHandler[] = [
  helmet({
    contentSecurityPolicy: { useDefaults: false, directives: POLICY },
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
    next();
  },
];
