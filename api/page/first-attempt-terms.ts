import type { OrderView } from '../../src/db/order-view';
import { paymentPeriod } from '../../src/domain/payment-period';

/** What the merchant specified for the first attempt; it applies to every later one (rules 6.4). */
export function firstAttemptTerms({ transactions: [first], transaction_expiration_period }: OrderView) {
  const { capture_mode, capture_period, transaction_type, receiver_account_token, payment_method_details } =
    first ?? {};
  const { receiver_account_number, receiver_account_number_type } = payment_method_details ?? {};
  return {
    fields: {
      ...paymentPeriod(first ?? {}, transaction_expiration_period),
      capture_mode: capture_mode ?? undefined,
      capture_period: capture_period ?? undefined,
      transaction_type:
        transaction_type === 'authorization' || transaction_type === 'aft' ? transaction_type : undefined,
      receiver_account_token: receiver_account_token ?? undefined,
    },
    /** Account funding: the receiver, shown beside the card. */
    payment_method_details:
      receiver_account_number === undefined ? {} : { receiver_account_number, receiver_account_number_type },
  };
}
