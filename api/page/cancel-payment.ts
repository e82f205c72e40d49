import type { RequestHandler } from 'express';
import { ServiceError } from '../../src/errors';
import type { PageContext } from './page-context';
import { stepOf } from './step';

/** Handles the cancel form. A second click, or a late one, shows how the order ended. */
export function cancelPayment({ services, orderOf, requireOurForm, show }: PageContext): RequestHandler {
  const { orders, deadline_ms } = services;
  return async (request, response) => {
    const deadline_at = Date.now() + deadline_ms;
    requireOurForm(request);
    const order = await orderOf(request);
    const step = stepOf(order, Date.now());
    if (step.kind === 'ended') return await show(request, response, order, { after_form: true });
    if (step.kind === 'wait' && !step.may_cancel) {
      return await show(request, response, order, {
        after_form: true,
        refused: new ServiceError('CanNotCancelTransaction', 'The outcome of the payment is awaited.'),
      });
    }
    let refused: ServiceError | undefined;
    try {
      await orders.cancel(order.id, { source: 'customer' }, deadline_at);
    } catch (error) {
      // The order is being paid or has ended meanwhile: the record says which.
      if (!(error instanceof ServiceError)) throw error;
      refused = error;
    }
    const after = await orderOf(request);
    const unchanged = stepOf(after, Date.now()).kind === 'pay';
    await show(request, response, after, {
      after_form: true,
      refused,
      ...(unchanged ? { status: 503, trouble: 'not_cancelled' } : {}),
    });
  };
}
