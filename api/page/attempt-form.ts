import type { Request, RequestHandler, Response } from 'express';
import type { OrderView } from '../../src/db/order-view';
import { ERRORS, ServiceError, invalid } from '../../src/errors';
import { readAttempt, readName } from './card-form';
import { methodsOf, type PageMethod } from './methods';
import type { PageContext } from './page-context';
import { stepOf } from './step';

/** A form that pays the current attempt of its order, by a method the order offers. */
export interface AttemptForm<Method extends PageMethod = PageMethod> {
  request: Request;
  response: Response;
  order: OrderView;
  attempt: number;
  payment_method: Method;
  /** When the answer is due, epoch milliseconds. */
  deadline_at: number;
}

/**
 * Handles a form that pays, whatever its method (rules 12.4). A form for an attempt that was already made, or for a
 * method the order does not offer, charges nothing: it shows the order's state, and tells a program why. Answers within
 * `deadline_ms`.
 * `pay` returns the order after the charge, or nothing when it has shown the page itself.
 */
export function takeAttempt<Method extends PageMethod>(
  { services, orderOf, requireOurForm, show }: PageContext,
  methodIn: (body: unknown) => Method | undefined,
  pay: (form: AttemptForm<Method>) => Promise<OrderView | undefined>,
): RequestHandler {
  return async (request, response) => {
    const deadline_at = Date.now() + services.deadline_ms;
    requireOurForm(request);
    const order = await orderOf(request);
    const form = readForm(order, readAttempt(request.body), methodIn(request.body));
    if (form instanceof ServiceError) return await show(request, response, order, { after_form: true, refused: form });
    const { attempt } = form;
    let paid: OrderView | undefined;
    try {
      paid = await pay({ request, response, order, ...form, deadline_at });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      // The order moved meanwhile, or nothing could be done: the record tells what to show.
      const after = await orderOf(request);
      if (!isUnanswered(after, attempt)) {
        return await show(request, response, after, { after_form: true, refused: alreadyStarted() });
      }
      const status = ERRORS[error.error].status;
      return await show(request, response, after, {
        status: status >= 500 ? status : 503,
        after_form: true,
        refused: error,
        trouble: 'try_again',
        cardholder_name: readName(request.body),
      });
    }
    if (paid === undefined) return;
    const late = isUnanswered(paid, attempt);
    await show(request, response, paid, { after_form: true, late, refused: late ? unheard() : undefined });
  };
}

/** The form's attempt and method, when they are current; otherwise why it charges nothing. */
function readForm<Method extends PageMethod>(
  order: OrderView,
  attempt: number | undefined,
  payment_method: Method | undefined,
): { attempt: number; payment_method: Method } | ServiceError {
  const step = stepOf(order, Date.now());
  if (attempt === undefined) return invalid('attempt', 'Not the number that a form of the page holds.');
  if (step.kind !== 'pay' || attempt < step.attempt) return alreadyStarted();
  if (attempt > step.attempt) return invalid('attempt', `The present attempt is ${step.attempt}.`);
  if (payment_method === undefined || !methodsOf(order).includes(payment_method)) {
    return invalid('payment_method', 'The order does not offer this method.');
  }
  return { attempt, payment_method };
}

/** The attempt was made before, by this form or another, or the order has ended. */
function alreadyStarted(): ServiceError {
  return new ServiceError(
    'TransactionAlreadyStarted',
    'This payment attempt has started already, or the order cannot be paid any more.',
  );
}

function unheard(): ServiceError {
  return new ServiceError(
    'ServiceUnavailable',
    'Nothing is known of this payment yet; the same form sent again pays once.',
  );
}

/** Whether the record does not show this attempt yet. */
function isUnanswered(order: OrderView, attempt: number): boolean {
  const step = stepOf(order, Date.now());
  return step.kind === 'pay' && step.attempt === attempt;
}
