import { Merchant } from '../../test/support/merchant';
import { createAuthorization, payingTransactionId } from '../../test/support/merchant-payments';
import type { RunningStack } from '../../test/support/stack';

/** Payments that can be captured, voided and refunded, and the token of a card, for requests that need them. */
export async function makePayments(stack: RunningStack, count: number) {
  const merchant = new Merchant(stack);
  const payments = [];
  for (let n = 0; n < count; n += 1) {
    const order = n % 3 === 2 ? await merchant.paidOrder('approved') : await createAuthorization(merchant);
    payments.push({ order_id: order.id, transaction_id: payingTransactionId(order) });
  }
  const { payment_method_details } = await merchant.cardTransaction('approved');
  return { payments, vault_token: payment_method_details.vault_token };
}
