import { v7 as uuidv7 } from 'uuid';
import type { ManageContext } from '../../../api/manage/manager';
import { RESTORE_COMMANDS } from '../../../src/admin/restore';
import { queryRows } from '../../../src/db/connection';
import { findOrderSnapshot } from '../../../src/db/orders/order-snapshot';
import { DAY_MS } from '../../../src/domain/period';
import { beginRestore, openRestore } from '../../../src/db/backups/restores';
import { createWorkflowClients } from '../../../src/temporal/workflows';
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
const reconcile = (happens?: () => Promise<unknown>) => command('reconcile', happens);
function command(
  name: 'reconcile' | 'end',
  happens = () => Promise.resolve() as Promise<unknown>,
  body: object = {},
): Promise<unknown> {
  const { db } = database;
  const { run } = RESTORE_COMMANDS.find(({ verb }) => verb === name)!;
  const services = {
    db,
    client: temporal,
    openProcessor: () => ({ ...runProcessor(), operations: () => happens().then(() => []) }),
    workflows: createWorkflowClients({ client: temporal, db }),
  };
  type Run = (...given: [typeof services, ManageContext, { body: object }]) => Promise<unknown>;
  return (run as Run)(services, context, { body });
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
  await expect(reconcile(() => queryRows(db, another, {}))).rejects.toMatchObject({ error: 'Conflict' });
  expect([await findOrderSnapshot(db, id), (await openRestore(db))!.reconciled]).toEqual([order, null]);
  // The other one still has it.
  await expect(reconcile(() => Promise.resolve())).rejects.toThrow(/Another reconciliation runs/);
  const free = `update leases set expires_at = clock_timestamp() where name = 'reconciliation' returning 1`;
  await queryRows(db, free, {});
  await reconcile(() => Promise.resolve());
  expect((await findOrderSnapshot(db, id))!.expires_at).toBeGreaterThan(began + 50 * MINUTE);
  expect((await openRestore(db))!.reconciled).not.toBeNull();
});

test('rules 28.5: a restore does not end while a reconciliation runs', async () => {
  let ended: unknown;
  await reconcile(async () => {
    ended = await command('end').catch((error: unknown) => error);
  });
  expect(ended).toMatchObject({ error: 'Conflict', message: expect.stringMatching(/Another reconciliation runs/) });
  expect((await openRestore(database.db))!.reconciled).not.toBeNull();
  expect(await command('end')).toEqual({ ended: expect.any(String) });
  expect(await openRestore(database.db)).toBeUndefined();
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
  await command('end', undefined, { accept: 'Nobody was erased.' });
});
