import express, { Router, type Request, type RequestHandler } from 'express';
import { idInput } from '../../src/contract/scalars';
import type { Database } from '../../src/db/query';
import { PAGES } from '../../src/domain/page-paths';
import type { Logger } from '../../src/log';
import type { Processor } from '../../src/processor/client';
import type { OrderWorkflows } from '../../src/temporal/orders';
import type { ProcessorNotifications } from '../../src/temporal/processor-notifications';
import { otherMethods } from '../http/bind';
import type { Rate } from '../http/rate-limit';
import { noteRequest } from '../http/answered-request';
import type { Intake } from '../http/intake';
import { FORM_FIELDS_MAX } from '../http/errors';
import { assets } from './assets';
import { createCsrfProtection } from './csrf';
import { cancel, pageNotFound, payByCard, payByWallet, showPage, type PageContext } from './handlers';
import { pageHeaders } from './headers';
import { limitByAddress, limitForms } from './limits';
import { orderPayables } from './order';
import type { Payable, Payables } from './payable';
import { linkPayables } from './payment-link';
import { showQrCode } from './qr-code';
import { createRespond, onPageError } from './respond';
import { createTestCards } from './test-cards';

/** Far more than the card form needs. */
const FORM_BYTES_MAX = '8kb';

/** How much customers may send; `undefined`: without limit. */
export interface PageRates {
  /** Requests of one client address. */
  page: Rate;
  /** Forms for one order, and for one payment link. */
  order_form: Rate;
  link_form: Rate;
}

/** External services and settings that the pages use. */
export interface PageServices {
  db: Database;
  orders: OrderWorkflows;
  processor_notifications: Pick<ProcessorNotifications, 'customerReturned'>;
  processor: Processor;
  /** Address at which customers reach the pages, without a slash at its end. */
  public_url: string;
  /** Signs the forms; the same on every api process. */
  page_secrets: string[];
  /** Milliseconds until a form is answered, with the outcome or without. */
  deadline_ms: number;
  log: Logger;
  rates: PageRates | undefined;
  intake: Pick<Intake, 'requireOpen'>;
}

/**
 * The hosted pages: pay by card or wallet, cancel, and see how it ended. Plain forms; nothing needs a script
 * (rules 12.2).
 */
export function createPages(services: PageServices): Router {
  const { processor, public_url, deadline_ms, log, rates, intake } = services;
  const base = new URL(public_url).pathname.replace(/\/+$/, '');
  const csrf = createCsrfProtection(services);
  const testCards = createTestCards(processor, log);
  const respond = createRespond({ csrf, base, testCards });
  const shared = { processor, deadline_ms, csrf, intake, testCards, respond };
  const note: RequestHandler = ({ baseUrl }, response, next) => {
    noteRequest(response, { operation: `page ${baseUrl}` });
    next();
  };
  const refuseForms: RequestHandler = ({ method }, _response, next) => {
    if (method === 'POST') intake.requireOpen();
    next();
  };
  const before = [
    note,
    ...pageHeaders,
    ...(rates ? [limitByAddress(rates.page)] : []),
    csrf.cookies,
    express.urlencoded({ extended: false, limit: FORM_BYTES_MAX, parameterLimit: FORM_FIELDS_MAX }),
    refuseForms,
  ];
  const add = <P extends Payable>(
    path: string,
    payables: Payables<P>,
    rate: Rate | undefined,
    more: (context: PageContext<P>) => Routes,
  ) => {
    const context = { ...shared, payables, limitForms: rate ? limitForms(rate) : () => {} };
    router.use(path, ...before, pagesOf({ ...routesOf(context, base), ...more(context) }), onPageError(log, base));
  };

  const router = Router({ caseSensitive: true });
  router.use(assets());
  add(PAGES.order, orderPayables(services), rates?.order_form, (context) => ({
    '/:id/:transaction_id': { get: showPage(context) },
  }));
  add(PAGES.payment_link, linkPayables(services), rates?.link_form, (context) => ({
    '/:id/qr.svg': { get: showQrCode(context, public_url) },
  }));
  return router;
}

type Routes = Record<string, { get: RequestHandler; post?: RequestHandler }>;

/** The addresses that each kind of payable has. */
function routesOf<P extends Payable>(context: PageContext<P>, base: string): Routes {
  // A customer who loads a form's address again is sent to the page.
  const toPage: RequestHandler = ({ baseUrl, params }: Request, response) =>
    response.redirect(303, `${base}${baseUrl}/${String(params['id'])}/`);
  return {
    '/:id': { get: showPage(context), post: payByCard(context) },
    '/:id/wallet': { get: toPage, post: payByWallet(context) },
    '/:id/cancel': { get: toPage, post: cancel(context) },
  };
}

function pagesOf(routes: Routes): Router {
  const router = Router({ caseSensitive: true });
  // Ids reach handlers, cookies and redirects checked and in small letters (rules 12.13).
  for (const name of ['id', 'transaction_id']) {
    router.param(name, (request, response, next, value: string) => {
      const id = idInput().safeParse(value);
      if (!id.success) throw pageNotFound();
      request.params[name] = id.data;
      noteRequest(response, { [name === 'id' ? 'object_id' : name]: id.data });
      next();
    });
  }
  for (const [path, { get, post }] of Object.entries(routes)) {
    const route = router.route(path).get(get);
    if (post !== undefined) route.post(post);
    route.all(otherMethods(post === undefined ? ['get'] : ['get', 'post']));
  }
  router.use(() => {
    throw pageNotFound();
  });
  return router;
}
