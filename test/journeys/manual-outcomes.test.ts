import type { AuditEntry } from '../../src/contract/manage/history';
import type { Order } from '../../src/contract/order';
import type { CardName } from '../support/domain';
import { Merchant, statusesOf } from '../support/merchant';
import {
  amountDetailsOf,
  capture,
  capturePart,
  createAuthorization,
  part,
  payingTransactionId,
  refund,
  voidPart,
} from '../support/merchant-payments';
import { answerOfAdmin, runAdmin } from '../support/admin';
import { NOBODY } from '../support/shapes';
import { stack } from '../support/stack';
import { withTemporal } from '../support/temporal-client';
import { orderWorkflowId } from '../../workflows/messages';

/** `npm run admin -- outcome` (rules 22.6): outcomes that the processor never gives. */

const merchant = new Merchant();
afterEach(() => merchant.removeFaults());

const REASON = 'Bank statement of 15 January, ticket 42';
const setOutcome = (transaction_id: string, outcome = 'approved', reason = REASON) =>
  answerOfAdmin(['outcome', 'set', transaction_id, '--outcome', outcome, '--reason', reason]);
const unknownOutcomes = async () =>
  (await answerOfAdmin<{ items: Record<string, unknown>[] }>(['outcome', 'list', '--limit', '100'])).items;
const entriesOf = async (transaction_id: string) =>
  (await answerOfAdmin<{ items: AuditEntry[] }>(['audit', 'list', '--object', transaction_id])).items;

/** A charge of which the processor knows the outcome after 20 s; polled, it does not answer. */
async function unansweredCharge(
  card: 'processing_approved' | 'processing_declined',
  fields: object = {},
): Promise<Order> {
  const transactions = [{ ...(await merchant.cardTransaction(card)), ...fields }];
  const order = await merchant.createOrder({ amount: 1_000, transactions });
  await merchant.addFault({ kind: 'outage', operation: 'ask', order_id: order.id });
  return order;
}

/** A follow-up order that the processor carries out or refuses without an answer, and its original. */
async function unansweredFollowUp(operation: 'capture' | 'void' | 'refund', card: CardName) {
  const original = await createAuthorization(merchant, { card });
  if (operation === 'refund') await capture(merchant, original);
  await merchant.addFault({ kind: 'lost_answer', operation, order_id: original.id });
  await merchant.addFault({ kind: 'outage', operation: 'ask', order_id: original.id });
  const { body } = await {
    capture: () => capturePart(merchant, original, part(600)),
    void: () => voidPart(merchant, original, part(600)),
    refund: () => refund(merchant, original, { amount: 600 }),
  }[operation]();
  return { original, order: body };
}

test('rules 22.6: a charge that is set to approved: the order is completed, the audit trail says by whom, and again is the same', async () => {
  const order = await unansweredCharge('processing_approved');
  expect(statusesOf(order)).toBe('processing: processing');
  const transaction_id = payingTransactionId(order);
  const [listed] = (await unknownOutcomes()).filter((one) => one['transaction_id'] === transaction_id);
  const since = order.transactions![0]!.events!.at(-1)!.noticed;
  expect(listed).toMatchObject({ order_id: order.id, kind: 'payment', amount: 1_000, currency: 'EUR', since });

  const first = await setOutcome(transaction_id);
  expect(first).toMatchObject({ status: 'accepted', order_status: 'completed', reason: REASON, set: 'now' });
  const again = await setOutcome(transaction_id, 'approved', 'Asked once more');
  expect(again).toEqual({ ...first, set: 'earlier' });
  expect(await setOutcome(transaction_id, 'declined')).toMatchObject({
    error: 'Conflict',
    value: expect.stringContaining('set by hand as approved at ') as unknown,
  });

  const paid = await merchant.getOrder(order.id);
  expect(statusesOf(paid)).toBe('completed: accepted');
  const { events = [], outcomes } = paid.transactions![0]!;
  expect(outcomes?.processing).toEqual({
    status: 'accepted',
    response_code: '00',
    response_code_description: 'Approved',
  });
  expect(events.map(({ event, source }) => `${event} ${source}`)).toEqual([
    'new merchant',
    'processing processor',
    'accepted operator',
  ]);
  expect(await entriesOf(transaction_id)).toMatchObject([
    {
      action: 'transaction.set_outcome',
      actor: { kind: 'command_line', id: first['set_by'] },
      object: { kind: 'transaction', id: transaction_id },
      before: { order_id: order.id, order_status: 'processing', status: 'processing' },
      after: { order_id: order.id, order_status: 'completed', status: 'accepted', outcome: 'approved', reason: REASON },
      request_id: expect.any(String) as unknown,
    },
  ]);
  expect((await unknownOutcomes()).map((one) => one['transaction_id'])).not.toContain(transaction_id);
});

test.each([
  ['capture', 'approved', 'approved', { captured: 600, capturable: 400 }],
  ['capture', 'declined', 'capture_refused', { captured: 0, capturable: 1_000 }],
  ['void', 'approved', 'approved', { voided: 600, voidable: 400 }],
  ['refund', 'approved', 'approved', { refunded: 600, refundable: 400 }],
  ['refund', 'declined', 'refund_refused', { refunded: 0, refundable: 1_000 }],
] as const)('a %s that is set to %s', async (operation, outcome, card, amounts) => {
  const { original, order } = await unansweredFollowUp(operation, card);
  const transaction_id = payingTransactionId(order);
  expect((await unknownOutcomes()).find((one) => one['transaction_id'] === transaction_id)).toMatchObject({
    order_id: order.id,
    kind: operation,
    amount: 600,
  });
  const first = await setOutcome(transaction_id, outcome);
  expect(first).toMatchObject({ order_id: order.id, outcome, set: 'now' });
  expect(await setOutcome(transaction_id, outcome)).toEqual({ ...first, set: 'earlier' });
  expect(await amountDetailsOf(merchant, original)).toMatchObject(amounts);
  expect(await entriesOf(transaction_id)).toHaveLength(1);
});

test.each(['charge', 'refund'])('a %s whose workflow Temporal has lost can be set too', async (what) => {
  const order =
    what === 'charge'
      ? await unansweredCharge('processing_approved')
      : (await unansweredFollowUp('refund', 'approved')).order;
  await withTemporal(stack(), ({ workflow }) => workflow.getHandle(orderWorkflowId(order.id)).terminate('lost'));
  expect(await setOutcome(payingTransactionId(order))).toMatchObject({ order_status: 'completed', set: 'now' });
  expect(statusesOf(await merchant.getOrder(order.id))).toBe('completed: accepted');
});

test.each<[title: string, args: (transaction_id: string) => string[], error: string, says: RegExp]>([
  ['a known outcome', (id) => [id, '--outcome', 'declined', '--reason', REASON], 'Conflict', /transaction is accepted/],
  ['no transaction', () => [NOBODY, '--outcome', 'approved', '--reason', REASON], 'NotFound', /does not exist/],
  ['another outcome', (id) => [id, '--outcome', 'refunded', '--reason', REASON], 'ValidationError', /^outcome: /],
  ['no reason', (id) => [id, '--outcome', 'approved'], 'ValidationError', /^reason: /],
  [
    'a card number as reason',
    (id) => [id, '--outcome', 'approved', '--reason', 'of 4111 1111 1111 1111'],
    'ValidationError',
    /^reason: A card number/,
  ],
])('rules 22.6: refused: %s', async (_title, args, error, says) => {
  const order = await merchant.paidOrder('approved');
  const { text, failed } = await runAdmin(['--json', 'outcome', 'set', ...args(payingTransactionId(order))]);
  expect([JSON.parse(text), failed]).toEqual([{ error, value: expect.stringMatching(says) as unknown }, true]);
});
