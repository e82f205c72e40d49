import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { AuditPart } from '../../activities/audit';
import { countOpenIncidents, findIncident, listIncidents, type StoredIncident } from '../../src/db/audit/incidents';
import { connectDatabase } from '../../src/db/connection';
import type { Database } from '../../src/db/query';
import { connectSearch } from '../../src/search/connection';
import { INDEX } from '../../src/search/settings';
import { incidentWorkflowId } from '../../workflows/messages';
import { recordRows } from '../support/database';
import { Merchant } from '../support/merchant';
import { capturePart, createAuthorization, part, refund, untilFollowUp, voidAll } from '../support/merchant-payments';
import { answerOfAdmin } from '../support/admin';
import { startReceiver, type Receiver } from '../support/servers';
import { idle, OwnStack, postControl, type RunningStack } from '../support/stack';
import { inNamespace, temporalOf } from '../support/temporal-client';
import { until } from '../support/waits';

/** The audit on a stack of its own, whose record, processor and index get differences by hand. */

const SECRET = 'whsec_b3BlcmF0b3Igd2ViaG9vayBvZiB0aGUgdGVzdHM=';
let receiver: Receiver;
const own = new OwnStack(
  'audit',
  async () => ({
    ...(await inNamespace('audit')),
    AUDIT_MARGIN_SECONDS: '0',
    OPERATOR_WEBHOOK_URL: receiver.url,
    OPERATOR_WEBHOOK_SECRET: SECRET,
  }),
  idle('manage'),
);
let running: RunningStack;
let db: Database;
let merchant: Merchant;
let temporal: ReturnType<typeof temporalOf>;

beforeAll(async () => {
  receiver = await startReceiver();
  running = await own.start();
  db = connectDatabase(running.postgres_url, { pool_max: 2 });
  merchant = new Merchant(running);
  temporal = temporalOf(running);
  // Its own hourly run would find what these tests look for. A paused schedule can still be triggered.
  const pause = () => temporal.schedule.getHandle('audit').pause();
  await until('the schedule is paused', () =>
    pause().then(
      () => true,
      () => false,
    ),
  );
});
afterAll(async () => {
  await temporal?.connection.close();
  await db?.destroy();
  await own.discard();
  await receiver?.close();
});

/** Triggers the schedule, and returns the workflow that it starts. */
async function trigger() {
  const schedule = temporal.schedule.getHandle('audit');
  const runs = async () => {
    const { recentActions, runningActions } = (await schedule.describe()).info;
    return [...recentActions.map(({ action }) => action.workflow), ...runningActions.map(({ workflow }) => workflow)];
  };
  const before = new Set((await runs()).map(({ firstExecutionRunId }) => firstExecutionRunId));
  await schedule.trigger();
  const workflow = await until('the schedule has started the audit', async () =>
    (await runs()).find(({ firstExecutionRunId }) => !before.has(firstExecutionRunId)),
  );
  return temporal.workflow.getHandle(workflow.workflowId, workflow.firstExecutionRunId);
}

const runAudit = async () => (await (await trigger()).result()) as AuditPart['figures'];
const NOTHING = { opened: 0, closed: 0, index_differences: 0 };

/** A statement on the record, or on the processor's database. */
const inRecord = <Row>(sql: string, bindings = {}) => recordRows<Row>(sql, bindings, running);
const atProcessor = <Row>(sql: string, bindings = {}) =>
  recordRows<Row>(sql, bindings, { ...running, database: 'simulator' });

const openIncidents = async () => (await listIncidents(db, { is_open: true }, { limit: 100 })).items;
const kindsOf = (incidents: readonly StoredIncident[]) => incidents.map(({ kind }) => kind).toSorted();
const transactionOf = (order: { transactions?: { id: string }[] | undefined }) => order.transactions![0]!.id;

async function untilIndexed(): Promise<void> {
  // Without recent searches the indexer gathers changes for ten seconds.
  await merchant.send('POST', '/v1/search/orders/', { body: { query: '*', size: 1 } });
  await until('the index has every change', async () => (await inRecord('select 1 from search_outbox')).length === 0);
}

/** One order of every kind, with nothing under way at the end. */
async function everyKindOfOrder(): Promise<void> {
  await Promise.all([
    merchant.paidOrder('approved', { amount: 1_000 }).then((paid) => refund(merchant, paid, { amount: 400 })),
    merchant.paidOrder('do_not_honor'),
    merchant.paidOrder('capture_refused'),
    merchant.createOrder().then(({ id }) => merchant.cancelOrder(id)),
    createAuthorization(merchant).then(async (held) => {
      await capturePart(merchant, held, part(300));
      await voidAll(merchant, held);
    }),
  ]);
  const back = await merchant.paidOrder('chargeback_won');
  const { id } = await merchant.paidOrder('processing_approved');
  await postControl(running, 'due', {});
  await Promise.all([untilFollowUp(merchant, back, 'is-chargeback'), merchant.untilStatus(id, 'completed')]);
  await postControl(running, 'due', {});
  await untilFollowUp(merchant, back, 'is-reversal');
  await settleAll();
}

async function settleAll(): Promise<void> {
  const unsettled = `select 1 from transactions t join orders o on o.id = t.order_id
    where t.status = 'accepted' and o.kind not in ('void') and t.capture_mode is null and t.settlement_amount is null`;
  await until('everything is settled', async () => {
    if ((await inRecord(unsettled)).length === 0) return true;
    // Again, as orders may be made meanwhile.
    await postControl(running, 'settlements', {});
    return false;
  });
}

test('rules 26.3: after orders of every kind the audit finds nothing, and a second run compares only what is new', async () => {
  await everyKindOfOrder();
  await untilIndexed();
  const first = await runAudit();
  expect(first).toMatchObject({ ...NOTHING, in_flight: 0 });
  expect(first.orders).toBeGreaterThan(7);
  const second = await runAudit();
  expect(second).toMatchObject(NOTHING);
  expect(second.orders).toBeLessThan(first.orders);
  expect(await openIncidents()).toEqual([]);
});

describe('rules 26.3, 26.4, 26.5 and 26.7: seven differences', () => {
  /** Makes a difference, and returns how it is mended. */
  const PLANTED: Record<string, () => Promise<() => Promise<() => Promise<unknown>>>> = {
    async missing_in_record() {
      const { id } = await merchant.paidOrder('approved', { amount: 101 });
      const tables = {
        orders: 'id = :id',
        transactions: 'order_id = :id',
        transaction_events: 'transaction_id in (select id from transactions where order_id = :id)',
      };
      return async () => {
        const kept: [string, object[]][] = [];
        for (const [table, where] of Object.entries(tables)) {
          kept.push([
            table,
            await inRecord<object>(`select row_to_json(x) as row from ${table} x where ${where}`, { id }),
          ]);
        }
        for (const [table, where] of Object.entries(tables).toReversed()) {
          await inRecord(`delete from ${table} where ${where}`, { id });
        }
        return async () => {
          for (const [table, rows] of kept) {
            const json = JSON.stringify(rows.map((one) => (one as { row: object }).row));
            const from = `select * from json_populate_recordset(null::${table}, :rows::json)`;
            await inRecord(`insert into ${table} overriding system value ${from}`, { rows: json });
          }
        };
      };
    },
    async amount() {
      const id = transactionOf(await merchant.paidOrder('approved', { amount: 102 }));
      const add = (amount: number) =>
        inRecord(
          'update transactions set amount = amount + :amount, captured_amount = captured_amount + :amount where id = :id',
          {
            id,
            amount,
          },
        );
      return async () => {
        await add(7);
        return () => add(-7);
      };
    },
    async status() {
      const id = transactionOf(await merchant.paidOrder('do_not_honor', { amount: 103 }));
      const set = (result: string) =>
        atProcessor('update operations set result = :result where transaction_id = :id', { id, result });
      return async () => {
        await set('approved');
        return () => set('declined');
      };
    },
    async double_charge() {
      const id = transactionOf(await merchant.paidOrder('approved', { amount: 104 }));
      return async () => await planted(id, 'sale', 104);
    },
    async refund_too_large() {
      const id = transactionOf(await merchant.paidOrder('approved', { amount: 105 }));
      return async () => await planted(id, 'refund', 106);
    },
    async settlement() {
      const id = transactionOf(await merchant.paidOrder('approved', { amount: 10_600 }));
      await settleAll();
      const set = (row: Record<string, unknown>) =>
        inRecord(
          `update transactions set settlement_amount = :settlement_amount, settlement_currency = :settlement_currency,
             fee_amount = :fee_amount, fee_currency = :fee_currency where id = :id`,
          { id, ...row },
        );
      const columns = 'settlement_amount, settlement_currency, fee_amount, fee_currency';
      const [kept] = await inRecord<Record<string, unknown>>(`select ${columns} from transactions where id = :id`, {
        id,
      });
      return async () => {
        await set(Object.fromEntries(columns.split(', ').map((column) => [column, null])));
        return () => set(kept!);
      };
    },
  };

  /** Adds an approved operation to those that the processor has of a transaction. */
  async function planted(transaction_id: string, operation: string, amount: number): Promise<() => Promise<unknown>> {
    const key = `planted:${randomUUID()}`;
    const order_id = operation === 'refund' ? randomUUID() : null;
    await atProcessor(
      `insert into operations (idempotency_key, operation, order_id, transaction_id, follow_up_order_id, project_id, is_test,
         amount, currency, result, response_code, occurred)
       select :key, :operation, order_id, transaction_id, cast(:order_id as uuid), project_id, is_test, cast(:amount as bigint),
         currency, 'approved', '00', clock_timestamp()
       from operations where transaction_id = :transaction_id and operation = 'sale' limit 1`,
      { key, operation, amount, order_id, transaction_id },
    );
    return () => atProcessor('delete from operations where idempotency_key = :key', { key });
  }

  const KINDS = Object.keys(PLANTED).toSorted();
  let mend: (() => Promise<unknown>)[];
  let found: StoredIncident[];
  let broken: { pk: string };
  const index = () => connectSearch(running.search_server, 'set-up').index(INDEX);
  const documentOf = async (pk: string) =>
    (await index().getDocuments<{ pk: string; amount: number }>({ ids: [pk] })).results[0];

  test('a run before them finds nothing; then they are made', async () => {
    const plant = await Promise.all(Object.values(PLANTED).map((prepare) => prepare()));
    await untilIndexed();
    expect(await runAudit()).toMatchObject(NOTHING);
    receiver.received.splice(0);
    const { id } = await merchant.paidOrder('approved', { amount: 107 });
    await untilIndexed();
    broken = { pk: `${id}_0` };
    await index()
      .updateDocuments([{ ...broken, amount: 1 }])
      .waitTask({ timeout: 60_000 });
    expect((await documentOf(broken.pk))!.amount).toBe(1);
    mend = [];
    for (const one of plant) mend.push(await one());
  });

  test('the next run finds each once: six incidents, and an order in the index that is written again', async () => {
    expect(await runAudit()).toMatchObject({ opened: KINDS.length, closed: 0, index_differences: 1 });
    found = await openIncidents();
    expect(kindsOf(found)).toEqual(KINDS);
    const amounts = found.map(
      ({ kind, record_amount, processor_amount }) => `${kind} ${record_amount} ${processor_amount}`,
    );
    expect(amounts.toSorted()).toEqual([
      'amount 109 102',
      'double_charge 104 208',
      'missing_in_record 0 101',
      'refund_too_large 0 106',
      'settlement 0 10432',
      'status 0 103',
    ]);
    expect(await countOpenIncidents(db)).toEqual(KINDS.map((kind) => ({ kind, count: 1 })));
    await untilIndexed();
    await until('the index is right again', async () => (await documentOf(broken.pk))?.amount === 107);
  });

  test('each has a workflow with Attention and a signed event to the operator', async () => {
    const events = await receiver.waitFor(found.length);
    const told = events.map(({ headers, body }) => new Webhook(SECRET).verify(body, headers as Record<string, string>));
    expect(told).toHaveLength(found.length);
    expect(told).toEqual(
      expect.arrayContaining(
        found.map(({ id, kind, project_id }) => ({ event: 'incident_opened', incident_id: id, kind, project_id })),
      ),
    );
    for (const { id, kind } of found) {
      const { searchAttributes, status } = await temporal.workflow.getHandle(incidentWorkflowId(id)).describe();
      expect([status.name, searchAttributes['Attention']]).toEqual([
        'RUNNING',
        [`the record and the processor differ: ${kind}`],
      ]);
    }
  });

  test('rules 26.6: an operator closes one, whose workflow ends with an event', async () => {
    const { id } = found.find(({ kind }) => kind === 'status')!;
    const where = { data_dir: own.data_dir };
    expect(await answerOfAdmin(['incidents', 'show', id], where)).toMatchObject({ kind: 'status', status: 'open' });
    const close = ['incidents', 'close', id, '--reason', 'Known to the bank, ticket 42'];
    expect(await answerOfAdmin(close, where)).toMatchObject({ status: 'closed', closed_by: 'operator' });
    expect(await answerOfAdmin(close, where)).toMatchObject({ error: 'Conflict' });
    const { items } = await answerOfAdmin<{ items: object[] }>(['audit', 'list', '--object', id], where);
    expect(items).toMatchObject([{ action: 'incident.close', after: { reason: 'Known to the bank, ticket 42' } }]);
    expect(await temporal.workflow.getHandle(incidentWorkflowId(id)).result()).toBe('closed');
    const [closed] = receiver.received.splice(0).slice(found.length);
    expect(JSON.parse(closed!.body)).toMatchObject({ event: 'incident_closed', incident_id: id });
    found = found.filter((one) => one.id !== id);
  });

  test('a further run finds nothing new, nor what the operator closed', async () => {
    expect(await runAudit()).toMatchObject(NOTHING);
    expect((await openIncidents()).map(({ id }) => id)).toEqual(found.map(({ id }) => id));
  });

  test('a lost workflow of an incident is started again, and sends nothing twice', async () => {
    const handle = temporal.workflow.getHandle(incidentWorkflowId(found[0]!.id));
    await handle.terminate('by mistake');
    expect(await runAudit()).toMatchObject(NOTHING);
    expect((await handle.describe()).status.name).toBe('RUNNING');
    expect(receiver.received).toEqual([]);
  });

  test('once they are mended the next run closes each, and says so', async () => {
    for (const one of mend) await one();
    expect(await runAudit()).toMatchObject({ opened: 0, closed: found.length });
    expect(await openIncidents()).toEqual([]);
    const events = await receiver.waitFor(found.length);
    const closed = events.map(({ body }) => JSON.parse(body) as { event: string });
    expect(closed.map(({ event }) => event)).toEqual(found.map(() => 'incident_closed'));
    for (const { id } of found) {
      expect(await temporal.workflow.getHandle(incidentWorkflowId(id)).result()).toBe('closed');
      expect(await findIncident(db, id)).toMatchObject({
        closed_by: 'audit',
        opened_event: 'sent',
        closed_event: 'sent',
      });
    }
    expect(await runAudit()).toMatchObject(NOTHING);
  });
});
