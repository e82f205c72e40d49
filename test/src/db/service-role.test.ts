import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { auditTrailWeakness, listChanges, recordChange } from '../../../src/db/projects/audit-trail';
import { connectDatabase } from '../../../src/db/connection';
import type { Database } from '../../../src/db/query';
import { insertMerchant } from '../../../src/db/projects/merchants';
import { migrate, schemaDifference } from '../../../src/db/migrate';
import { checkSession } from '../../../src/db/session';
import { repositoryRoot } from '../../../src/stack/files';
import { stack } from '../../support/stack';

/** The role of the processes, which owns nothing (rules 21.23). */

const name = `service_${randomBytes(4).toString('hex')}`;
const owner_url = Object.assign(new URL(stack().postgres_url), { pathname: `/${name}` }).toString();
// With characters that an address and a statement have to escape.
const password = `it's ? "é\u00a0ﬁ\u00ad\u200b${randomBytes(4).toString('hex')}`;
const service_url = Object.assign(new URL(owner_url), { username: name, password }).toString();
let owner: Database;
let service: Database;
beforeAll(async () => {
  await migrate(service_url, { owner_url });
  [owner, service] = [connectDatabase(owner_url), connectDatabase(service_url)];
});
afterAll(async () => {
  await service.destroy();
  await owner.raw('drop owned by ??', [name]);
  await owner.raw('drop role ??', [name]);
  await owner.destroy();
});

const ENTRY = { action: 'merchant.create', object: { kind: 'merchant', id: 'one' } };
const BY = { actor: { kind: 'client', id: 'an operator' } } as const;
const entries = async () => (await listChanges(service, {}, { limit: 100 })).items.length;

test('it writes and reads entries of the audit trail, and rows of the other tables', async () => {
  await service.transaction((trx) => recordChange(trx, ENTRY, BY, new Date()));
  expect(await entries()).toBe(1);
  const id = uuidv7();
  await insertMerchant(service, { id, name: 'One', country: 'NL', default_currency: 'EUR' }, new Date());
  await service('merchants').where({ id }).update({ name: 'Two' });
  expect(await service('merchants').where({ id }).delete()).toBe(1);
});

test.each([
  `update audit_trail set actor_id = 'somebody else'`,
  'delete from audit_trail',
  'truncate audit_trail',
  'alter table audit_trail disable trigger audit_trail_keep',
  'drop trigger audit_trail_keep on audit_trail',
  'drop table audit_trail',
  'create or replace function audit_trail_is_append_only() returns trigger language plpgsql as $$ begin return null; end $$',
  'create trigger another before insert on audit_trail execute function audit_trail_is_append_only()',
  'create rule another as on insert to audit_trail do instead nothing',
  'alter table audit_trail rename to another',
  'create table public.another (id int)',
  `set session_replication_role = replica`,
  'set role postgres',
  `delete from knex_migrations`,
])('it may not: %s', async (sql) => {
  // 42501: insufficient privilege.
  await expect(service.raw(sql)).rejects.toMatchObject({ code: '42501' });
  expect(await entries()).toBe(1);
});

test('the processes start with it, and doctor finds the audit trail guarded; with the owner it does not', async () => {
  await expect(checkSession(service, 5)).resolves.toBeUndefined();
  expect(await schemaDifference(service)).toBeUndefined();
  expect(await auditTrailWeakness(service)).toBeUndefined();
  expect(await auditTrailWeakness(owner)).toContain('may change its entries');
  await owner.raw('alter table audit_trail disable trigger audit_trail_keep');
  expect(await auditTrailWeakness(service)).toContain('missing or switched off');
  await owner.raw('alter table audit_trail enable trigger audit_trail_keep');
});

test.each([
  ['owns the database', 'alter database ?? owner to ??', 'alter database ?? owner to postgres', [name, name]],
  ['owns the schema', 'alter schema public owner to ??', 'alter schema public owner to pg_database_owner', [name]],
  ['may act as the owner', 'grant postgres to ?? with inherit false', 'revoke postgres from ??', [name]],
])('doctor finds a role that %s', async (_title, make, undo, names) => {
  await owner.raw(make, names);
  expect(await auditTrailWeakness(service)).toContain('may change its entries');
  await owner.raw(undo, names.slice(0, undo.split('??').length - 1));
  expect(await auditTrailWeakness(service)).toBeUndefined();
});

test('a second migration changes nothing of it', async () => {
  await migrate(service_url, { owner_url });
  expect(await auditTrailWeakness(service)).toBeUndefined();
  expect(await entries()).toBe(1);
});

test('rules 21.23: an owner that may create no roles: the migration has the remedy, and no output and no log of Postgres has the password', async () => {
  const poor = `owner_${randomBytes(4).toString('hex')}`;
  const secret = randomBytes(8).toString('hex');
  const urlOf = (username: string) =>
    Object.assign(new URL(owner_url), { pathname: `/${poor}`, username, password: secret }).toString();
  await owner.raw(`create role ${poor} login createdb password '${secret}'`);
  const { status, stdout, stderr } = spawnSync(process.execPath, ['dist/src/main/migrate.js'], {
    cwd: repositoryRoot(),
    env: { ...process.env, POSTGRES_URL: urlOf(`${poor}_service`), POSTGRES_OWNER_URL: urlOf(poor) },
    encoding: 'utf8',
  });
  await owner.raw('drop database ??', [poor]);
  await owner.raw('drop role ??', [poor]);
  expect(stderr).toMatch(/^The database was not migrated: The role \w+_service does not exist .*\(42501\): create it /);
  const log = readFileSync(path.join(stack().data_dir, 'logs', 'postgres.log'), 'utf8');
  expect([status, stderr.includes(secret), stdout]).toEqual([1, false, '']);
  expect([log.includes(`create role ${poor}_service`), log.includes(secret)]).toEqual([true, false]);
});
