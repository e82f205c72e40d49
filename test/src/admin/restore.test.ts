import { v7 as uuidv7 } from 'uuid';
import type { ManageContext } from '../../../api/manage/manager';
import { RESTORE_COMMANDS } from '../../../src/admin/restore';
import { queryRows } from '../../../src/db/query';
import { moveOrder } from '../../../src/db/orders/move-order';
import { findOrderSnapshot } from '../../../src/db/orders/order-snapshot';
import { DAY_MS } from '../../../src/domain/period';
import { awaitsReconciliation, beginRestore, openRestore } from '../../../src/db/backups/restores';
import { searchRebuild } from '../../../src/db/search/search-outbox';
import type { TemporalClient } from '../../../src/temporal/connect';
import { createWorkflowClients } from '../../../src/temporal/workflows';
import { ERASURE_WORKFLOW, ORDER_WORKFLOW, orderWorkflowId } from '../../../workflows/messages';
import { createTestDatabase } from '../../support/database';
import { MINUTE, aRequest } from '../../support/domain';
import { runProcessor } from '../../support/processor';
import { aStoredOrder } from '../../support/rows';
import { setUp } from '../../support/set-up';
import { stack } from '../../support/stack';
import { temporalOf } from '../../support/temporal-client';

const database = setUp(() => createTestDatabase());
/** A namespace of Temporal without workflows of the service. */
const temporal = setUp(
  () => temporalOf({ ...stack(), temporal_namespace: 'temporal-system' }),
  (client) => client.connection.close(),
);

const context = { caller: { actor: { kind: 'command_line', id: 'anne' } }, request: aRequest() } as ManageContext;

/** `happens`: what a test does while the processor lists its operations. It has none: other tests use it too. */
const reconcile = (happens?: () => Promise<unknown>, client?: TemporalClient) => command('reconcile', happens, client);
function command(
  name: 'begin' | 'reconcile' | 'end',
  happens = () => Promise.resolve() as Promise<unknown>,
  client: TemporalClient = temporal,
  body: object = {},
): Promise<unknown> {
  const { db } = database;
  const { run } = RESTORE_COMMANDS.find(({ verb }) => verb === name)!;
  const services = {
    db,
    client,
    openProcessor: () => ({ ...runProcessor(), operations: () => happens().then(() => []) }),
    workflows: createWorkflowClients({ client: temporal, db }),
  };
  type Run = (...given: [typeof services, ManageContext, { body: object }]) => Promise<unknown>;
  return (run as Run)(services, context, {
    body: { ...(name === 'begin' && { since: new Date().toISOString() }), ...body },
  });
}

test('rules 28.3: a reconciliation that lost its lease writes nothing more, and is not recorded', async () => {
  const { db } = database;
  const { id } = await aStoredOrder(db);
  const began = Date.now();
  await db('orders')
    .where({ id })
    .update({ expires_at: new Date(began + MINUTE) });
  const order = await findOrderSnapshot(db, id);
  await db.transaction((trx) => beginRestore(trx, uuidv7(), began, new Date()));
  const another = `update leases set holder = 'another', expires_at = clock_timestamp() + interval '30 seconds'
    where name = 'reconciliation' returning 1`;
  await expect(reconcile(() => queryRows(db, another))).rejects.toMatchObject({ error: 'Conflict' });
  // Of what it had written until then the audit trail says only that it began.
  expect(await db('audit_trail').where({ action: 'restore.reconcile' }).pluck('after')).toEqual([{ state: 'begun' }]);
  expect([await findOrderSnapshot(db, id), (await openRestore(db))!.reconciled]).toEqual([order, null]);
  // The other one still has it.
  await expect(reconcile(() => Promise.resolve())).rejects.toThrow(/Another reconciliation runs/);
  const free = `update leases set expires_at = clock_timestamp() where name = 'reconciliation' returning 1`;
  await queryRows(db, free);
  await reconcile(() => Promise.resolve());
  expect((await findOrderSnapshot(db, id))!.expires_at).toBeGreaterThan(began + 50 * MINUTE);
  expect((await openRestore(db))!.reconciled).not.toBeNull();
});

test('rules 28.2, 28.5: a restore neither ends nor begins anew while a reconciliation runs', async () => {
  let ended: unknown;
  await reconcile(async () => {
    const both = [command('end'), command('begin')];
    ended = await Promise.all(both.map((one) => one.catch((error: unknown) => error)));
  });
  const refused = { error: 'Conflict', message: expect.stringMatching(/Another reconciliation runs/) };
  expect(ended).toMatchObject([refused, refused]);
  expect((await openRestore(database.db))!.reconciled).not.toBeNull();
  expect(await command('end')).toEqual({ ended: expect.any(String) });
  expect(await openRestore(database.db)).toBeUndefined();
});

test('rules 28.2: begin requests a rebuild of the search index, which has orders that the record lost', async () => {
  const { db } = database;
  expect(await searchRebuild(db)).toBeUndefined();
  await command('begin');
  expect(await searchRebuild(db)).toEqual({ orders: null });
  await db('restores').whereNull('ended').update({ ended: new Date() });
});

test('rules 28.1, 28.3, 29.6: a record does not count as reconciled while an object could not be read because of a failure', async () => {
  const { db } = database;
  const { id } = await aStoredOrder(db);
  await command('begin');
  const run = { workflowId: orderWorkflowId(id), type: ORDER_WORKFLOW, runId: id, startTime: new Date() };
  let erasures = [{ ...run, workflowId: 'erasure:one', type: ERASURE_WORKFLOW }];
  const workflow = {
    async *list({ query }: { query: string }) {
      if (query.startsWith('WorkflowId') || query.includes(`'${ORDER_WORKFLOW}'`)) {
        yield await Promise.resolve({ ...run, status: { name: 'RUNNING' } });
      }
      for (const erasure of query.includes(`'${ERASURE_WORKFLOW}'`) ? erasures : []) {
        yield await Promise.resolve({ ...erasure, status: { name: 'COMPLETED' } });
      }
    },
    getHandle: () => ({ fetchHistory: () => Promise.reject(new Error('no connection')) }),
  };
  const { connection, options } = temporal;
  const client = { connection, options, workflow } as unknown as TemporalClient;
  const ended = await reconcile(() => Promise.resolve(), client);
  const { failed } = RESTORE_COMMANDS.find(({ verb }) => verb === 'reconcile') as {
    failed?: (ended: unknown) => boolean;
  };
  expect(failed!(ended)).toBe(true);
  // Nor is anything erased then: the histories are needed once more.
  expect(ended).toMatchObject({
    failed: 1,
    open: [`${orderWorkflowId(id)}: no connection`, 'erasure:one: It has to be carried out again.'],
    problem: '1 objects could not be read or written. Run restore reconcile again.',
  });
  expect(await awaitsReconciliation(db)).toBe(true);
  erasures = [];
  // What a run has ended again is not found by the next one, and stays listed.
  const lost = { object: 'order:one', reason: 'It is ended again.', is_ended_again: true };
  const open_items = JSON.stringify([lost, { object: 'order:two', reason: 'no connection' }]);
  await db('restores').whereNull('ended').update({ open_items });
  // What has ended is not read.
  const order = (await findOrderSnapshot(db, id))!;
  await moveOrder(db, order, { ended: 'cancelled' }, { source: 'service', now: Date.now() });
  expect(failed!(await reconcile(() => Promise.resolve(), client))).toBe(false);
  expect(await awaitsReconciliation(db)).toBe(false);
  expect((await openRestore(db))!.open_items).toEqual([lost]);
});

test('rules 28.2: a restore that is under way begins anew only after the record was restored once more', async () => {
  const { db } = database;
  const before = (await openRestore(db))!;
  expect(before.reconciled).not.toBeNull();
  await db('restores')
    .where({ id: before.id })
    .update({ began: new Date(Date.now() - MINUTE), open_items: '[{}]' });
  const refused = { error: 'Conflict', message: expect.stringMatching(/run restore begin --again true/) };
  await expect(command('begin')).rejects.toMatchObject(refused);
  expect(await awaitsReconciliation(db)).toBe(false);
  await command('begin', undefined, undefined, { again: true });
  const { began, ...restore } = (await openRestore(db))!;
  expect(restore).toEqual({ id: before.id, since: before.since, reconciled: null, rewritten: 0, open_items: [] });
  expect(Date.parse(began)).toBeGreaterThan(Date.now() - MINUTE);
  const begun = await db('audit_trail').where({ action: 'restore.begin', object_id: before.id });
  expect(begun).toHaveLength(2);
  await db('restores').whereNull('ended').update({ ended: new Date() });
});

test('rules 28.5: what ended before the oldest closed workflow that Temporal keeps may be lost: an operator accepts it', async () => {
  const { db } = database;
  const now = Date.now();
  // Temporal keeps its own workflows for a week.
  const [kept, removed] = [6, 8].map((days) => now - days * DAY_MS);
  await db.transaction((trx) => beginRestore(trx, uuidv7(), kept!, new Date()));
  expect(await reconcile()).toMatchObject({ open: [] });
  await command('end');
  await db.transaction((trx) => beginRestore(trx, uuidv7(), removed!, new Date()));
  const lacking =
    /^temporal: Temporal keeps closed workflows for 168 hours: what ended before 20\S+Z, erasures too, cannot be written again\.$/;
  expect(await reconcile()).toMatchObject({ open: [expect.stringMatching(lacking)] });
  await expect(command('end')).rejects.toMatchObject({ error: 'Conflict' });
  await command('end', undefined, undefined, { accept: 'Nobody was erased.' });
});
