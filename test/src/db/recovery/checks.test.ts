import { queryRows } from '../../../../src/db/query';
import { insertFollowUp } from '../../../../src/db/orders/follow-ups';
import { beginAttempt } from '../../../../src/db/orders/insert-order';
import { moveOrder } from '../../../../src/db/orders/move-order';
import type { PagePosition } from '../../../../src/db/pages';
import { findChecks, type Check } from '../../../../src/db/recovery/checks';
import { findProgress, saveProgress } from '../../../../src/db/recovery/progress';
import { SOURCE_NAMES, type SourceName } from '../../../../src/db/recovery/sources';
import { beginAdvance, finishAdvance, setClock } from '../../../../src/db/sandbox-clocks/sandbox-clocks';
import type { FollowUpKind } from '../../../../src/domain/follow-up';
import type { OrderSnapshot } from '../../../../src/domain/order-snapshot';
import type { OrderStatus, PaymentLinkStatus, TransactionStatus } from '../../../../src/domain/transitions';
import { createTestDatabase, planOf } from '../../../support/database';
import { aRequest, aTransaction, BY_TOKEN, MINUTE, NOW, PROJECT } from '../../../support/domain';
import { aFollowUp, anAcceptedPayment, answerFollowUp, aStoredOrder, CAPTURE_END } from '../../../support/rows';
import { setUp } from '../../../support/set-up';

/** Rows whose workflow may be lost, modified at NOW. */
const database = setUp(() => createTestDatabase({ webhook_url: 'https://shop.example/hook' }));
/** Each test has the database to itself: a new one for each of them takes ten times as long. */
beforeEach(async () => {
  await database.db.raw('truncate orders, payment_links, sandbox_clocks, search_outbox cascade');
});

const LATER = NOW + 1;
const SECOND = 1_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The rows of a source that fell due between `since` and `until`. */
async function due<Name extends SourceName>(name: Name, until = LATER, since = 0): Promise<Check<Name>[]> {
  return await findChecks(database.db, name, { since, until, after: null, limit: 1_000 });
}
const ORDER_SOURCES = [
  'attempts',
  'expired_orders',
  'expired_transactions',
  'unknown_outcomes',
  'authorizations',
  'capture_windows',
] as const satisfies SourceName[];
/** The orders that are due, each once, whatever the source. */
async function orders(until = LATER, since = 0): Promise<string[]> {
  const found = await Promise.all(ORDER_SOURCES.map((name) => due(name, until, since)));
  return [...new Set(found.flat().map(({ row }) => row.order_id))];
}
/**
 * Expects a source's only row to be due in these minutes after `from`, or in other units, and at no other time until the
 * end. Each of them is asked for by itself, the time between two of them at once: a check that was missed is found too.
 */
async function expectDue(
  name: SourceName,
  { from, at, until, unit = MINUTE }: { from: number; at: readonly number[]; until: number; unit?: number },
): Promise<void> {
  const bounds = [0, ...at.flatMap((n) => [n, n + 1]), until];
  const found: number[][] = [];
  for (const [n, end] of bounds.slice(1).entries()) {
    const since = bounds[n]!;
    if (since === end) continue;
    if ((await due(name, from + end * unit, from + since * unit)).length > 0) found.push([since, end]);
  }
  expect(found).toEqual(at.map((n) => [n, n + 1]));
}

const by = { source: 'processor', now: NOW } as const;
/** Moves the order's current attempt along these statuses. */
async function along(order: OrderSnapshot, ...statuses: TransactionStatus[]): Promise<OrderSnapshot> {
  let current = order;
  for (const to of statuses) {
    current = await moveOrder(database.db, current, { transaction_id: current.transactions.at(-1)!.id, to }, by);
  }
  return current;
}
const attempted = async (...statuses: TransactionStatus[]) => await along(await aStoredOrder(database.db), ...statuses);

/** Asks for a follow-up order of the payment, which the processor approves. */
async function approved(
  payment: OrderSnapshot,
  request: { kind: FollowUpKind; amount?: number },
): Promise<OrderSnapshot> {
  const follow_up = aFollowUp(payment, request);
  const asked = await insertFollowUp(database.db, follow_up);
  return await answerFollowUp(database.db, follow_up, asked, 'approved', follow_up.now);
}

describe('orders', () => {
  test.each<[string, () => Promise<OrderSnapshot>]>([
    ['its customer is at the issuer', () => attempted('pending')],
    ['its outcome is not known', () => attempted('processing')],
    ['declined, with attempts left', () => attempted('error')],
    [
      'a further attempt after a decline',
      async () => {
        const declined = await attempted('error');
        return await beginAttempt(database.db, declined, aTransaction(declined.id, { attempt: 2 }), {
          created: NOW,
          expires_at: LATER,
          request: aRequest(),
        });
      },
    ],
    [
      'an attempt of the hosted page that began',
      async () => {
        const order = await aStoredOrder(database.db);
        return await beginAttempt(database.db, order, aTransaction(order.id), {
          created: NOW,
          expires_at: LATER,
          request: aRequest(),
        });
      },
    ],
    ['charged at once, and nobody knows what came of it', () => aStoredOrder(database.db, BY_TOKEN)],
    ['money is held', () => anAcceptedPayment(database.db, { mode: 'manual' })],
    ['held, to be captured at the end', () => anAcceptedPayment(database.db, { mode: 'delayed' })],
    [
      'some of it is still held',
      async () => {
        const payment = await anAcceptedPayment(database.db, { mode: 'manual' });
        await approved(payment, { kind: 'capture', amount: 60 });
        await approved(payment, { kind: 'void', amount: 39 });
        return payment;
      },
    ],
    [
      'all of it is asked for, and not answered',
      async () => {
        const payment = await anAcceptedPayment(database.db, { mode: 'manual' });
        await insertFollowUp(database.db, aFollowUp(payment, { kind: 'capture' }));
        return payment;
      },
    ],
  ])('%s', async (_title, make) => {
    const { id: order_id } = await make();
    expect(await orders()).toEqual([order_id]);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['waits to be paid', () => aStoredOrder(database.db, { transaction: false })],
    ['waits to be paid, with an announced transaction', () => aStoredOrder(database.db)],
    ['was paid', () => anAcceptedPayment(database.db)],
    ['was declined for good', async () => await along(await aStoredOrder(database.db, BY_TOKEN), 'error')],
    [
      'was cancelled',
      async () => await moveOrder(database.db, await aStoredOrder(database.db), { ended: 'cancelled' }, by),
    ],
    [
      'expired at the issuer',
      async () => await moveOrder(database.db, await attempted('pending'), { ended: 'expired' }, by),
    ],
    [
      'was captured',
      async () =>
        await approved(await anAcceptedPayment(database.db, { mode: 'manual' }), {
          kind: 'capture',
        }),
    ],
    [
      'was voided',
      async () =>
        await approved(await anAcceptedPayment(database.db, { mode: 'manual' }), {
          kind: 'void',
        }),
    ],
    [
      'a refund is open',
      async () =>
        await insertFollowUp(database.db, aFollowUp(await anAcceptedPayment(database.db), { kind: 'refund' })),
    ],
  ])('not one that %s', async (_title, make) => {
    await make();
    expect(await orders()).toEqual([]);
  });

  test('changed in the period: its beginning is inside, its end is not', async () => {
    const ids = [
      (await attempted('pending')).id,
      (await anAcceptedPayment(database.db, { mode: 'manual' })).id,
    ].toSorted();
    expect([await orders(NOW), await orders(LATER, LATER), (await orders(LATER, NOW)).toSorted()]).toEqual([
      [],
      [],
      ids,
    ]);
  });

  test('an order that may still be created and charged by its token says so', async () => {
    await aStoredOrder(database.db, BY_TOKEN);
    await attempted('error');
    const found = await due('attempts');
    expect(found.map(({ row }) => `${row.is_being_created}`).toSorted()).toEqual(['false', 'true']);
  });

  test.each<[SourceName, () => Promise<OrderSnapshot>]>([
    ['attempts', () => attempted('pending')],
    ['authorizations', () => anAcceptedPayment(database.db, { mode: 'manual' })],
  ])('%s are checked twice, and then left to their deadline', async (source, make) => {
    await make();
    await expectDue(source, { from: NOW, at: [0, 4], until: 120 });
  });

  test.each<[SourceName, () => Promise<OrderSnapshot>, (order: OrderSnapshot) => number]>([
    ['unknown_outcomes', () => attempted('processing'), () => NOW],
    ['expired_orders', () => aStoredOrder(database.db, { transaction: false }), ({ expires_at }) => expires_at],
    ['expired_transactions', () => aStoredOrder(database.db), ({ transactions }) => transactions[0]!.expires_at],
    ['expired_transactions', () => attempted('pending'), ({ transactions }) => transactions[0]!.expires_at],
    ['capture_windows', () => anAcceptedPayment(database.db, { mode: 'manual' }), () => CAPTURE_END],
  ])('rules 10.13: %s are checked from their instant on, in the end every hour', async (source, make, instantOf) => {
    const instant = instantOf(await make());
    expect(await due(source, instant)).toEqual([]);
    await expectDue(source, { from: instant, at: [0, 4, 14, 29, 59, 119, 179], until: 180 });
  });

  test('rules 10.13: after a day every six hours, and 45 days later never', async () => {
    await attempted('processing');
    await expectDue('unknown_outcomes', { from: NOW + 23 * HOUR, at: [0, 6, 12, 18, 24], until: 25, unit: HOUR });
    expect(await due('unknown_outcomes', NOW + 46 * DAY, NOW + 45 * DAY)).toEqual([]);
  });

  test('nobody checked for hours: the last check that was missed is made, once, as the first', async () => {
    await attempted('processing');
    expect(await due('unknown_outcomes', NOW + 5 * HOUR, NOW)).toMatchObject([{ is_first: true }]);
    expect(await due('unknown_outcomes', NOW + 5 * HOUR, LATER)).toMatchObject([{ is_first: false }]);
  });
});

describe('follow_ups', () => {
  const payment = (kind: FollowUpKind) =>
    anAcceptedPayment(database.db, { mode: kind === 'capture' || kind === 'void' ? 'manual' : 'sale' });
  const followUps = async (until?: number) => (await due('follow_ups', until)).map(({ row }) => row);

  test.each(['capture', 'void', 'refund', 'reversal'] as const)(
    '%s: while it is new or processing, with all that its workflow needs and no more',
    async (kind) => {
      const original = await payment(kind);
      const follow_up = aFollowUp(original, {
        kind,
        amount: 40,
        requested_by: kind === 'reversal' ? 'service' : 'merchant',
      });
      const order = await insertFollowUp(database.db, follow_up);
      const { id, requested_by, original_order_id, original_transaction_id } = follow_up;
      const expected = {
        id,
        project_id: PROJECT.id,
        kind,
        requested_by,
        amount: 40,
        original_order_id,
        original_transaction_id,
        clock_offset_ms: 0,
      };
      expect([await followUps(NOW), await followUps()]).toEqual([[], [expected]]);
      const asked = await answerFollowUp(database.db, follow_up, order, 'processing', NOW + SECOND);
      expect([await followUps(NOW + SECOND), await followUps(NOW + SECOND + 1)]).toEqual([[], [expected]]);
      await answerFollowUp(database.db, follow_up, asked, 'approved', NOW + 2 * SECOND);
      expect(await followUps(NOW + 9 * SECOND)).toEqual([]);
    },
  );

  test('none that the processor made by itself: it is final as soon as it is written', async () => {
    await insertFollowUp(database.db, aFollowUp(await payment('chargeback'), { kind: 'chargeback' }));
    expect(await followUps()).toEqual([]);
  });

  test('no payment order', async () => {
    await attempted('processing');
    expect(await followUps()).toEqual([]);
  });
});

describe('deliveries', () => {
  const deliveries = async (until?: number) => (await due('deliveries', until)).map(({ row }) => row);

  test('those whose next attempt was due, the longest overdue first', async () => {
    const { id: order_id } = await attempted('pending', 'accepted');
    const [first, second] = [1, 2].map((n) => ({ order_id, n, project_id: PROJECT.id }));
    expect([await deliveries(NOW), await deliveries()]).toEqual([[], [first, second]]);
    await database
      .db('webhook_deliveries')
      .where({ order_id, n: 1 })
      .update({ next_attempt_at: new Date(NOW + 2 * MINUTE) });
    expect(await deliveries()).toEqual([second]);
    expect(await deliveries(NOW + 2 * MINUTE + 1)).toEqual([second, first]);
  });

  test.each(['delivered', 'failed'])('none that is %s', async (status) => {
    const { id: order_id } = await attempted('accepted');
    await database.db('webhook_deliveries').where({ order_id }).update({ status, next_attempt_at: null });
    expect(await deliveries()).toEqual([]);
  });
});

describe('payment links', () => {
  test.each([
    ['new', []],
    ['processing', [0, 4]],
    ['all_unsuccessful', [0, 4]],
    ['completed', []],
  ] as const)('%s: checked twice once it was tried, and from its end on', async (status, changed) => {
    await paymentLinks(1, status);
    await expectDue('payment_links', { from: NOW, at: changed, until: 120 });
    const expired = status === 'completed' ? [] : [0, 4, 14, 29, 59, 119];
    await expectDue('expired_payment_links', { from: NOW + DAY, at: expired, until: 120 });
  });
});

describe('pages', () => {
  test('follow one another: each row once, rows of one instant too', async () => {
    await manyOrders(25);
    await database
      .db('orders')
      .update({ modified: new Date(NOW) })
      .whereRaw(`modified < ?`, [new Date(NOW + 10)]);
    const found: string[] = [];
    let after: PagePosition | null = null;
    for (;;) {
      const page: Check<'attempts'>[] = await findChecks(database.db, 'attempts', {
        since: 0,
        until: NOW + SECOND,
        after,
        limit: 4,
      });
      found.push(...page.map(({ row }) => row.order_id));
      after = page.at(-1)?.position ?? null;
      if (page.length < 4) break;
    }
    expect([found.length, new Set(found).size]).toEqual([25, 25]);
  });

  test('where a round is, and how far each source was checked, is stored', async () => {
    const position = ['2', new Date(NOW).toISOString(), 'k'];
    await saveProgress(database.db, {
      attempts: { checked_until: NOW, round_until: LATER, position },
      follow_ups: { checked_until: NOW, round_until: null, position: null },
    });
    await saveProgress(database.db, { follow_ups: { checked_until: LATER, round_until: null, position: null } });
    expect(await findProgress(database.db)).toEqual({
      attempts: { checked_until: NOW, round_until: LATER, position },
      follow_ups: { checked_until: LATER, round_until: null, position: null },
    });
  });
});

const INDEXES: Record<SourceName, string> = {
  attempts: 'orders_open',
  expired_orders: 'orders_open_expires_at',
  expired_transactions: 'transactions_open_expires_at',
  unknown_outcomes: 'transactions_processing',
  authorizations: 'transactions_reserved',
  capture_windows: 'transactions_capture_windows',
  follow_ups: 'orders_follow_ups_open',
  late_approvals: 'late_approval_watches_poll_at',
  announced_operations: 'announced_operations_announced',
  payment_links: 'payment_links_open',
  expired_payment_links: 'payment_links_open_expires_at',
  deliveries: 'webhook_deliveries_open',
  webhook_recoveries: 'webhook_recoveries_running',
  erasures: 'erasures_running',
  sandbox_clocks: 'sandbox_clocks_modified',
};

test('rows that are not due cost nothing: an index of its own finds the others', async () => {
  await manyOrders(3_000, 'completed');
  await manyOrders(3_000, 'processing');
  await database.db.raw(
    `insert into webhook_deliveries (order_id, n, url, status, created) select id, 1, 'https://shop.example/', 'delivered', created from orders;
     insert into late_approval_watches (transaction_id, poll_at, began) select id, created, created from transactions;
     insert into announced_operations
       select gen_random_uuid(), 'chargeback', 'by the issuer', order_id, id, created from transactions;
     insert into webhook_recoveries (id, project_id, since, until, status, request_id, created, modified, completed)
       select gen_random_uuid(), project_id, created, created, 'completed', id, created, created, created from orders;
     insert into erasures (id, project_id, subject, created, modified, completed)
       select gen_random_uuid(), project_id, 'order_id:' || id, created, created, created from orders;
     insert into sandbox_clocks (id, project_id, modified) select gen_random_uuid(), project_id, created from orders`,
  );
  await paymentLinks(3_000, 'completed');
  await paymentLinks(3_000, 'processing');
  await anAcceptedPayment(database.db, { mode: 'manual' });
  await database.db.raw('analyze');
  for (const name of SOURCE_NAMES) {
    const plan = await planOf(database, () => due(name, NOW + DAY, NOW + DAY - MINUTE));
    expect(plan).toContain(`"${INDEXES[name]}"`);
    expect(plan).not.toMatch(
      /"Seq Scan"[^}]*"Relation Name":"(orders|transactions|webhook_deliveries|late_approval_watches|payment_links)"/,
    );
  }
});

/** Payment links, changed at NOW and open for a day after it. */
async function paymentLinks(count: number, status: PaymentLinkStatus): Promise<void> {
  await queryRows(
    database.db,
    `insert into payment_links (id, project_id, merchant_order_id, amount, currency, expiration_period, expires_at, status, attempts,
                                completed_order_id, created, modified, completed)
     select gen_random_uuid(), :project_id, 'A-1', 1, 'EUR', 'P1D', :now::timestamptz + interval '1 day', :status, case when :status = 'new' then 0 else 1 end,
            case when :status = 'completed' then gen_random_uuid() end, :now, :now, case when :status = 'completed' then :now::timestamptz end
     from generate_series(1, :count)`,
    { project_id: PROJECT.id, status, count, now: new Date(NOW).toISOString() },
  );
}

/** Orders at the issuer, one changed in each millisecond after NOW; or as many that are completed. */
async function manyOrders(count: number, status: OrderStatus = 'processing'): Promise<void> {
  await queryRows(
    database.db,
    `with o as (
       insert into orders (id, clock_id, project_id, currency, amount, status, attempts_max, charged_by, expiration_period, expires_at, created, modified, completed)
       select gen_random_uuid(), gen_random_uuid(), :project_id, 'EUR', 1, :status, 5, 'customer', 'PT30M', :now, :now, :now::timestamptz + n * interval '1 millisecond', case when :status = 'completed' then :now::timestamptz end
       from generate_series(1, :count) n returning id
     )
     insert into transactions (id, order_id, attempt, amount, currency, payment_method, method_chosen_by, credit_debit, status, created, modified)
     select gen_random_uuid(), id, 1, 1, 'EUR', 'credit-card', 'customer', 'credit', case when :status = 'completed' then 'accepted' else 'pending' end, :now, :now from o`,
    { project_id: PROJECT.id, status, count, now: new Date(NOW).toISOString() },
  );
}

describe('sandbox_clocks', () => {
  const clocks = async (until?: number) => (await due('sandbox_clocks', until)).map(({ row }) => row.clock_id);
  const clockOf = async (clock_id: string) => {
    const begin = { request_id: 'r', advance: { advance_ms: MINUTE }, now: NOW };
    const { n, to_offset_ms } = (await beginAdvance(database.db, { clock_id, project_id: PROJECT.id }, begin))!;
    return { n, to_offset_ms, clock_id };
  };

  test('those with an advance under way, and those by which something waits', async () => {
    const open = await aStoredOrder(database.db, { transaction: false });
    const { n, to_offset_ms } = await clockOf(open.id);
    expect([await clocks(NOW), await clocks()]).toEqual([[], [open.id]]);
    await setClock(database.db, { clock_id: open.id, offset_ms: to_offset_ms, now: NOW });
    await finishAdvance(database.db, { clock_id: open.id, n });
    expect(await clocks()).toEqual([open.id]);
    await moveOrder(database.db, open, { ended: 'expired' }, { source: 'service', now: NOW });
    await database.db.raw(`update webhook_deliveries set status = 'delivered', next_attempt_at = null`);
    expect(await clocks()).toEqual([]);
  });
});
