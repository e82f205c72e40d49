import { entriesOf } from '../support/ledger';
import { Merchant, newIdempotencyKey, statusesOf } from '../support/merchant';
import {
  amountDetailsOf,
  capture,
  capturePart,
  createAuthorization,
  getWholeOrder,
  part,
  refund,
  untilFollowUp,
  voidPart,
  type OrderAnswer,
  type Sent,
} from '../support/merchant-payments';
import type { Order } from '../../src/contract/order';
import type { Fault } from '../../src/simulator/faults';

/**
 * Rules 10.1: an outcome that is not known is no error: 200, processing, and it is asked for until it is known. Done
 * once all the same.
 */
const merchant = new Merchant();

type Follow = (order: Order, sent?: Sent) => Promise<OrderAnswer>;
const OPERATIONS: [
  operation: 'capture' | 'void' | 'refund',
  follow: Follow,
  after: Partial<Order['amount_details'] & object>,
  meanwhile: Partial<Order['amount_details'] & object>,
][] = [
  [
    'capture',
    (order, sent) => capturePart(merchant, order, part(600), sent),
    { capturable: 400, captured: 600, refundable: 600 },
    { capturable: 400, captured: 0, refundable: 0, voidable: 400 },
  ],
  [
    'void',
    (order, sent) => voidPart(merchant, order, part(600), sent),
    { capturable: 400, voidable: 400, voided: 600 },
    { capturable: 400, voidable: 400, voided: 0 },
  ],
  [
    'refund',
    (order, sent) => refund(merchant, order, { amount: 600 }, sent),
    { captured: 1_000, refundable: 400, refunded: 600 },
    { captured: 1_000, refundable: 400, refunded: 0 },
  ],
];
/** The order that each operation follows: for a refund one that is captured. */
async function original(operation: string): Promise<Order> {
  const order = await createAuthorization(merchant);
  if (operation === 'refund') await capture(merchant, order);
  return order;
}

/**
 * Those without `times` last until the test has seen that the outcome is not known. Other answers that leave it
 * unknown: test/src/processor/client.test.ts.
 */
const TROUBLES: [title: string, fault: Omit<Fault, 'operation'>][] = [
  ['the call timed out before anything happened', { kind: 'no_answer', milliseconds: 500 }],
  ['it happened, but the answer was lost', { kind: 'lost_answer' }],
  ['the processor was away twice', { kind: 'outage', times: 2 }],
];

/** Long enough for a fault to begin before its end, on a busy machine too. */
const WINDOW = 'PT15S';

/** A client that ends only the faults that it has added: the tests here run at the same time. */
const newFaultClient = () => new Merchant();

describe.each(OPERATIONS)('rules 10.1 and 10.2: a %s', (operation, follow, after, meanwhile) => {
  test.concurrent.each(TROUBLES)(
    '%s: processing, then completed, one entry in the ledger',
    async (_title, fault) => {
      const order = await original(operation);
      const faults = newFaultClient();
      await faults.addFault({ operation, order_id: order.id, ...fault });
      // Nor is it told when it is asked.
      if (fault.times === undefined) await faults.addFault({ operation: 'ask', order_id: order.id, kind: 'outage' });
      const headers = { 'idempotency-key': newIdempotencyKey() };
      const { status, body } = await follow(order, { headers });
      expect([status, statusesOf(body)]).toEqual([200, 'processing: processing']);
      expect(body.transactions![0]!.events!.at(-1)).toMatchObject({ event: 'processing', source: 'service' });
      // While it is not known the amount is spoken for, and counts for nothing yet.
      expect(await amountDetailsOf(merchant, order)).toMatchObject(meanwhile);
      expect(await follow(order)).toMatchObject({ status: 400 });
      if (fault.times === undefined) await faults.removeFaults();
      const done = await merchant.untilStatus(body.id, 'completed', 60_000);
      expect(done.transactions![0]!.events!.map(({ event }) => event)).toEqual(['new', 'processing', 'accepted']);
      expect(await amountDetailsOf(merchant, order)).toMatchObject(after);
      expect((await follow(order, { headers })).body).toEqual(body);
      expect(await entriesOf(merchant, order, operation)).toEqual([
        expect.objectContaining({ result: 'approved', amount: 600, follow_up_order_id: body.id, requests: 1 }),
      ]);
    },
    120_000,
  );
});

test.concurrent(
  'at the end of the window too: the release whose answer was lost is done once, and the transaction expires',
  async () => {
    const order = await createAuthorization(merchant, { transaction: { expiration_period: WINDOW } });
    await merchant.addFault({ operation: 'void', order_id: order.id, kind: 'lost_answer' });
    const released = await untilFollowUp(merchant, order, 'is-void');
    expect(released.transactions![0]!.events!.map(({ event }) => event)).toEqual(['new', 'processing', 'accepted']);
    expect(statusesOf(await getWholeOrder(merchant, order))).toBe('completed: expired');
    expect(await entriesOf(merchant, order, 'void')).toHaveLength(1);
  },
  150_000,
);
