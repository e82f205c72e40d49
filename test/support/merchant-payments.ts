import type { Order } from '../../src/contract/order';
import type { CardName } from './domain';
import { newIdempotencyKey, type RestAnswer, type Merchant, type RefusalName } from './merchant';
import { postControl } from './stack';
import { sendUntilAnswered, until } from './waits';

/** What a merchant asks of a payment: captures, voids and refunds, and what becomes of them. */

export type OrderAnswer = RestAnswer<Order & { error: RefusalName }>;
export type Sent = { headers?: Record<string, string>; slash?: boolean };

const post = (
  merchant: Merchant,
  path: string,
  body: unknown,
  { headers, slash = true }: Sent = {},
): Promise<OrderAnswer> =>
  merchant.send('POST', slash ? path : path.slice(0, -1), {
    ...(body === undefined ? {} : { body }),
    ...(headers && { headers }),
  });

type Payment = { id: string; transactions?: { id: string }[] | undefined };
/** The transaction that pays: the last attempt. */
export const payingTransactionId = (order: Payment) => order.transactions!.at(-1)!.id;
const transactionPath = (order: Payment, what: string) =>
  `/v1/orders/${order.id}/transactions/${payingTransactionId(order)}/${what}/`;

export const refund = (merchant: Merchant, order: { id: string }, body: unknown, sent?: Sent) =>
  post(merchant, `/v1/orders/${order.id}/refunds/`, body, sent);
/** All that is left; `capturePart` and `voidPart`: a part. */
export const capture = (merchant: Merchant, order: Payment, sent?: Sent, body?: unknown) =>
  post(merchant, transactionPath(order, 'captures'), body, sent);
export const capturePart = (merchant: Merchant, order: Payment, body: unknown, sent?: Sent) =>
  post(merchant, transactionPath(order, 'captures/amount'), body, sent);
export const voidAll = (merchant: Merchant, order: Payment, sent?: Sent, body?: unknown) =>
  post(merchant, transactionPath(order, 'voids'), body, sent);
export const voidPart = (merchant: Merchant, order: Payment, body: unknown, sent?: Sent) =>
  post(merchant, transactionPath(order, 'voids/amount'), body, sent);

/** What a part is asked for with. */
export const part = (amount: number) => ({ amount, description: `a part of ${amount}` });

/** What came too late for an answer is sent again: with its key, or without one, as nothing was stored then. */
export const sendOperationUntilAnswered = <Body>(send: () => Promise<RestAnswer<Body>>): Promise<RestAnswer<Body>> =>
  sendUntilAnswered<Body>(send);

/**
 * An order whose amount is reserved on a test card, by what the processor says; `fields` are the order's, `transaction`
 * the transaction's.
 */
export async function createAuthorization(
  merchant: Merchant,
  {
    card = 'approved',
    transaction = {},
    ...fields
  }: { card?: CardName; transaction?: Record<string, unknown> } & Record<string, unknown> = {},
): Promise<Order> {
  const headers = { 'idempotency-key': newIdempotencyKey() };
  const vaulted = 'payment_method' in transaction ? {} : await merchant.cardTransaction(card);
  const request = {
    currency: 'EUR',
    amount: 1_000,
    ...fields,
    transactions: [{ ...vaulted, capture_mode: 'manual', ...transaction }],
  };
  const { body, status } = await sendOperationUntilAnswered(() =>
    merchant.send<Order>('POST', '/v1/orders/', { body: request, headers }),
  );
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return await merchant.untilOutcomeKnown(body);
}

/** The whole order as it is now, amount_details included. */
export async function getWholeOrder(merchant: Merchant, { id }: { id: string }): Promise<Order> {
  return (
    await sendOperationUntilAnswered(() => merchant.send<Order>('GET', `/v1/orders/${id}/?fields[]=amount_details`))
  ).body;
}
export const amountDetailsOf = async (merchant: Merchant, order: { id: string }) =>
  (await getWholeOrder(merchant, order)).amount_details!;
/** The order's ETag. */
export const etagOfOrder = async (merchant: Merchant, { id }: { id: string }) =>
  (await sendOperationUntilAnswered(() => merchant.send('GET', `/v1/orders/${id}/`))).headers.get('etag')!;

/** Status and type of a refusal, or status and order status. */
export const outcomeInWords = ({ status, body }: OrderAnswer) =>
  status === 200 ? [200, body.status] : [status, body.error.type];

/** Their HTTP statuses, the lowest first. */
export const httpStatusesOf = (answers: OrderAnswer[]) => answers.map(({ status }) => status).toSorted((a, b) => a - b);

/** What waits for its time at the processor happens now: late outcomes, chargebacks. */
export async function makeDue(merchant: Merchant, transaction_id: string): Promise<void> {
  await controlSimulator(merchant, 'due', { transaction_id });
}

export async function controlSimulator(
  merchant: Merchant,
  what: 'due' | 'chargebacks' | 'notifications',
  body: Record<string, unknown>,
): Promise<void> {
  await postControl(merchant.stack, what, body);
}

/** The order once `is` holds. */
export async function untilOrder(
  merchant: Merchant,
  order: { id: string },
  what: string,
  is: (order: Order) => boolean,
  within_ms?: number,
): Promise<Order> {
  return await until(
    `${order.id} ${what}`,
    async () => {
      const now = await getWholeOrder(merchant, order);
      return is(now) && now;
    },
    within_ms,
  );
}

/** The only order of that kind that follows this one, once it is final. */
export async function untilFollowUp(merchant: Merchant, order: { id: string }, flag: string): Promise<Order> {
  return await until(
    `a ${flag} of ${order.id}`,
    async () => {
      for (const id of (await getWholeOrder(merchant, order)).related_orders ?? []) {
        const follow_up = await getWholeOrder(merchant, { id });
        if (follow_up.flags.includes(flag) && ['completed', 'error'].includes(follow_up.status)) return follow_up;
      }
      return undefined;
    },
    120_000,
  );
}

/** Nothing of the answer is null or an empty array, and no amount of something is 0 (rules 1.3). */
export function expectNothingEmpty(order: Order): void {
  const { flags: _, amount_details: __, ...rest } = order;
  expect(JSON.stringify(rest)).not.toMatch(/\[\]|:null|"\w+_amount":0/);
}
