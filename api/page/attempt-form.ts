import type { Request, RequestHandler, Response } from 'express';
import type { OrderView } from '../../src/db/order-view';
import { ERRORS, ServiceError } from '../../src/errors';
import { readAttempt, readName } from './card-form';
import type { Doors } from './doors';
import { methodsOf, type PageMethod } from './methods';
import { stepOf } from './step';

/** A form that pays the present attempt of its order by a method the order offers. */
export interface AttemptForm<Method extends PageMethod = PageMethod> {
  request: Request;
  response: Response;
  order: OrderView;
  attempt: number;
  payment_method: Method;
  /** Until when it is answered, epoch milliseconds. */
  deadline_at: number;
}

/**
 * Takes a form that pays, whatever its method (DECISIONS, Hosted page). A form of an attempt that has been made already, or of
 * a method the order does not offer, charges nothing: it shows what became of the order. Answers within `deadline_ms`.
 * `pay` answers the order after the charge, or nothing when it has shown the page itself.
 */
export function takeAttempt<Method extends PageMethod>(
  { services, orderOf, requireOurForm, show }: Doors,
  methodIn: (body: unknown) => Method | undefined,
  pay: (form: AttemptForm<Method>) => Promise<OrderView | undefined>,
): RequestHandler {
  return async (request, response) => {
    const deadline_at = Date.now() + services.deadline_ms;
    requireOurForm(request);
    const order = await orderOf(request);
    const step = stepOf(order, Date.now());
    const attempt = readAttempt(request.body);
    const payment_method = methodIn(request.body);
    const is_offered = payment_method !== undefined && methodsOf(order).includes(payment_method);
    if (step.kind !== 'pay' || step.attempt !== attempt || !is_offered) return await show(request, response, order, { after_form: true });
    try {
      const after = await pay({ request, response, order, attempt, payment_method, deadline_at });
      if (after !== undefined) await show(request, response, after, { after_form: true, late: isUnanswered(after, attempt) });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      // The order moved meanwhile, or nothing could be done: in both cases the record says what to show.
      const after = await orderOf(request);
      if (!isUnanswered(after, attempt)) return await show(request, response, after, { after_form: true });
      const status = ERRORS[error.error].status;
      await show(request, response, after, { status: status >= 500 ? status : 503, after_form: true, trouble: 'try_again', cardholder_name: readName(request.body) });
    }
  };
}

/** Whether the record shows nothing of this attempt being made yet. */
function isUnanswered(order: OrderView, attempt: number): boolean {
  const step = stepOf(order, Date.now());
  return step.kind === 'pay' && step.attempt === attempt;
}
