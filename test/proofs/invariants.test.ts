import { rmSync } from 'node:fs';
import { v7 as uuidv7 } from 'uuid';
import { HISTORY_INVARIANTS, INVARIANTS } from '../../proofs/invariants';
import type { Evidence, WorkflowHistory } from '../../proofs/invariants/invariant';
import { hasLostTask, violationsIn } from '../../proofs/invariants/replay';
import { connectDatabase } from '../../src/db/connection';
import { queryRows, type Database } from '../../src/db/query';
import { insertFollowUp } from '../../src/db/orders/follow-ups';
import { prepareDatabase } from '../../src/simulator/schema';
import { PROJECT } from '../support/domain';
import { createTestDatabase } from '../support/database';
import { aFollowUp, anAcceptedPayment, answerFollowUp } from '../support/rows';
import { setUp } from '../support/set-up';
import { stack } from '../support/stack';

/**
 * A record and a ledger that are right, each broken in one place, in a transaction that is rolled back: the invariant
 * that guards it names what is wrong.
 */
const BREAKS: [invariant: string, where: 'record' | 'processor', sql: string, violation: RegExp][] = [
  [
    'one-charge',
    'processor',
    `insert into operations (idempotency_key, operation, order_id, transaction_id, project_id, is_test, amount, currency, result, occurred)
     select 'again', operation, order_id, transaction_id, project_id, is_test, amount, currency, 'declined', occurred
     from operations where operation = 'authorize'`,
    /was charged 2 times: authorize approved 100, authorize declined 100/,
  ],
  [
    'one-payment',
    'processor',
    `insert into operations (idempotency_key, operation, order_id, transaction_id, project_id, is_test, amount, currency, result, occurred)
     select 'again', operation, order_id, gen_random_uuid(), project_id, is_test, amount, currency, 'approved', occurred
     from operations where operation = 'authorize'`,
    /was paid 2 times/,
  ],
  [
    'captured-and-voided',
    'record',
    'update transactions set captured_amount = 41 where captured_amount = 40',
    /captured 41 and voided 0, by its orders 40 and 0/,
  ],
  [
    'refunded',
    'record',
    'update transactions set refunded_amount = 11 where refunded_amount = 10',
    /refunded 11, by its orders 10/,
  ],
  [
    'ledger-sums',
    'processor',
    `update operations set currency = 'USD'`,
    /authorize EUR: 100 in the record, 0 in the ledger/,
  ],
  [
    'ends',
    'record',
    `update transactions set capture_ends_at = now() - interval '2 minutes' where capture_mode is not null`,
    /holds 60, its window ended/,
  ],
  [
    'statuses',
    'record',
    `update orders set status = 'error', completed = null where kind = 'capture'`,
    /is error, by its transactions completed/,
  ],
  [
    'statuses',
    'record',
    `update transaction_events set event = 'expired' where event = 'accepted'`,
    /is accepted, by its events new → expired/,
  ],
  [
    'webhooks',
    'record',
    `with a as (delete from webhook_attempts where order_id in (select id from orders where kind = 'refund'))
     delete from webhook_deliveries where order_id in (select id from orders where kind = 'refund')`,
    /is completed after 1 changes, with 0 deliveries/,
  ],
  [
    'deliveries',
    'record',
    `update webhook_deliveries set status = 'new', next_attempt_at = now() - interval '2 minutes'`,
    /overdue since/,
  ],
  [
    'links',
    'record',
    `insert into payment_links (id, project_id, merchant_order_id, amount, currency, expiration_period, expires_at, status, attempts, created, modified)
     select gen_random_uuid(), id, 'L-1', 100, 'EUR', 'P30D', now(), 'all_unsuccessful', 2, now(), now() from projects`,
    /is all_unsuccessful with 2 attempts: 0 orders/,
  ],
  [
    'no-card-numbers',
    'record',
    `update orders set description = 'card 4111 1111 1111 1111' where kind = 'refund'`,
    /1 rows of public.orders \(record\)/,
  ],
];

/** An authorization of 100 of which 40 were captured and 10 refunded, with its webhooks delivered. */
async function aRightPlace(): Promise<Evidence & { close: () => Promise<void> }> {
  const { db: record, url, close } = await createTestDatabase();
  const payment = await anAcceptedPayment(record, { mode: 'manual' });
  for (const request of [{ kind: 'capture', amount: 40 } as const, { kind: 'refund', amount: 10 } as const]) {
    const follow_up = aFollowUp(payment, request);
    await answerFollowUp(record, follow_up, await insertFollowUp(record, follow_up), 'approved', follow_up.now);
  }
  await run(
    record,
    `update transactions set capture_ends_at = now() + interval '1 day' where capture_mode is not null`,
  );
  await run(record, `update webhook_deliveries set status = 'delivered', next_attempt_at = null`);
  await run(
    record,
    `insert into webhook_attempts (order_id, n, attempt, time_limit_ms, started, duration_ms, status_code)
     select order_id, n, 1, 4000, created, 5, 200 from webhook_deliveries`,
  );
  const processor_url = `${url}_processor`;
  await prepareDatabase(processor_url);
  const processor = connectDatabase(processor_url, { pool_max: 1 });
  const bookings = [
    ['authorize', 100],
    ['capture', 40],
    ['refund', 10],
  ] as const;
  for (const [operation, amount] of bookings) {
    await queryRows(
      processor,
      `insert into operations (idempotency_key, operation, order_id, transaction_id, project_id, is_test, amount, currency, result, occurred)
       values (:key, :operation, :order_id, :transaction_id, :project_id, true, :amount, 'EUR', 'approved', now())`,
      {
        key: uuidv7(),
        operation,
        order_id: payment.id,
        transaction_id: payment.transactions[0]!.id,
        project_id: PROJECT.id,
        amount,
      },
    );
  }
  return {
    stack: stack(),
    record,
    processor,
    close: async () => void (await Promise.all([close(), processor.destroy()])),
  };
}

const run = (db: Database, sql: string) => queryRows(db, sql);

const right = setUp(aRightPlace);

test.each(BREAKS)('%s: a violation in the %s is found', async (name, where, sql, violation) => {
  const invariant = INVARIANTS.find((one) => one.name === name)!;
  const broken = await right[where].transaction();
  const place = { ...right, [where]: broken };
  try {
    // One reads the logs meanwhile, which may take longer than a transaction may wait.
    await run(broken, 'set local idle_in_transaction_session_timeout = 0');
    expect(await invariant.violations(place)).toEqual([]);
    await run(broken, sql);
    expect((await invariant.violations(place)).join('\n')).toMatch(violation);
  } finally {
    await broken.rollback();
  }
});

test('replay: Temporal lost a task in which a local activity was begun, between the tasks of the history', () => {
  const at = (seconds: number) => ({ seconds: String(seconds), nanos: 500_000_000 });
  /** A task from 90.5 to 91.5, and one from 100.5 to 101.5 that records an activity. */
  const historyOf = (begun: number) => {
    const data = Buffer.from(JSON.stringify({ activity_type: 'readOrder', original_schedule_time: at(begun) }));
    const marker = { markerName: 'core_local_activity', details: { data: { payloads: [{ data }] } } };
    const events = [
      { eventTime: at(90), workflowTaskStartedEventAttributes: {} },
      { eventTime: at(91), workflowTaskCompletedEventAttributes: {} },
      { eventTime: at(100), workflowTaskStartedEventAttributes: {} },
      { eventTime: at(101), workflowTaskCompletedEventAttributes: {} },
      { eventTime: at(101), markerRecordedEventAttributes: { markerName: 'Version' } },
      { eventTime: at(101), markerRecordedEventAttributes: marker },
    ];
    return { history: { events } as unknown as WorkflowHistory['history'] };
  };
  // Begun in the first task it may have outlived that, as a slow call does.
  expect([90, 99, 101].map((begun) => hasLostTask(historyOf(begun)))).toEqual([false, true, false]);
});

test('replay: of two runs of a workflow the one that does not replay is named, and the other is not', () => {
  const runs = ['right', 'wrong'].map((run_id) => ({ workflow_id: 'order:1', run_id, history: {}, payloads: [] }));
  const found = violationsIn(runs, { wrong: 'why' }, undefined);
  expect(found).toEqual([expect.stringMatching(/^the history of order:1, run wrong \(\S+\), does not replay: why$/)]);
  rmSync(/\((\S+)\)/.exec(found[0]!)![1]!);
});

test('no-card-numbers: a violation in a payload of Temporal is found', async () => {
  const of = (payload: string) => [{ workflow_id: 'order-1', run_id: 'run-1', history: {}, payloads: ['{}', payload] }];
  const invariant = HISTORY_INVARIANTS.find(({ name }) => name === 'no-card-numbers')!;
  expect(await invariant.violations(of('card 4111 1111 1111 1234'), {})).toEqual([]);
  expect(await invariant.violations(of('card 4111 1111 1111 1111'), {})).toEqual([
    'a payload of order-1 holds a card number',
  ]);
});
