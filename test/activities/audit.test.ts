import { MockActivityEnvironment } from '@temporalio/testing';
import pino from 'pino';
import { auditSlice, auditPart } from '../../activities/audit';
import type { ActivityServices } from '../../activities/services';
import { NO_FIGURES, beginAuditRun, findAuditRun, type AuditRun } from '../../src/db/audit/audit-progress';
import { listIncidents } from '../../src/db/audit/incidents';
import { beginRestore } from '../../src/db/backups/restores';
import type { ReportedOperation } from '../../src/processor/wire';
import { createTestDatabase } from '../support/database';
import { MINUTE, PROJECT, transactionIdOf } from '../support/domain';
import { writeOrders } from '../support/rows';
import { setUp } from '../support/set-up';
import { errorsOnly } from '../support/temporal';
import { NOBODY } from '../support/shapes';
import { until } from '../support/waits';

const DAY = 24 * 60 * MINUTE;
const NOON = Date.UTC(2026, 0, 15, 12);
/** Of the orders that writeOrders makes. */
const CREATED = '2026-01-15T12:00:00.123Z';

const database = setUp(() => createTestDatabase());
beforeEach(async () => {
  operations = [];
  added = 0n;
  for (const table of ['incidents', 'audit_progress', 'transaction_events', 'transactions', 'orders']) {
    await database.db(table).delete();
  }
});

/** What the processor reports, in pages as it does; `added`: what its totals have too much. */
let operations: ReportedOperation[] = [];
let added = 0n;
const happenedIn = ({ since, until }: { since: number; until: number }) =>
  operations.filter(({ occurred }) => Date.parse(occurred) >= since && Date.parse(occurred) < until);
const processor: Pick<ActivityServices['processor'], 'operations' | 'totals' | 'settlements'> = {
  async operations(of, after) {
    const found =
      'order_ids' in of ? operations.filter(({ order_id }) => of.order_ids.includes(order_id)) : happenedIn(of);
    return found.filter(({ number }) => number > after).slice(0, 250);
  },
  async totals(period) {
    const approved = happenedIn(period).reduce((sum, { amount }) => sum + BigInt(amount), 0n);
    const of = { project_id: PROJECT.id, operation: 'sale', currency: 'EUR', settlement_amount: 0n, fee_amount: 0n };
    return approved === 0n ? [] : [{ ...of, amount: approved + added }];
  },
  settlements: async () => [],
};

const started: string[] = [];
const services = () =>
  ({
    db: database.db,
    processor,
    index: { documents: async () => [] },
    workflows: {
      incidents: {
        start: async ({ incident_id }: { incident_id: string }) => void started.push(incident_id),
        resume: async () => undefined,
      },
    },
    log: pino({ level: 'silent' }),
    audit_margin_ms: 0,
    audit_orders_per_second: 100_000,
  }) as unknown as ActivityServices;

const sale = (order_id: string, number: number, amount: number): ReportedOperation => ({
  number,
  operation: 'sale',
  idempotency_key: `k${number}`,
  order_id,
  transaction_id: transactionIdOf(order_id, 1),
  project_id: PROJECT.id,
  amount,
  currency: 'EUR',
  result: 'approved',
  occurred: CREATED,
});

/** So many paid orders, on both sides. */
async function paidOrders(count: number, amount = 1_250): Promise<void> {
  const transactions = [{ captured_amount: amount }];
  const ids = await writeOrders(
    database.db,
    Array.from({ length: count }, () => ({ amount, transactions })),
  );
  operations = ids.map((id, n) => sale(id, n + 1, amount));
}

/** The SQL statements of each slice of a run, by step; `noon`: about when what it compares has changed. */
async function statementsOfRun(noon = NOON): Promise<[string, number][]> {
  const counts: [string, number][] = [];
  let run: AuditRun = await beginAuditRun(database.db, {
    began: noon + DAY,
    since: noon - MINUTE,
    until: noon + MINUTE,
  });
  while (run.finished === null) {
    database.forget();
    const { step } = run;
    run = await auditSlice(services(), run, noon + DAY);
    counts.push([step, database.statements.length]);
  }
  return counts;
}

test('rules 26.2: a slice has a fixed number of SQL statements, whatever the number of its orders', async () => {
  await paidOrders(2);
  const few = new Map(await statementsOfRun());
  await database.db('audit_progress').delete();
  await database.db('transaction_events').delete();
  await database.db('transactions').delete();
  await database.db('orders').delete();
  await paidOrders(240);
  const many = new Map(await statementsOfRun());
  expect([...many]).toEqual([...few]);
  expect(Math.max(...many.values())).toBeLessThanOrEqual(10);
});

test('rules 26.2: more orders than a slice has are compared slice by slice, each once', async () => {
  await paidOrders(600);
  const steps = (await statementsOfRun()).map(([step]) => step);
  expect(steps.filter((step) => step === 'operations')).toHaveLength(3);
  expect(steps.filter((step) => step === 'changed')).toHaveLength(3);
  expect((await findAuditRun(database.db))!.figures).toMatchObject({ orders: 1_200, opened: 0, in_flight: 0 });
});

test('rules 26.2: an order whose settlement waits for more than a day is compared long after its payment', async () => {
  await paidOrders(1);
  const settlement = {
    number: 1,
    settlement_currency: 'EUR',
    settlement_amount: 1_213,
    fee_currency: 'EUR',
    fee_amount: 37,
  };
  operations = operations.map((one) => ({ ...one, settlement }));
  const { db } = database;
  const { fee_amount: _without_fee, ...incomplete } = settlement;
  const { transaction_id } = operations[0]!;
  await db('open_settlements').insert({ ...incomplete, transaction_id, fetched: new Date(NOON + 2 * DAY) });
  await db('settlement_progress').update({ last_number: 1 });
  await statementsOfRun(NOON + 2.5 * DAY);
  expect(await listIncidents(db, {}, { limit: 10 })).toEqual({ items: [] });
  await statementsOfRun(NOON + 4 * DAY);
  expect((await listIncidents(db, {}, { limit: 10 })).items).toMatchObject([{ kind: 'settlement' }]);
  await db('open_settlements').delete();
  await db('settlement_progress').update({ last_number: 0 });
});

test('rules 26.4: a total that is not the sum of the operations is an incident; it closes once it is right', async () => {
  await paidOrders(3);
  added = 1n;
  await statementsOfRun();
  const { items } = await listIncidents(database.db, {}, { limit: 10 });
  expect(items).toMatchObject([{ kind: 'sum', record_amount: 3_750, processor_amount: 3_751, order_id: null }]);
  expect(started).toContain(items[0]!.id);
  added = 0n;
  await statementsOfRun();
  expect(await listIncidents(database.db, { is_open: true }, { limit: 10 })).toEqual({ items: [] });
});

test('rules 26.4, 26.5: sums are compared to the minor unit, however large they are', async () => {
  // Their sum is above what Postgres holds as bigint.
  await paidOrders(1_100, Number.MAX_SAFE_INTEGER);
  await statementsOfRun();
  expect(await listIncidents(database.db, {}, { limit: 10 })).toEqual({ items: [] });
  added = 1n;
  await statementsOfRun();
  const { items } = await listIncidents(database.db, {}, { limit: 10 });
  const [most, sum] = [Number.MAX_SAFE_INTEGER, 1_100n * BigInt(Number.MAX_SAFE_INTEGER)];
  expect(items).toMatchObject([{ kind: 'sum', record_amount: most, processor_amount: most }]);
  expect(items[0]!.description).toContain(` is ${sum + 1n}; the sum of its operations is ${sum}.`);
});

const anEnvironment = () =>
  new MockActivityEnvironment({ scheduledTimestampMs: Date.now() + MINUTE }, { logger: errorsOnly });

test('rules 28.1: what a restored record has lost is no difference until it is reconciled', async () => {
  await paidOrders(1);
  await database.db.raw('delete from transaction_events; delete from transactions; delete from orders');
  const { db } = database;
  const part = () => anEnvironment().run(() => auditPart(services(), { now: NOON + DAY }));
  await db.transaction((trx) => beginRestore(trx, NOBODY, NOON, new Date(NOON)));
  await expect(part()).resolves.toEqual({ is_finished: true, figures: NO_FIGURES });
  expect(await findAuditRun(db)).toBeUndefined();
  await db('restores').update({ reconciled: new Date(NOON) });
  await expect(part()).resolves.toMatchObject({ is_finished: true, figures: { opened: 1 } });
  await db('restores').delete();
});

test('rules 28.1: a restore that begins during a run ends it before its next slice', async () => {
  await paidOrders(1);
  const { db } = database;
  let asked = 0;
  const restoring: typeof processor = {
    ...processor,
    async operations(of, after) {
      asked += 1;
      if (asked === 1) await db.transaction((trx) => beginRestore(trx, NOBODY, NOON, new Date(NOON)));
      return await processor.operations(of, after);
    },
  };
  const ended = anEnvironment().run(() =>
    auditPart({ ...services(), processor: restoring } as ActivityServices, { now: NOON + DAY }),
  );
  await expect(ended).resolves.toMatchObject({ is_finished: true });
  // Only the first step of the run was taken.
  expect(await findAuditRun(db)).toMatchObject({ step: 'changed', finished: null });
  await db('restores').delete();
});

test('rules 26.2: a run covers all that has changed since the last one; the first of a day all of yesterday too', async () => {
  const part = async (now: number) => {
    await anEnvironment().run(() => auditPart(services(), { now }));
    const { since, until } = (await findAuditRun(database.db))!;
    return [since, until];
  };
  const midnight = Date.UTC(2026, 0, 15);
  expect(await part(NOON)).toEqual([midnight - DAY, NOON]);
  expect(await part(NOON + 60 * MINUTE)).toEqual([NOON, NOON + 60 * MINUTE]);
  expect(await part(midnight + DAY + MINUTE)).toEqual([midnight, midnight + DAY + MINUTE]);
  expect(await part(midnight + DAY + 5 * MINUTE)).toEqual([midnight + DAY + MINUTE, midnight + DAY + 5 * MINUTE]);
  // After an outage of days nothing is left out.
  expect(await part(NOON + 9 * DAY)).toEqual([midnight + DAY + 5 * MINUTE, NOON + 9 * DAY]);
});

test('rules 26.2: a slice that waits for the pace of the audit is reported again and again; the next try goes on after it', async () => {
  await paidOrders(10);
  const environment = anEnvironment();
  let reports = 0;
  environment.on('heartbeat', () => (reports += 1));
  // The first slice waits for ten seconds.
  const slow = { ...services(), audit_orders_per_second: 1 };
  const ended = environment.run(() => auditPart(slow, { now: NOON + MINUTE })).catch(() => undefined);
  await until('it is reported twice', () => reports >= 2);
  expect((await findAuditRun(database.db))!.figures.orders).toBe(10);
  environment.cancel();
  await ended;
  const next = anEnvironment().run(() => auditPart(services(), { now: NOON + 2 * MINUTE }));
  // Each order once as an operation and once as a changed order.
  await expect(next).resolves.toMatchObject({ is_finished: true, figures: { orders: 20 } });
  expect((await findAuditRun(database.db))!.began).toBe(NOON + MINUTE);
});
