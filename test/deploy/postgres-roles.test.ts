import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import { parse } from 'yaml';
import { parseConfig } from '../../src/config';
import { auditTrailWeakness } from '../../src/db/projects/audit-trail';
import { migrate } from '../../src/db/migrate';
import { openDatabase } from '../../src/processes/connections';
import { prepareDatabase } from '../../src/simulator/schema';
import { freePort } from '../../src/stack/ports';
import { keepRunning, type Kept } from '../../src/stack/programs/program';
import { silent } from '../../src/stack/progress';
import { preparePostgres } from '../../src/stack/servers/postgres';
import { textOfFile } from '../guards/repository';

/** The SQL of the service postgres-roles, on a PostgreSQL of its own. */
const { services } = parse(textOfFile('docker-compose.yml'), { merge: true }) as {
  services: { 'postgres-roles': { command: [string] } };
};
const script = services['postgres-roles'].command[0];
const [roleSql, databaseSql] = [...script.matchAll(/<<'SQL'\n([\s\S]*?)\nSQL$/gm)].map(([, sql]) => sql!);
/** `role payments "$$PAYMENTS_PASSWORD"`, `database payments payments_owner` */
const calls = [...script.matchAll(/^(role|database) (\w+) (\S+)$/gm)];

const folder = mkdtempSync(path.join(tmpdir(), 'roles-'));
chmodSync(folder, 0o711);
let kept: Kept;
let url: (user: string, database: string) => string;
beforeAll(async () => {
  const port = await freePort();
  const server = { data_dir: folder, log_file: path.join(folder, 'postgres.log'), port, password: 'pw-postgres' };
  kept = keepRunning(await preparePostgres(server, silent), { started: () => undefined, ended: () => undefined });
  await kept.ready;
  url = (user, database) => `postgres://${user}:pw-${user}@127.0.0.1:${port}/${database}`;
});
afterAll(async () => {
  await kept.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function withClient<T>(address: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: address });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** What psql does with the script: variables, and \\gexec, which runs what a query answers. */
async function run(sql: string, name: string, owner: string): Promise<void> {
  await withClient(url('postgres', 'postgres'), async (client) => {
    const filled = sql
      .replaceAll(":'name'", client.escapeLiteral(name))
      .replaceAll(':"name"', client.escapeIdentifier(name))
      .replaceAll(":'owner'", client.escapeLiteral(owner))
      .replaceAll(":'password'", client.escapeLiteral(`pw-${name}`));
    for (const line of filled.split('\n')) {
      const [statement = '', gexec] = line.split(/ (?=\\gexec$)/);
      const { rows } = await client.query<{ format: string }>(statement);
      if (gexec !== undefined) for (const { format } of rows) await client.query(format);
    }
  });
}

test('rules 17.1 and 24.7: the service and the simulator work with a role and a database of their own, as no superusers', async () => {
  for (const _ of ['the first start', 'each further start']) {
    for (const [, kind, name = '', owner = ''] of calls) {
      await run(kind === 'role' ? roleSql! : databaseSql!, name, owner);
    }
  }
  const mayDo = await withClient(url('postgres', 'postgres'), async (client) => {
    const sqlOfRoles = `select rolname, rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls as more
      from pg_roles where rolname in ('payments', 'payments_owner', 'simulator') order by rolname`;
    return (await client.query(sqlOfRoles)).rows as unknown[];
  });
  expect(mayDo).toEqual([
    { rolname: 'payments', more: false },
    { rolname: 'payments_owner', more: false },
    { rolname: 'simulator', more: false },
  ]);
  for (const _ of [1, 2]) {
    await migrate(url('payments', 'payments'), { owner_url: url('payments_owner', 'payments') });
  }
  const db = await openDatabase(parseConfig({ POSTGRES_URL: url('payments', 'payments') }));
  expect(await auditTrailWeakness(db)).toBeUndefined();
  await db.destroy();
  for (const _ of [1, 2]) await prepareDatabase(url('simulator', 'simulator'));
});

test.each([
  ['simulator', 'payments'],
  ['payments', 'simulator'],
])('rules 24.7: the role %s cannot open the database %s', async (user, database) => {
  await expect(withClient(url(user, database), (client) => client.query('select 1'))).rejects.toThrow(
    `permission denied for database "${database}"`,
  );
});
