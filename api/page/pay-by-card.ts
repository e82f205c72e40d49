import type { RequestHandler } from 'express';
import type { OrderView } from '../../src/db/order-view';
import { ERRORS, ServiceError } from '../../src/errors';
import type { VaultedCard } from '../../src/processor/wire';
import type { SubmitPaymentInput } from '../../workflows/messages';
import { transactionId } from '../../src/ids';
import { notAfter } from '../orders';
import { announced } from './announced';
import { readAttempt, readCard, refusalOf, type FieldErrors } from './card-form';
import type { Doors } from './doors';
import { CREDIT_CARD, paysByCard } from './methods';
import { readerOf } from './reader';
import { stepOf } from './step';

/**
 * Takes the card form (DECISIONS, Hosted page): the card goes to the processor's vault and only its token goes on. A form
 * of an attempt that has been made already charges nothing: it shows what became of that. Answers within `deadline_ms`.
 */
export function payByCard({ services, orderOf, requireOurForm, show, testCards }: Doors): RequestHandler {
  const { orders, processor, deadline_ms } = services;
  return async (request, response) => {
    const deadline_at = Date.now() + deadline_ms;
    requireOurForm(request);
    const order = await orderOf(request);
    const step = stepOf(order, Date.now());
    const attempt = readAttempt(request.body);
    if (step.kind !== 'pay' || step.attempt !== attempt || !paysByCard(order)) return await show(request, response, order, { after_form: true });

    const { errors: words } = readerOf(request, order).texts;
    const testNumbers = order.is_test ? (await testCards()).map(({ number }) => number) : [];
    const read = readCard(request.body, words, testNumbers);
    const again = (errors: FieldErrors, cardholder_name: string) => show(request, response, order, { status: 400, after_form: true, errors, cardholder_name });
    if (!('card' in read)) return await again(read.errors, read.cardholder_name);
    const { card } = read;

    try {
      const vaulted = await processor.vaultCard({ project_id: order.project_id, is_test: order.is_test, ...card });
      if (!vaulted.usable) return await again(refusalOf(vaulted.field, words), card.cardholder_name);
      const { usable: _, ...token } = vaulted;
      const after = await orders.pay(order.id, paymentOf(order, attempt, token, deadline_at), deadline_at);
      await show(request, response, after, { after_form: true, late: isUnanswered(after, attempt) });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      // The order moved meanwhile, or nothing could be done: in both cases the record says what to show.
      const after = await orderOf(request);
      if (!isUnanswered(after, attempt)) return await show(request, response, after, { after_form: true });
      const status = ERRORS[error.error].status;
      await show(request, response, after, { status: status >= 500 ? status : 503, after_form: true, trouble: 'try_again', cardholder_name: card.cardholder_name });
    }
  };
}

/** Whether the record shows nothing of this attempt being made yet. */
function isUnanswered(order: OrderView, attempt: number): boolean {
  const step = stepOf(order, Date.now());
  return step.kind === 'pay' && step.attempt === attempt;
}

function paymentOf(order: OrderView, attempt: number, { brand, ...card }: VaultedCard, deadline_at: number): SubmitPaymentInput {
  const { fields, payment_method_details } = announced(order);
  return {
    project_id: order.project_id,
    is_test: order.is_test,
    transaction: {
      ...fields,
      id: transactionId(order.id, attempt),
      attempt,
      payment_method: CREDIT_CARD,
      payment_method_brand: brand,
      payment_method_details: { ...payment_method_details, ...card },
    },
    not_after: notAfter(deadline_at),
  };
}
