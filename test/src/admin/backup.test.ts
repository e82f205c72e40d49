import path from 'node:path';
import { RecordServer } from '../../../proofs/restore/record-server';
import { brokenReferences, wrongSums } from '../../../src/db/backups';
import { connectDatabase, queryRows, type Database } from '../../../src/db/connection';
import { findFigures } from '../../../src/db/figures';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { answerOfCommand, runCommand } from '../../support/operator';
import { anAcceptedPayment, aStoredOrder } from '../../support/rows';
import { setUp } from '../../support/set-up';
import { stack } from '../../support/stack';
import { until } from '../../support/waits';

/** A PostgreSQL of its own that archives its log, with a record and databases of Temporal. */
const record = new RecordServer('backup-check');
let database: TestDatabase;
let server: Database;
jest.setTimeout(120_000);

const DATABASES_OF_TEMPORAL = ['temporal', 'temporal_visibility'];

beforeAll(async () => {
  await record.start();
  server = connectDatabase(record.url('postgres'), { pool_max: 1 });
  database = await createTestDatabase({ postgres_url: record.url('postgres') });
  for (const name of DATABASES_OF_TEMPORAL) {
    await server.raw('create database ??', [name]);
    const db = connectDatabase(record.url(name), { pool_max: 1 });
    await db.raw('create table executions as select generate_series(1, 7) as n');
    await db.destroy();
  }
});
afterAll(async () => {
  await Promise.all([database?.close(), server?.destroy()]);
  await record.discard();
});

interface Checked {
  passed: boolean;
  newest_commit: string;
  rpo_seconds: number;
  rto_seconds: number;
  rows: Record<string, Record<string, number>>;
  problems: string[];
}

const nameOf = (url: string) => new URL(url).pathname.slice(1);
/** `restore_command`: of the copy, without its percent signs doubled. `damage`: a command that damages the copy. */
const check = async (args: string[] = [], { restore_command = copyCommand(), damage = 'true' } = {}) => {
  const settings = `restore_command = '${restore_command.replaceAll("'", "''")}'`.replaceAll('%', '%%');
  const BACKUP_RESTORE_COMMAND = [
    `cp -R '${record.place('backup')}/.' %p`,
    `echo "${settings}" >> %p/postgresql.auto.conf`,
    'touch %p/recovery.signal',
    damage,
  ].join(' && ');
  const { text, failed } = await runCommand(['--json', 'backup', 'check', ...args], {
    env: { POSTGRES_URL: database.url, BACKUP_RESTORE_COMMAND },
  });
  const checked = JSON.parse(text) as Checked;
  expect(failed).toBe(!checked.passed);
  return checked;
};
const copyCommand = () => `cp ${path.join(record.place('archive'), '%f')} %p`;

const doctor = async (name: string, url = database.url) => {
  const found = await answerOfCommand<{ check: string; result: string; note?: string; problem?: string }[]>(
    ['doctor'],
    { env: { POSTGRES_URL: url } },
  );
  return found.find((one) => one.check === name)!;
};

describe('rules 22.5: the age of the archive', () => {
  const archives = async () => {
    const { archive_age, archive_fails } = await findFigures(database.db);
    return { archive_age, archive_fails };
  };
  /** Postgres looks for files to archive with each new one. */
  const switchLog = async () => {
    await aStoredOrder(database.db);
    await server.raw('select pg_switch_wal()');
  };
  const setCommand = async (value: string) => {
    await server.raw(`alter system ${value}`);
    await server.raw('select pg_reload_conf()');
  };

  test('is exported while Postgres archives, and that it fails', async () => {
    await record.archive();
    expect(await archives()).toEqual({ archive_age: expect.any(Number), archive_fails: 0 });
    expect(await doctor('archive')).toEqual({
      check: 'archive',
      result: 'ok',
      note: expect.stringMatching(/^last archived [0-9A-F]{24}, \d+ s ago$/),
    });
    await setCommand(`set archive_command = 'false'`);
    await switchLog();
    await until('an attempt has failed', async () => (await archives()).archive_fails === 1);
    expect(await doctor('archive')).toMatchObject({
      result: 'wrong',
      problem: expect.stringMatching(
        /^last archived [0-9A-F]{24}, \d+ s ago, \d+ failed attempts, the last with [0-9A-F]{24}\.$/,
      ),
    });
    await setCommand('reset archive_command');
    await until('it is archived', async () => {
      await switchLog();
      return (await archives()).archive_fails === 0;
    });
  });

  test('is not exported where Postgres archives nothing; doctor says so', async () => {
    const db = connectDatabase(stack().postgres_url, { pool_max: 1 });
    expect(await findFigures(db)).toMatchObject({ archive_age: null, archive_fails: null });
    await db.destroy();
    expect(await doctor('archive', stack().postgres_url)).toEqual({
      check: 'archive',
      result: 'ok',
      note: expect.stringMatching(/^archive_mode is off, with \d+ live projects: see Backup and restore /),
    });
  });
});

describe('rules 28.7: backup check', () => {
  let last_file: string;
  let written_at: number;
  beforeAll(async () => {
    await anAcceptedPayment(database.db, { mode: 'manual' });
    await record.backUp();
    // Only the archived log has this one.
    written_at = Date.now();
    await aStoredOrder(database.db);
    last_file = await record.archive();
  });

  const lastEntry = async () => {
    const { items } = await answerOfCommand<{ items: { action: string; after: Checked & { of_record: boolean } }[] }>(
      ['audit', 'list', '--object', 'backup'],
      { env: { POSTGRES_URL: database.url } },
    );
    return items[0]!;
  };

  test('restores the newest backup, replays the archive, and reads all of it', async () => {
    expect((await doctor('backup check')).note).toMatch(/^no backup was ever checked/);
    expect((await findFigures(database.db)).backup_check_age).toBeNull();
    const name = nameOf(database.url);
    const databases = [name, ...DATABASES_OF_TEMPORAL];
    const checked = await check(['--databases', databases.join(',')]);
    expect(checked).toMatchObject({ passed: true, problems: [], databases });
    const [orders] = await queryRows<{ count: number }>(database.db, 'select count(*) as count from orders', {});
    expect(checked.rows[name]!['orders']).toBe(orders!.count);
    expect(checked.rows['temporal_visibility']).toEqual({ executions: 7 });
    expect(Date.parse(checked.newest_commit)).toBeGreaterThanOrEqual(written_at);
    expect([checked.rpo_seconds, checked.rto_seconds].every((seconds) => seconds >= 0)).toBe(true);

    expect(await lastEntry()).toMatchObject({ action: 'backup.check', after: { passed: true, of_record: true } });
    expect((await lastEntry()).after).not.toHaveProperty('rows');
    expect((await findFigures(database.db)).backup_check_age).toEqual(expect.any(Number));
    expect(await doctor('backup check')).toMatchObject({
      result: 'ok',
      note: 'a backup of the record passed 0 days ago',
    });
  });

  test('a check of other databases is none of the record', async () => {
    const [before] = [(await findFigures(database.db)).backup_check_age!];
    expect(await check(['--databases', 'temporal'])).toMatchObject({ passed: true });
    expect((await lastEntry()).after).toMatchObject({ passed: true, of_record: false });
    expect((await findFigures(database.db)).backup_check_age).toBeGreaterThan(before);
  });

  /** Where the first file of a table is, below the data folder. */
  const fileOf = async (table: string) => {
    const [found] = await queryRows<{ file: string }>(database.db, 'select pg_relation_filepath(:table) as file', {
      table,
    });
    return found!.file;
  };

  test.each<[what: string, given: () => Promise<Parameters<typeof check>>, problem: RegExp]>([
    [
      'nothing can be restored',
      () => Promise.resolve([[], { damage: 'echo no backup set found to restore >&2; exit 1' }]),
      /^The restore failed: no backup set found to restore$/,
    ],
    [
      'the log of the backup itself is missing',
      () => Promise.resolve([[], { restore_command: 'false' }]),
      /^PostgreSQL does not start on the restored files: could not locate required checkpoint record at /,
    ],
    [
      'an archived file of the log is missing',
      () => Promise.resolve([[], { restore_command: `test %f != ${last_file} && ${copyCommand()}` }]),
      /^The log ends before [0-9A-F]{24}, which Postgres has archived: a file of the archive is missing\.$/,
    ],
    [
      'the file of a table is missing',
      async () => [[], { damage: `rm %p/${await fileOf('merchants')}` }],
      /: the file base\/\d+\/\d+ of merchants is missing\.$/,
    ],
    [
      'the file of an index is missing',
      async () => [[], { damage: `rm %p/${await fileOf('merchants_pkey')}` }],
      /: the file base\/\d+\/\d+ of merchants_pkey is missing\.$/,
    ],
    [
      'a page of a table is damaged',
      async () => [
        [],
        { damage: `printf damaged | dd of=%p/${await fileOf('merchants')} bs=1 seek=4000 conv=notrunc status=none` },
      ],
      /: merchants cannot be read: invalid page in block 0 /,
    ],
    [
      'a database is not in it',
      () => Promise.resolve([['--databases', 'temporal,another']]),
      /^The database another is not in the backup\.$/,
    ],
  ])('fails when %s', async (_what, given, problem) => {
    const checked = await check(...(await given()));
    expect(checked).toMatchObject({
      passed: false,
      problems: expect.arrayContaining([expect.stringMatching(problem)]),
    });
    expect((await lastEntry()).after).toMatchObject({ passed: false, problems: checked.problems });
    expect(await doctor('backup check')).toMatchObject({
      result: 'wrong',
      problem: expect.stringMatching(/^The check of \S.* failed; a backup of the record passed 0 days ago\.$/),
    });
  });
});

describe('rules 28.7: what is checked of the record', () => {
  const own = setUp(() => createTestDatabase());

  test('rows whose parent is missing, and amounts that differ from those of the orders', async () => {
    const { transactions } = await anAcceptedPayment(own.db, { mode: 'manual' });
    expect([await brokenReferences(own.db), await wrongSums(own.db)]).toEqual([[], []]);
    await queryRows(own.db, 'update transactions set captured_amount = 5 where id = :id', { id: transactions[0]!.id });
    expect(await wrongSums(own.db)).toEqual([
      expect.stringMatching(/^EUR: captured 5, voided 0, refunded 0; by the orders 0, 0, 0$/),
    ]);
    await own.db.transaction(async (trx) => {
      await trx.raw('set local session_replication_role = replica');
      await trx.raw('delete from merchants');
    });
    expect(await brokenReferences(own.db)).toEqual(['1 rows break projects_merchant_id_fkey']);
  });
});
