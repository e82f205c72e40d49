import { transactionId } from '../../src/ids';
import type { VaultedCard } from '../../src/processor/wire';
import { notAfter } from '../../src/temporal/call';
import type { SubmitPaymentInput } from '../../workflows/messages';
import type { AttemptForm } from './attempt-form';
import { firstAttemptTerms } from './first-attempt-terms';

/** The charge that a form asks for, with a card of the processor's vault. */
export function paymentOf(
  { order, attempt, payment_method, deadline_at }: AttemptForm,
  { brand, ...card }: VaultedCard,
): SubmitPaymentInput {
  const { fields, payment_method_details } = firstAttemptTerms(order);
  return {
    project_id: order.project_id,
    is_test: order.is_test,
    transaction: {
      ...fields,
      id: transactionId(order.id, attempt),
      attempt,
      payment_method,
      payment_method_brand: brand,
      payment_method_details: { ...payment_method_details, ...card },
    },
    not_after: notAfter(deadline_at),
  };
}
