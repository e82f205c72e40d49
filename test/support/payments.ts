import { v7 as uuidv7 } from 'uuid';
import { queryRows, type Database } from '../../src/db/connection';
import { insertFollowUp, recordFollowUpOutcome } from '../../src/db/orders/follow-ups';
import { moveOrder } from '../../src/db/orders/move-order';
import type { FollowUpKind, FollowUpRequest, NewFollowUp, RequestedBy } from '../../src/domain/follow-up';
import type { OrderRecord } from '../../src/domain/order-record';
import { transactionId } from '../../src/ids';
import { NOW, aStoredOrder } from './builders';

/** Milliseconds from NOW to the end of the capture window of anAcceptedPayment. */
const CAPTURE_PERIOD = 5 * 24 * 60 * 60_000;
export const CAPTURE_END = NOW + CAPTURE_PERIOD;

export type PaymentMode = 'sale' | 'manual' | 'delayed';

/**
 * A payment that was approved at NOW: a sale captured whole, or an authorization that holds all of it for five days.
 */
export async function anAcceptedPayment(
  db: Database,
  { mode = 'sale', amount = 100 }: { mode?: PaymentMode; amount?: number } = {},
): Promise<OrderRecord> {
  const sale = mode === 'sale';
  const details = {
    vault_token: 'tok',
    truncated_pan: '411111******1111',
    receiver_account_number: '411111******1111',
    receiver_account_number_type: 'card-account',
  };
  const order = await aStoredOrder(db, {
    amount,
    merchant_order_id: 'A-1',
    description: 'Two tickets',
    webhook_url: 'https://shop.example/orders',
    customer: { first_name: 'Ada' },
    extra: { a: 1 },
    transaction: {
      payment_method_brand: 'visa',
      payment_method_details: details,
      ...(!sale && { capture_mode: mode, capture_period: 'P5D', transaction_type: 'authorization' }),
    },
  });
  const { id: transaction_id } = order.transactions[0]!;
  return await moveOrder(
    db,
    order,
    { transaction_id, to: 'accepted', ...(!sale && { capture_ends_at: CAPTURE_END }) },
    { source: 'processor', now: NOW, result: 'approved', transaction: { captured_amount: sale ? amount : 0 } },
  );
}

export const paymentOf = (order: OrderRecord) => ({
  original_order_id: order.id,
  original_transaction_id: order.transactions[0]!.id,
});

const ASKED_BY: Record<FollowUpKind, RequestedBy> = {
  capture: 'merchant',
  void: 'merchant',
  refund: 'merchant',
  chargeback: 'processor',
  reversal: 'processor',
};

export function aFollowUp(
  payment: OrderRecord,
  request: Partial<NewFollowUp> & Pick<FollowUpRequest, 'kind'>,
): NewFollowUp {
  const id = request.id ?? uuidv7();
  return {
    ...paymentOf(payment),
    id,
    transaction_id: transactionId(id, 1),
    requested_by: ASKED_BY[request.kind],
    now: NOW,
    ...request,
  };
}

/** What the processor answered; `processing`: nothing yet. */
export type ProcessorAnswer = 'approved' | 'refused' | 'processing';
const MOVES = { approved: 'accepted', refused: 'error', processing: 'processing' } as const;

/**
 * Writes what became of a follow-up order, as its workflow does. `asked`: the order as it was when it was asked for.
 */
export async function answerFollowUp(
  db: Database,
  follow_up: NewFollowUp,
  asked: OrderRecord,
  answer: ProcessorAnswer,
  now = NOW,
): Promise<OrderRecord> {
  const details =
    answer === 'processing'
      ? { source: 'service' as const, now }
      : {
          source: 'processor' as const,
          now,
          result: answer === 'approved' ? ('approved' as const) : ('failed' as const),
        };
  return await recordFollowUpOutcome(db, asked, { ...follow_up, amount: asked.amount }, MOVES[answer], details);
}

/** Asks and answers at once. */
export async function aSettledFollowUp(
  db: Database,
  payment: OrderRecord,
  request: Partial<NewFollowUp> & Pick<FollowUpRequest, 'kind'>,
  answer: ProcessorAnswer = 'approved',
): Promise<OrderRecord> {
  const follow_up = aFollowUp(payment, request);
  return await answerFollowUp(db, follow_up, await insertFollowUp(db, follow_up), answer, follow_up.now);
}

/** Every row of a payment and of what follows it: what a repeat or a refusal must leave as it is. */
export async function everythingOf(db: Database, { id: order_id }: OrderRecord): Promise<unknown> {
  return await queryRows(
    db,
    `with o as (select * from orders where :order_id in (id, related_order_id)), t as (select t.* from transactions t join o on o.id = t.order_id)
     select (select json_agg(o order by id) from o) as orders, (select json_agg(t order by id) from t) as transactions,
       (select json_agg(e order by e.id) from transaction_events e join t on t.id = e.transaction_id) as events,
       (select json_agg(d order by d.order_id, d.n) from webhook_deliveries d join o on o.id = d.order_id) as deliveries`,
    { order_id },
  );
}
