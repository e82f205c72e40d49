import { Router, type RequestHandler } from 'express';
import helmet from 'helmet';
import { challenge } from './challenge';
import type { SimulatorContext } from './context';
import { cardsPage } from './pages/cards';
import { SIMULATOR_STYLE } from './pages/style';

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

/** The front page of the private port: the table of cards and the simulator's endpoints. */
export function frontPage(): Router {
  const router = Router();
  router.get('/', securityHeaders, (_req, res) => void res.send(cardsPage()));
  router.get('/style.css', securityHeaders, style);
  return router;
}

/** Routes for customers' browsers: only the issuer's 3-D Secure page. */
export function issuerSite(context: SimulatorContext): Router {
  const router = Router();
  router.use(securityHeaders);
  router.get('/style.css', style);
  router.use('/challenge', (_req, res, next) => {
    res.set('Cache-Control', 'no-store');
    next();
  });
  router.use('/challenge', challenge(context));
  return router;
}

const style: RequestHandler = (_req, res) => void res.type('css').send(SIMULATOR_STYLE);
