import type { Request, Response } from 'express';
import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { OrderView } from '../../src/db/order-view';
import type { ServiceError } from '../../src/errors';
import type { TestCard } from '../../src/processor/wire';
import type { FieldErrors } from './card-form';
import type { CsrfProtection } from './csrf';
import { setPolicy } from './headers';
import { methodsOf } from './methods';
import { prefersJson, readerOf } from './reader';
import { returnAddress, returnSources } from './return-address';
import { stepOf } from './step';
import { prefill, type Prefilled } from './test-cards';
import { PayPage, type Trouble } from './views/pay-page';
import { ResultPage } from './views/result-page';
import { WaitingPage } from './views/waiting-page';

/** How the request changes what is shown of the order. */
export interface Extras {
  /** HTTP status of the page; 200 when absent. */
  status?: number;
  /** This answers a form: the customer goes on to the merchant once the order has ended, and a reload must not send the form again. */
  after_form?: boolean;
  /** Why the form was not carried out: the answer to a program, where a person sees the page. */
  refused?: ServiceError | undefined;
  errors?: FieldErrors;
  trouble?: Trouble;
  cardholder_name?: string;
  /** A charge was sent and nothing is known of it yet. */
  late?: boolean;
  /** The customer comes back from the issuer, and may not have finished there. */
  from_issuer?: boolean;
}

/** Answers a request with the order as it is now. Throws `refused` for a program. */
export type Show = (request: Request, response: Response, order: OrderView, extras?: Extras) => Promise<void>;

interface Dependencies {
  csrf: CsrfProtection;
  /** Path below which the service is reached, without a slash at its end. */
  base: string;
  testCards: () => Promise<readonly TestCard[]>;
}

/**
 * Shows an order as it is now: the form, a waiting page, the result, or the way back to the merchant. A program that sent a form
 * gets no page: it is redirected, or gets `refused` thrown.
 */
export function createShow({ csrf, base, testCards }: Dependencies): Show {
  return async (request, response, order, extras = {}) => {
    const now = Date.now();
    const step = stepOf(order, now);
    const page = `${base}/pay/${order.id}/`;
    const frame = {
      reader: readerOf(request, order),
      base,
      is_test: order.is_test,
      home: extras.after_form ? page : undefined,
    };
    const waited = waitedOf(request);
    const token = () => csrf.token(request, response, order.id);
    const back = step.kind === 'ended' ? returnAddress(order, step.as) : undefined;
    if (extras.after_form && prefersJson(request)) {
      if (extras.refused !== undefined) throw extras.refused;
      response.redirect(303, back ?? page);
      return;
    }
    if (back !== undefined && (extras.after_form || waited !== undefined)) {
      response.redirect(303, back);
      return;
    }
    setPolicy(response, returnSources(order));
    const refresh = refreshOf(page, waited ?? 0);
    if (extras.late) {
      send(
        response,
        503,
        <WaitingPage
          {...frame}
          {...{ order, page, refresh }}
          challenge_url={undefined}
          wait_for="late"
          token={undefined}
        />,
      );
    } else if (step.kind === 'wait') {
      // The first time the customer is taken to the issuer: by the page, as a redirect after a form may only lead to known places.
      const ask_issuer = step.challenge_url !== undefined && !extras.from_issuer && waited === undefined;
      const go = ask_issuer && step.challenge_url !== undefined ? { seconds: 0, address: step.challenge_url } : refresh;
      send(
        response,
        200,
        <WaitingPage
          {...frame}
          {...{ order, page }}
          refresh={go}
          challenge_url={step.challenge_url}
          wait_for={step.for}
          token={step.may_cancel ? token() : undefined}
        />,
      );
    } else if (step.kind === 'ended') {
      send(response, 200, <ResultPage {...frame} {...{ order, step, back }} />);
    } else {
      const test_cards = order.is_test ? await testCards() : [];
      const values = { ...nameOf(extras), ...chosen(request, test_cards, frame.reader.texts.test_name, now) };
      const { errors = {}, trouble, status = 200 } = extras;
      const methods = methodsOf(order);
      send(
        response,
        status,
        <PayPage
          {...frame}
          {...{ order, step, page, methods, now, errors, trouble, values, test_cards }}
          token={token()}
        />,
      );
    }
  };
}

/** Sends a page. */
export function send(response: Response, status: number, page: VNode): void {
  response
    .status(status)
    .type('html')
    .send(`<!doctype html>${renderToString(page)}`);
}

/** How often a waiting page has reloaded already; `undefined` when the request is not such a reload. */
function waitedOf(request: Request): number | undefined {
  const waited = Number(request.method === 'GET' ? request.query['waited'] : undefined);
  return Number.isInteger(waited) ? Math.min(Math.max(waited, 0), 1_000) : undefined;
}

/** Often at first, as most answers come soon; at last every ten seconds. */
function refreshOf(page: string, waited: number): { seconds: number; address: string } {
  return { seconds: Math.min(2 + Math.floor(waited / 5), 10), address: `${page}?waited=${waited + 1}` };
}

function chosen(
  request: Request,
  cards: readonly TestCard[],
  cardholder_name: string,
  now: number,
): Partial<Prefilled> {
  const card = request.method === 'GET' ? cards.find(({ name }) => name === request.query['card']) : undefined;
  return card === undefined ? {} : prefill(card, cardholder_name, now);
}

function nameOf({ cardholder_name }: Extras): Partial<Prefilled> {
  return cardholder_name === undefined ? {} : { cardholder_name };
}
