import { queryRows, type Database } from '../../../../src/db/query';
import { listChanges, recordChange, type Actor } from '../../../../src/db/projects/audit-trail';
import { createTestDatabase } from '../../../support/database';
import { setUp } from '../../../support/set-up';

const database = setUp(() => createTestDatabase());

const CHANGE = { action: 'recovery.run', object: { kind: 'recovery', id: 'all' } };
const record = (actor: Actor) => database.db.transaction((trx) => recordChange(trx, CHANGE, { actor }, new Date()));

beforeAll(async () => {
  const { db } = database;
  for (let n = 0; n < 3; n += 1) await record({ kind: 'command_line', id: 'ada' });
  await db.raw(
    `insert into audit_trail (id, at, actor_kind, actor_id, action, object_kind, object_id)
     select gen_random_uuid(), now(), 'client', cast(gen_random_uuid() as text), 'project.update', 'project', 'p'
     from generate_series(1, 5000)`,
  );
  await db.raw('analyze audit_trail');
});

/** How many rows and entries of indexes of the audit trail Postgres reads. */
async function rowsRead(read: (db: Database) => Promise<unknown>): Promise<number> {
  return await database.db.transaction(async (trx) => {
    await read(trx);
    const [counted] = await queryRows<{ rows: number }>(
      trx,
      `select sum(pg_stat_get_xact_tuples_returned(oid))::int as rows from pg_class where relname like 'audit_trail%'`,
    );
    return counted!.rows;
  });
}

test('rules 24.2: the entries of a user whose name is a word are found without reading those of others', async () => {
  const filter = { actor: 'ada' };
  const { items } = await listChanges(database.db, filter, { limit: 10 });
  expect(items.map(({ actor_id }) => actor_id)).toEqual(Array(3).fill('ada'));
  expect(await rowsRead((db) => listChanges(db, filter, { limit: 10 }))).toBeLessThan(100);
});

test('rules 21.14: of an address with a password an entry has only that there is one', async () => {
  const name = 'https://shop.example asked by ada@shop.example';
  const shown = (webhook_url: string) => ({ name, webhook_url, list: [{ url: webhook_url }] });
  const before = shown('https://shop:a@b:c@shop.example:8443/hook?to=ada@shop.example');
  const after = shown('https://shop.example:8443/ada@shop.example');
  await database.db.transaction((trx) =>
    recordChange(trx, { ...CHANGE, before, after }, { actor: { kind: 'temporal', id: 'grace' } }, new Date()),
  );
  const { items } = await listChanges(database.db, { actor: 'grace' }, { limit: 10 });
  expect(items).toMatchObject([
    { before: shown('https://[credentials]@shop.example:8443/hook?to=ada@shop.example'), after },
  ]);
});

test('rules 21.14: a kind of actors finds their entries, also where a user has the name of a kind', async () => {
  await record({ kind: 'temporal', id: 'client' });
  const kinds = async (actor: string) =>
    (await listChanges(database.db, { actor }, { limit: 5 })).items.map(({ actor_kind }) => actor_kind);
  expect(await kinds('command_line')).toEqual(Array(3).fill('command_line'));
  expect(await kinds('client')).toEqual(Array(5).fill('client'));
});
