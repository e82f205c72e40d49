import { Router } from 'express';
import helmet from 'helmet';
import { challenge } from './challenge';
import type { Context } from './context';
import { cardsPage } from './pages/cards';
import { STYLE } from './pages/style';

const securityHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      styleSrc: ["'self'"],
      imgSrc: ['data:'],
      baseUri: ["'none'"],
      frameAncestors: ["'none'"],
      // Chromium applies it to every redirect after the form, and an issuer cannot know where a merchant sends its
      // customers on to.
      formAction: ["'self'", 'https:', 'http:'],
    },
  },
  referrerPolicy: { policy: 'no-referrer' },
});

/** The pages: the table of cards and the issuer's page. */
export function site(context: Context): Router {
  const router = Router();
  router.use(['/challenge', '/style.css'], securityHeaders);
  router.get('/', securityHeaders, (_req, res) => void res.send(cardsPage()));
  router.get('/style.css', (_req, res) => void res.type('css').send(STYLE));
  router.use('/challenge', (_req, res, next) => {
    res.set('Cache-Control', 'no-store');
    next();
  });
  router.use('/challenge', challenge(context));
  return router;
}
