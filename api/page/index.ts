import express, { Router, type RequestHandler } from 'express';
import { idParam } from '../../src/contract/scalars';
import { findOrderView } from '../../src/db/order-view';
import { ServiceError } from '../../src/errors';
import { otherMethods } from '../http/bind';
import { assets } from './assets';
import { cancelPayment } from './cancel-payment';
import { createCsrfProtection } from './csrf';
import { pageHeaders } from './headers';
import { onPageError } from './on-error';
import { openPage } from './open-page';
import type { PageContext, PageServices } from './page-context';
import { payByCard } from './pay-by-card';
import { payByWallet } from './pay-by-wallet';
import { createShow } from './show';
import { createTestCards } from './test-cards';

/** Far more than the card form needs. */
const FORM_BYTES_MAX = '8kb';
const FORM_FIELDS_MAX = 20;

/** The hosted page: pay by card or wallet, cancel, and see how it ended. Plain forms; nothing needs a script (rules 12.2). */
export function createPages(services: PageServices): Router {
  const base = new URL(services.public_url).pathname.replace(/\/+$/, '');
  const csrf = createCsrfProtection(services);
  const testCards = createTestCards(services.processor, services.log);
  const context: PageContext = {
    services,
    testCards,
    show: createShow({ csrf, base, testCards }),
    async orderOf(request) {
      const order_id = idParam().safeParse(request.params['order_id']);
      const order = order_id.success ? await findOrderView(services.db, order_id.data) : undefined;
      // Customers do not pay follow-up orders.
      if (order?.kind !== 'payment') throw notFound();
      return order;
    },
    requireOurForm(request) {
      if (!csrf.isValid(request)) {
        throw new ServiceError('Forbidden', 'The form does not come from a page of this service.');
      }
    },
  };
  const open = openPage(context);
  // A customer who loads a form's address again is sent to the order's page.
  const home: RequestHandler = (request, response) =>
    response.redirect(303, `${base}/pay/${String(request.params['order_id'])}/`);

  const router = Router({ caseSensitive: true });
  router.use(assets());
  router.use(
    '/pay',
    ...pageHeaders,
    csrf.cookies,
    express.urlencoded({ extended: false, limit: FORM_BYTES_MAX, parameterLimit: FORM_FIELDS_MAX }),
  );
  router
    .route('/pay/:order_id')
    .get(open)
    .post(payByCard(context))
    .all(otherMethods(['get', 'post']));
  router
    .route('/pay/:order_id/wallet')
    .get(home)
    .post(payByWallet(context))
    .all(otherMethods(['get', 'post']));
  router
    .route('/pay/:order_id/cancel')
    .get(home)
    .post(cancelPayment(context))
    .all(otherMethods(['get', 'post']));
  router
    .route('/pay/:order_id/:transaction_id')
    .get(open)
    .all(otherMethods(['get']));
  router.use('/pay', () => {
    throw notFound();
  });
  router.use('/pay', onPageError(services.log, base));
  return router;
}

function notFound(): ServiceError {
  return new ServiceError('NotFound', 'There is no payment at this address.');
}
