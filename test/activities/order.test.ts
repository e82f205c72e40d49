import { attentionTo } from '../../src/domain/attention';
import { chargeIdempotencyKey } from '../../src/domain/transaction';
import type { OrderSnapshot } from '../../src/domain/order-snapshot';
import { createActivities, type Activities } from '../../activities';
import type { ActivityServices } from '../../activities/services';
import { moveOrder } from '../../src/db/orders/move-order';
import { loadOrderSnapshot } from '../../src/db/orders/order-snapshot';
import { findOrderSnapshot } from '../../src/db/orders/order-snapshot';
import { findStoredOrder } from '../../src/db/orders/stored-order';
import type { Processor } from '../../src/processor/client';
import type { OperationResult } from '../../src/processor/wire';
import { createTestDatabase } from '../support/database';
import {
  aLateRequest,
  aRequest,
  aCharge,
  anOrder,
  BY_TOKEN,
  CARDS,
  MINUTE,
  NOW,
  PROJECT,
  transactionIdOf,
  type CardName,
} from '../support/domain';
import { Merchant } from '../support/merchant';
import { aStoredOrder } from '../support/rows';
import { setUp } from '../support/set-up';
import { runProcessor } from '../support/processor';
import { vaultToken } from '../support/workflow-orders';

/**
 * The fault to fear: it happened, but nobody was told. Each activity may have been killed anywhere and is run again.
 */
const database = setUp(() => createTestDatabase({ webhook_url: 'https://shop.example/hook' }));
const processor = setUp(() => runProcessor(2_000));
let activities: Activities;
const merchant = new Merchant();
beforeAll(async () => {
  activities = withProcessor();
});

const tokenOf = (card: CardName) => vaultToken({ processor }, CARDS[card].number);
const view = async (order_id: string) => (await findStoredOrder(database.db, order_id))!;
const statuses = async (order_id: string) => {
  const { status, transactions } = await view(order_id);
  return [status, ...transactions.map((one) => one.status)].join(' ');
};
/** A worker that is killed after the processor has its charge and before anything is written. */
const killedAtTheCharge = () =>
  withProcessor({
    async execute(...charge) {
      await processor.execute(...charge);
      throw new Error('killed');
    },
  });
/** A processor that says nothing. */
const deaf = () =>
  withProcessor({ findOperation: () => Promise.resolve('unknown'), execute: () => Promise.resolve('unknown') });
/** A processor whose customer has confirmed at the issuer. */
const confirmed = () =>
  withProcessor({
    findOperation: async (...asked) => ({
      ...((await processor.findOperation(...asked)) as OperationResult),
      result: 'processing',
    }),
  });
/** A worker whose question the processor answers, and which stands still while this happens. */
const stalledWhile = (meanwhile: () => Promise<unknown>) =>
  withProcessor({
    async findOperation(...asked) {
      const answer = await processor.findOperation(...asked);
      await meanwhile();
      return answer;
    },
  });
const withProcessor = (over: Partial<Processor> = {}) =>
  createActivities({
    db: database.db,
    processor: { ...processor, ...over },
    // Nothing else here starts or signals a workflow.
    workflows: { follow_ups: { startReversal: async (input: object) => void reversals.push(input) } },
    public_url: 'http://pay.example',
  } as unknown as ActivityServices);
/** The reversals that were started. */
let reversals: object[] = [];
beforeEach(() => {
  reversals = [];
});

const anOrderKilledAtTheCharge = async (card: CardName = 'approved', fields: { attempts_max?: number } = {}) => {
  const input = { ...aCharge(await tokenOf(card)), now: NOW };
  Object.assign(input.order, fields);
  await expect(killedAtTheCharge().createAndCharge(input)).rejects.toThrow('killed');
  return { input, order: (await findOrderSnapshot(database.db, input.order.id))! };
};

describe('createAndCharge', () => {
  test('again and again: one order, one charge, the same answer', async () => {
    const input = { ...aCharge(await tokenOf('approved')), now: NOW };
    const first = await activities.createAndCharge(input);
    const again = await activities.createAndCharge({ ...input, now: NOW + 5_000 });
    expect(again).toEqual(first);
    expect([first.status, first.deliveries]).toEqual(['completed', [1]]);
    expect(await merchant.ledger(input.order.id)).toEqual([
      expect.objectContaining({ requests: 1, result: 'approved' }),
    ]);
    const { transactions } = await view(input.order.id);
    expect(transactions[0]!.events.map(({ event }) => event)).toEqual(['new', 'accepted']);
  });

  test('two at once, as when a worker counts as dead and is not: one charge', async () => {
    const input = { ...aCharge(await tokenOf('approved')), now: NOW };
    await Promise.all([1, 2, 3].map(() => activities.createAndCharge(input)));
    expect(await statuses(input.order.id)).toBe('completed accepted');
    expect(await merchant.ledger(input.order.id)).toHaveLength(1);
    expect((await view(input.order.id)).transactions[0]!.events).toHaveLength(2);
  });

  test('killed between the charge and its record: the next run gets the first answer', async () => {
    const input = { ...aCharge(await tokenOf('do_not_honor')), now: NOW };
    await expect(killedAtTheCharge().createAndCharge(input)).rejects.toThrow('killed');
    expect(await statuses(input.order.id)).toBe('new new');
    expect((await activities.createAndCharge(input)).status).toBe('error');
    expect(await merchant.ledger(input.order.id)).toEqual([
      expect.objectContaining({ requests: 2, result: 'declined' }),
    ]);
  });

  test('killed before the charge, and run again when the time for paying is over: nothing is charged', async () => {
    const input = { ...aCharge(await tokenOf('approved')), now: NOW };
    await expect(
      withProcessor({ execute: () => Promise.reject(new Error('killed')) }).createAndCharge(input),
    ).rejects.toThrow('killed');
    const order = await activities.createAndCharge({ ...input, now: NOW + input.period });
    expect(await merchant.ledger(input.order.id)).toEqual([]);
    const { id: transaction_id } = order.transactions[0]!;
    expect(
      (await activities.pollCharge({ order, transaction_id, now: NOW + input.period, poll_at: NOW + 60_000 })).status,
    ).toBe('expired');
  });

  test('an existing order continues, however late it is', async () => {
    const input = { ...aCharge(await tokenOf('approved'), { request: aLateRequest() }), now: NOW };
    await expect(activities.createAndCharge(input)).rejects.toMatchObject({
      type: 'ServiceUnavailable',
      nonRetryable: true,
    });
    expect(await findStoredOrder(database.db, input.order.id)).toBeUndefined();
    await expect(killedAtTheCharge().createAndCharge({ ...input, request: aRequest() })).rejects.toThrow('killed');
    expect((await activities.createAndCharge(input)).status).toBe('completed');
  });

  test('rules 5.3: an order of 0 checks the card: nothing is sold or captured, and nothing can be', async () => {
    const charge = aCharge(await tokenOf('approved'), { order: anOrder({ amount: 0, ...BY_TOKEN }) });
    const transaction = { ...charge.transaction, id: transactionIdOf(charge.order.id, 1) };
    expect((await activities.createAndCharge({ ...charge, transaction, now: NOW })).status).toBe('completed');
    expect(
      (await merchant.ledger(charge.order.id)).map(
        ({ operation, amount, result }) => `${operation} ${amount} ${result}`,
      ),
    ).toEqual(['authorize 0 approved']);
    expect((await view(charge.order.id)).transactions[0]).toMatchObject({
      status: 'accepted',
      captured_amount: 0,
      capture_mode: null,
    });
  });
});

describe('chargeAttempt', () => {
  const payment = async (order_id: string, attempt: number, card: CardName = 'approved') => ({
    request: aRequest(),
    project_id: PROJECT.id,
    is_test: true,
    now: NOW,
    poll_at: NOW + MINUTE,
    transaction: {
      id: transactionIdOf(order_id, attempt),
      attempt,
      payment_method: 'credit-card',
      payment_method_details: { vault_token: await tokenOf(card) },
      expiration_period: 'PT30M',
      period: 30 * MINUTE,
    },
  });

  test('rules 10.6: killed between the charge and its record, and the customer comes with another card: the first charge counts', async () => {
    const order = await aStoredOrder(database.db, { transaction: false });
    const input = { ...(await payment(order.id, 1)), order };
    await expect(killedAtTheCharge().chargeAttempt(input)).rejects.toThrow('killed');
    // The processor refuses the key with another card: that is no outcome, so it is asked.
    const after = await activities.chargeAttempt({ ...(await payment(order.id, 1, 'do_not_honor')), order });
    expect(after.transactions[0]!.status).toBe('processing');
    const settled = await activities.pollCharge({
      order: after,
      transaction_id: transactionIdOf(order.id, 1),
      now: NOW,
      poll_at: NOW + MINUTE,
    });
    expect(settled.status).toBe('completed');
    expect(await merchant.ledger(order.id)).toHaveLength(1);
    // Nor is the second card shown, or kept for later charges, as the one that paid.
    expect((await view(order.id)).transactions[0]!.payment_method_details?.vault_token).toBe(
      input.transaction.payment_method_details.vault_token,
    );
  });

  test('a late attempt that was announced and that the processor never saw is refused, and nothing is charged', async () => {
    const order = await aStoredOrder(database.db);
    const late = { ...(await payment(order.id, 1)), request: aLateRequest(), order };
    await expect(activities.chargeAttempt(late)).rejects.toMatchObject({
      type: 'ServiceUnavailable',
      nonRetryable: true,
    });
    expect([await statuses(order.id), await merchant.ledger(order.id)]).toEqual(['new new', []]);
    expect(
      (await activities.chargeAttempt({ ...late, request: aRequest({ begin_before: Date.now() + MINUTE }) })).status,
    ).toBe('completed');
  });

  test('a late attempt that was announced and that had begun in time goes on', async () => {
    const order = await aStoredOrder(database.db);
    const input = { ...(await payment(order.id, 1)), order };
    await expect(killedAtTheCharge().chargeAttempt(input)).rejects.toThrow('killed');
    expect((await activities.chargeAttempt({ ...input, request: aLateRequest() })).status).toBe('completed');
    expect(await merchant.ledger(order.id)).toEqual([expect.objectContaining({ requests: 2, result: 'approved' })]);
  });

  test('rules 7.8: killed before the charge, and run again when the time for paying is over: nothing is charged', async () => {
    const order = await aStoredOrder(database.db);
    const input = { ...(await payment(order.id, 1)), order };
    const killed = withProcessor({ execute: () => Promise.reject(new Error('killed')) });
    await expect(killed.chargeAttempt(input)).rejects.toThrow('killed');
    const begun = await activities.chargeAttempt({ ...input, now: order.expires_at });
    expect(begun.transactions).toEqual([expect.objectContaining({ status: 'new', charge_began: true })]);
    expect(await merchant.ledger(order.id)).toEqual([]);
    const asked = { order: begun, transaction_id: input.transaction.id, now: order.expires_at, poll_at: NOW };
    expect((await activities.pollCharge(asked)).status).toBe('expired');
    expect(await statuses(order.id)).toBe('expired error');
  });

  test.each<[string, { transaction?: false }]>([
    ['announced', {}],
    ['added by the customer', { transaction: false }],
  ])(
    'rules 10.6: killed before the charge was sent: an attempt that was %s is charged to the same card',
    async (_title, options) => {
      const order = await aStoredOrder(database.db, options);
      const input = { ...(await payment(order.id, 1)), order };
      const killed = withProcessor({ execute: () => Promise.reject(new Error('killed')) });
      await expect(killed.chargeAttempt(input)).rejects.toThrow('killed');
      const begun = (await findOrderSnapshot(database.db, order.id))!;
      expect(begun.transactions).toEqual([expect.objectContaining({ status: 'new', charge_began: true })]);
      const { id: transaction_id } = input.transaction;
      const asked = { order: begun, transaction_id, now: NOW + MINUTE, poll_at: NOW + 2 * MINUTE };
      expect((await activities.pollCharge(asked)).status).toBe('completed');
      expect(await merchant.ledger(order.id)).toEqual([expect.objectContaining({ requests: 1, result: 'approved' })]);
    },
  );
});

describe('pollCharge', () => {
  test('rules 10.2: a key the processor never saw goes out again while the time for paying lasts', async () => {
    const order = await deaf().createAndCharge({ ...aCharge(await tokenOf('approved')), now: NOW });
    const { id: transaction_id, expires_at: end } = order.transactions[0]!;
    expect((await activities.pollCharge({ order, transaction_id, now: end - 1, poll_at: NOW + 60_000 })).status).toBe(
      'completed',
    );
    expect(await merchant.ledger(order.id)).toEqual([expect.objectContaining({ amount: 500, requests: 1 })]);
  });

  test('sent again without an answer: it is recorded that the processor was asked, and when it is asked next', async () => {
    const order = await deaf().createAndCharge({ ...aCharge(await tokenOf('approved')), now: NOW });
    const { id: transaction_id } = order.transactions[0]!;
    const poll_at = NOW + 2 * MINUTE;
    const silent = withProcessor({ execute: () => Promise.resolve('unknown') });
    const polled = await silent.pollCharge({ order, transaction_id, now: NOW + MINUTE, poll_at });
    expect(polled.transactions).toEqual([expect.objectContaining({ status: 'processing', poll_at })]);
    expect(polled).toEqual(await findOrderSnapshot(database.db, order.id));
    expect((await view(order.id)).transactions[0]).toMatchObject({ polls: 1 });
  });

  test('rules 10.1: a charge that its worker sent before it died, and about which the processor says nothing, is processing', async () => {
    const { order } = await anOrderKilledAtTheCharge();
    const { id: transaction_id } = order.transactions[0]!;
    const polled = await deaf().pollCharge({ order, transaction_id, now: NOW + MINUTE, poll_at: NOW + 2 * MINUTE });
    expect(polled).toMatchObject({ status: 'processing', transactions: [{ status: 'processing' }] });
    expect(polled).toEqual(await findOrderSnapshot(database.db, order.id));
  });

  test('rules 10.1: a charge without an answer is never given up, however often the processor was asked', async () => {
    const { id, transactions } = await deaf().createAndCharge({ ...aCharge(await tokenOf('approved')), now: NOW });
    const { id: transaction_id, expires_at: end } = transactions[0]!;
    await database
      .db('transactions')
      .where({ id: transaction_id })
      .update({ polls: 10_000, polled_at: new Date(NOW) });
    const order = await loadOrderSnapshot(database.db, id);
    const asked = { order, transaction_id, now: end + MINUTE, poll_at: end + 2 * MINUTE };
    expect((await deaf().pollCharge(asked)).status).toBe('processing');
    expect(await statuses(id)).toBe('processing processing');
  });

  test('an answer that a later poll has overtaken changes nothing: the customer has confirmed since', async () => {
    const order = await activities.createAndCharge({ ...aCharge(await tokenOf('challenge')), now: NOW });
    const { id: transaction_id } = order.transactions[0]!;
    const asked = { order, transaction_id, now: NOW + MINUTE, poll_at: NOW + 2 * MINUTE };
    const slow = stalledWhile(() => confirmed().pollCharge(asked));
    expect((await slow.pollCharge(asked)).transactions).toMatchObject([{ status: 'processing' }]);
    expect(await statuses(order.id)).toBe('processing processing');
  });

  test('rules 10.2: a look-up before the end that found nothing gives up no charge that another try has sent since', async () => {
    const order = await deaf().createAndCharge({ ...aCharge(await tokenOf('approved')), now: NOW });
    const { id: transaction_id, expires_at } = order.transactions[0]!;
    const asked = { order, transaction_id, now: NOW + MINUTE, poll_at: NOW + 2 * MINUTE };
    const slow = withProcessor({
      async findOperation() {
        await deaf().pollCharge(asked);
        jest.spyOn(Date, 'now').mockReturnValue(expires_at);
        return 'not_found';
      },
    });
    try {
      await slow.pollCharge(asked);
    } finally {
      jest.restoreAllMocks();
    }
    expect(await statuses(order.id)).toBe('processing processing');
  });

  test('an answer that the charge is processing does not hide the challenge that was recorded since', async () => {
    const input = { ...aCharge(await tokenOf('challenge')), now: NOW };
    const { id } = input.order;
    const slow = withProcessor({
      async execute(...charge) {
        const challenge = (await processor.execute(...charge)) as OperationResult;
        await activities.createAndCharge(input);
        return { ...challenge, result: 'processing' };
      },
    });
    await slow.createAndCharge(input);
    expect(await statuses(id)).toBe('processing pending');
  });

  test('rules 10.14: an outcome that was set by hand while the charge was sent again, and that its answer contradicts, needs attention', async () => {
    const order = await deaf().createAndCharge({ ...aCharge(await tokenOf('do_not_honor')), now: NOW });
    const { id: transaction_id } = order.transactions[0]!;
    const manual_outcome = { transaction_id, outcome: 'approved', reason: 'Bank statement', operator: 'o' } as const;
    const slow = withProcessor({
      findOperation: async () => 'not_found',
      async execute(...charge) {
        await activities.setChargeOutcome({ order_id: order.id, manual_outcome, now: NOW });
        return await processor.execute(...charge);
      },
    });
    await slow.pollCharge({ order, transaction_id, now: NOW + MINUTE, poll_at: NOW + 2 * MINUTE });
    expect(await statuses(order.id)).toBe('completed accepted');
    expect((await findOrderSnapshot(database.db, order.id))!.attention).toBe(
      'set by hand as approved, but the processor says declined',
    );
  });

  test('a transaction that ended meanwhile and that the processor never saw: the answer is the record', async () => {
    const order = await deaf().createAndCharge({ ...aCharge(await tokenOf('approved')), now: NOW });
    const { id: transaction_id } = order.transactions[0]!;
    const by_hand = { source: 'operator', now: NOW, reason: 'Bank statement' } as const;
    await moveOrder(database.db, order, { transaction_id, to: 'error' }, by_hand);
    const polled = await activities.pollCharge({ order, transaction_id, now: NOW + MINUTE, poll_at: NOW + 2 * MINUTE });
    expect(polled).toEqual(await findOrderSnapshot(database.db, order.id));
  });
});

describe('an unknown outcome changes nothing', () => {
  /** Asks the processor, lets somebody else run the same activity to its end, and is told nothing. */
  const beatenTo = (other: () => Promise<unknown>) =>
    withProcessor({
      async execute() {
        await other();
        return 'unknown';
      },
    });

  test.each([
    ['approved', 'completed accepted'],
    ['do_not_honor', 'error error'],
    ['challenge', 'processing pending'],
  ] as const)('an outcome recorded meanwhile by another activity stays (%s)', async (card, expected) => {
    const input = { ...aCharge(await tokenOf(card)), now: NOW };
    const order = await beatenTo(() => activities.createAndCharge(input)).createAndCharge(input);
    expect(await statuses(input.order.id)).toBe(expected);
    expect(order).toEqual(await findOrderSnapshot(database.db, input.order.id));
  });
});

describe('a challenge that arrives after expires_at', () => {
  /** The answer that told of the challenge was lost. */
  const lostChallenge = async () => {
    const silent = withProcessor({ execute: async (...charge) => (await processor.execute(...charge), 'unknown') });
    const order = await silent.createAndCharge({ ...aCharge(await tokenOf('challenge')), now: NOW });
    expect(order.transactions[0]!.status).toBe('processing');
    return { order, ...order.transactions[0]! };
  };
  test('the transaction and its order expire in the same step, however often it is repeated', async () => {
    const { order, id: transaction_id, expires_at: end } = await lostChallenge();
    const ask = () => activities.pollCharge({ order, transaction_id, now: end, poll_at: NOW + 60_000 });
    const first = await ask();
    expect(first).toEqual(await findOrderSnapshot(database.db, order.id));
    expect(await statuses(order.id)).toBe('expired expired');
    const { transactions } = await view(order.id);
    expect(transactions[0]!.events.map(({ event, source }) => [event, source])).toEqual([
      ['new', 'merchant'],
      ['processing', 'service'],
      ['pending', 'processor'],
      ['expired', 'service'],
    ]);
    expect(await ask()).toEqual(first);
  });
});

test('rules 4.5: a processor that contradicts the outcome it has given changes nothing', async () => {
  const order = await activities.createAndCharge({ ...aCharge(await tokenOf('approved')), now: NOW });
  const key = (await merchant.ledger(order.id))[0]!.idempotency_key;
  const answer = (await processor.findOperation(key, {})) as OperationResult;
  const lying = withProcessor({ findOperation: () => Promise.resolve({ ...answer, result: 'declined' }) });
  const asked = lying.pollCharge({ order, transaction_id: order.transactions[0]!.id, now: NOW, poll_at: NOW + 60_000 });
  await expect(asked).resolves.toMatchObject({ status: 'completed', version: order.version });
  expect(await statuses(order.id)).toBe('completed accepted');
});

test('rules 10.18: an approval of a charge that an earlier try has recorded as declined is given back', async () => {
  const { order } = await anOrderKilledAtTheCharge('do_not_honor');
  const poll = { order, transaction_id: order.transactions[0]!.id, now: NOW, poll_at: NOW + MINUTE };
  const declined = await activities.pollCharge(poll);
  expect([await statuses(order.id), reversals]).toEqual(['error error', []]);
  const answer = (await processor.findOperation(chargeIdempotencyKey(poll.transaction_id), {})) as OperationResult;
  const approving = withProcessor({ findOperation: () => Promise.resolve({ ...answer, result: 'approved' }) });
  expect(await approving.pollCharge(poll)).toEqual(declined);
  const reversal = { transaction_id: poll.transaction_id, now: expect.any(Number), with_declined: true };
  expect(reversals).toEqual([reversal]);
  // Asked after a notification.
  for (const [asked, expected] of [
    [activities, [reversal]],
    [approving, [reversal, reversal]],
    [deaf(), [reversal, reversal, reversal]],
  ] as const) {
    await asked.pollDeclined({ ...poll, order: declined });
    expect(reversals).toEqual(expected);
  }
});

describe('endUnpaidOrder', () => {
  const ending = { ended: 'expired', source: 'service', now: NOW + 30 * MINUTE } as const;
  const cancelling = { ended: 'cancelled', source: 'merchant', now: NOW } as const;
  /** An order whose worker was killed at its charge. */
  test('rules 10.10: a charge that the processor took counts, though it is not recorded', async () => {
    const { order } = await anOrderKilledAtTheCharge();
    expect((await activities.endUnpaidOrder({ order, ...ending })).status).toBe('completed');
    expect(await statuses(order.id)).toBe('completed accepted');
  });

  test('a decline that is not recorded comes first, then the end', async () => {
    const { order } = await anOrderKilledAtTheCharge('do_not_honor', { attempts_max: 5 });
    expect((await activities.endUnpaidOrder({ order, ...cancelling })).status).toBe('cancelled');
    expect(await statuses(order.id)).toBe('cancelled error');
  });

  test('rules 6.7: at the end of a transaction the processor says that it failed: the order goes on to the next attempt', async () => {
    const input = { ...aCharge(await tokenOf('challenge')), now: NOW, period: 24 * 60 * MINUTE };
    Object.assign(input.order, { attempts_max: 5 });
    const order = await activities.createAndCharge(input);
    const failed = withProcessor({
      findOperation: async (...asked) =>
        ({ ...((await processor.findOperation(...asked)) as object), result: 'error' }) as never,
    });
    const now = order.transactions[0]!.expires_at;
    expect((await failed.endUnpaidOrder({ order, ...ending, now })).status).toBe('processing');
    expect(await statuses(order.id)).toBe('processing error');
    expect((await failed.endUnpaidOrder({ order, ...ending, now: now + 24 * 60 * MINUTE })).status).toBe('expired');
  });

  test('rules 4.9: an answer from before the customer has confirmed does not end what the processor owes since', async () => {
    const order = await activities.createAndCharge({ ...aCharge(await tokenOf('challenge')), now: NOW });
    const { id: transaction_id } = order.transactions[0]!;
    const poll = { order, transaction_id, now: ending.now, poll_at: ending.now + MINUTE };
    const slow = stalledWhile(() => confirmed().pollCharge(poll));
    await slow.endUnpaidOrder({ order, ...ending });
    expect(await statuses(order.id)).toBe('processing processing');
  });

  test('rules 10.10: while the processor does not say, nothing ends', async () => {
    const { order } = await anOrderKilledAtTheCharge();
    for (const end of [ending, cancelling]) {
      expect((await deaf().endUnpaidOrder({ order, ...end })).status).toBe('new');
    }
    expect(await statuses(order.id)).toBe('new new');
  });

  test('rules 10.10: an order of which nothing was sent ends without the processor', async () => {
    const order = await aStoredOrder(database.db);
    expect((await deaf().endUnpaidOrder({ order, ...cancelling })).status).toBe('cancelled');
    expect(await statuses(order.id)).toBe('cancelled cancelled');
  });

  describe('while the processor is asked about a customer at the issuer', () => {
    const whileAsked = async (change: (order: OrderSnapshot) => Promise<unknown>) => {
      const order = await activities.createAndCharge({ ...aCharge(await tokenOf('challenge')), now: NOW });
      const slow = stalledWhile(() => change(order));
      const versions = [order.version];
      return {
        order,
        end: (checks?: 'version') => slow.endUnpaidOrder({ order, ...cancelling, ...(checks && { versions }) }),
      };
    };

    test('an approval that another worker records counts', async () => {
      const accept = (order: OrderSnapshot) => {
        const move = { transaction_id: order.transactions[0]!.id, to: 'accepted' } as const;
        return moveOrder(database.db, order, move, { source: 'processor', now: NOW });
      };
      const { order, end } = await whileAsked(accept);
      expect((await end()).status).toBe('completed');
      expect(await statuses(order.id)).toBe('completed accepted');
    });

    test('If-Match: a changed order is refused', async () => {
      const change = ({ id, version }: OrderSnapshot) =>
        database
          .db('orders')
          .where({ id })
          .update({ version: version + 1, description: 'changed' });
      const { order, end } = await whileAsked(change);
      await expect(end('version')).rejects.toMatchObject({ type: 'PreconditionFailed' });
      expect(await statuses(order.id)).toBe('processing pending');
    });
  });
});

test('rules 10.17: Attention about another amount ends when the processor answers about the right one', async () => {
  let outcome: unknown = { result: 'mismatch', amount: 40, currency: 'USD' };
  const answering = withProcessor({
    execute: () => Promise.resolve('unknown'),
    findOperation: () => Promise.resolve(outcome as OperationResult),
  });
  const order = await answering.createAndCharge({ ...aCharge(await tokenOf('approved')), now: NOW });
  const transaction_id = order.transactions[0]!.id;
  const poll = async () => {
    const known = await loadOrderSnapshot(database.db, order.id);
    return attentionTo(await answering.pollCharge({ order: known, transaction_id, now: NOW, poll_at: NOW + MINUTE }));
  };
  expect(await poll()).toMatch(/answers for 40 USD .*instead of 500 EUR/);
  outcome = 'unknown';
  expect(await poll()).toMatch(/40 USD/);
  outcome = { result: 'processing', amount: 500, currency: 'EUR', occurred: new Date(NOW).toISOString() };
  expect(await poll()).toBeUndefined();
});
