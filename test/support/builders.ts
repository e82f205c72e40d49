import { randomUUID } from 'node:crypto';
import { v5 as uuidv5, v7 as uuidv7 } from 'uuid';
import type { Database } from '../../src/db/connection';
import { insertOrder } from '../../src/db/orders/insert-order';
import type { ApiRequest } from '../../src/domain/api-request';
import type { OrderRecord } from '../../src/domain/order-record';
import type { NewOrder, NewTransaction } from '../../src/domain/new-order';
import type { CreateOrderInput } from '../../workflows/messages';
import { PROJECT } from './database';

/** An instant of workflow time that tells itself from the clock of the machine. */
export const NOW = Date.UTC(2030, 0, 15, 12);

export const MINUTE = 60_000;

export const transactionIdOf = (order_id: string, attempt: number) => uuidv5(`transaction:${attempt}`, order_id);

/** A request with an Idempotency-Key; one that has to begin before an instant has none. */
export const aRequest = (over: Partial<ApiRequest> = {}): ApiRequest => ({
  request_id: randomUUID(),
  deadline_at: Date.now() + 30_000,
  has_idempotency_key: over.begin_before === undefined,
  is_repeat: false,
  first_received_at: Date.now(),
  ...over,
});

/** A request without an Idempotency-Key whose answer says already that nothing was done. */
export const aLateRequest = () => aRequest({ begin_before: Date.now() - 1 });

/** An order that came with a card token. */
export const BY_TOKEN = { attempts_max: 1, charged_by: 'token' } as const;

export const anOrder = (over: Partial<NewOrder> = {}): NewOrder => ({
  id: uuidv7(),
  project_id: PROJECT.id,
  currency: 'EUR',
  amount: 500,
  expiration_period: 'PT30M',
  attempts_max: 5,
  charged_by: 'customer',
  ...over,
});

export const aTransaction = (order_id: string, over: Partial<NewTransaction> = {}): NewTransaction => ({
  id: transactionIdOf(order_id, over.attempt ?? 1),
  attempt: 1,
  payment_method: 'credit-card',
  expiration_period: 'PT30M',
  ...over,
});

/** Writes an order that ends half an hour after NOW, with one transaction unless told otherwise. */
export async function aStoredOrder(
  db: Database,
  over: Partial<NewOrder> & { transaction?: Partial<NewTransaction> | false } = {},
): Promise<OrderRecord> {
  const { transaction = {}, ...fields } = over;
  const order = anOrder(fields);
  const end = NOW + 30 * MINUTE;
  return await insertOrder(db, order, transaction === false ? undefined : aTransaction(order.id, transaction), {
    created: NOW,
    expires_at: end,
    transaction_expires_at: end,
    request: aRequest(),
  });
}

/** What the API asks for: an order that is charged at once with this token. */
export function aCharge(
  vault_token: string,
  over: Partial<CreateOrderInput> = {},
): CreateOrderInput & { transaction: NonNullable<CreateOrderInput['transaction']> } {
  const order = anOrder(BY_TOKEN);
  const details = { vault_token, truncated_pan: '411111******1111' };
  return {
    request: aRequest(),
    order,
    period: 30 * MINUTE,
    is_test: true,
    ...over,
    transaction: {
      ...aTransaction(order.id),
      payment_method_details: details,
      payment_method_brand: 'visa',
      period: 30 * MINUTE,
    },
  };
}
