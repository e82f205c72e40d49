import express, { Router, type Request, type RequestHandler } from 'express';
import { idParam } from '../../src/contract/scalars';
import type { Database } from '../../src/db/connection';
import type { Logger } from '../../src/log';
import type { Processor } from '../../src/processor/client';
import type { Orders } from '../../src/temporal/orders';
import type { ProcessorNotifications } from '../../src/temporal/processor-notifications';
import { otherMethods } from '../http/bind';
import type { Rate } from '../http/rate-limit';
import { assets } from './assets';
import { createCsrfProtection } from './csrf';
import { cancel, notFound, payByCard, payByWallet, showPage, type PageContext } from './handlers';
import { pageHeaders } from './headers';
import { limitByAddress, limitForms } from './limits';
import { orderPayables } from './order';
import { createRespond, onPageError } from './respond';
import { createTestCards } from './test-cards';

/** Far more than the card form needs. */
const FORM_BYTES_MAX = '8kb';
const FORM_FIELDS_MAX = 20;

/** How much customers may send; `undefined`: without limit. */
export interface PageRates {
  /** Requests of one client address. */
  page: Rate;
  /** Forms for one order. */
  form: Rate;
}

/** External services and settings that the pages use. */
export interface PageServices {
  db: Database;
  orders: Orders;
  processor_notifications: Pick<ProcessorNotifications, 'customerReturned'>;
  processor: Processor;
  /** Address at which customers reach the pages, without a slash at its end. */
  public_url: string;
  /** Signs the forms; the same on every api process. */
  page_secret: string;
  /** Milliseconds until a form is answered, with the outcome or without. */
  deadline_ms: number;
  log: Logger;
  rates: PageRates | undefined;
}

/** The hosted pages: pay by card or wallet, cancel, and see how it ended. Plain forms; nothing needs a script (rules 12.2). */
export function createPages(services: PageServices): Router {
  const { processor, public_url, deadline_ms, log, rates } = services;
  const base = new URL(public_url).pathname.replace(/\/+$/, '');
  const csrf = createCsrfProtection(services);
  const testCards = createTestCards(processor, log);
  const respond = createRespond({ csrf, base, testCards });
  const shared = { processor, deadline_ms, csrf, testCards, respond };

  const router = Router({ caseSensitive: true });
  router.use(assets());
  router.use(
    '/pay',
    ...pageHeaders,
    ...(rates ? [limitByAddress(rates.page)] : []),
    csrf.cookies,
    express.urlencoded({ extended: false, limit: FORM_BYTES_MAX, parameterLimit: FORM_FIELDS_MAX }),
    pagesOf(
      { ...shared, payables: orderPayables(services), limitForms: rates ? limitForms(rates.form) : () => {} },
      base,
    ),
    onPageError(log, base),
  );
  return router;
}

/** The addresses below the path of one kind of payable. */
function pagesOf(context: PageContext, base: string): Router {
  const router = Router({ caseSensitive: true });
  // Ids reach handlers, cookies and redirects checked and in small letters (rules 12.13).
  for (const name of ['id', 'transaction_id']) {
    router.param(name, (request, _response, next, value: string) => {
      const id = idParam().safeParse(value);
      if (!id.success) throw notFound();
      request.params[name] = id.data;
      next();
    });
  }
  const show = showPage(context);
  // A customer who loads a form's address again is sent to the page.
  const toPage: RequestHandler = ({ baseUrl, params }: Request, response) =>
    response.redirect(303, `${base}${baseUrl}/${String(params['id'])}/`);

  const routes: Record<string, { get: RequestHandler; post?: RequestHandler }> = {
    '/:id': { get: show, post: payByCard(context) },
    '/:id/wallet': { get: toPage, post: payByWallet(context) },
    '/:id/cancel': { get: toPage, post: cancel(context) },
    '/:id/:transaction_id': { get: show },
  };
  for (const [path, { get, post }] of Object.entries(routes)) {
    const route = router.route(path).get(get);
    if (post !== undefined) route.post(post);
    route.all(otherMethods(post === undefined ? ['get'] : ['get', 'post']));
  }
  router.use(() => {
    throw notFound();
  });
  return router;
}
