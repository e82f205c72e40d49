import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { RecordServer } from '../../../proofs/restore/record-server';
import { setServerSettings } from '../../../src/bench/server-settings';
import { brokenReferences, wrongSums } from '../../../src/db/backups/backups';
import { connectDatabase, withDatabase } from '../../../src/db/connection';
import { queryRows, type Database } from '../../../src/db/query';
import { findFigures } from '../../../src/db/metrics/figures';
import { identify } from '../../../src/stack/programs/running-processes';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { answerOfAdmin, runAdmin } from '../../support/admin';
import { anAcceptedPayment, aStoredOrder } from '../../support/rows';
import { setUp } from '../../support/set-up';
import { serverFolder, stack } from '../../support/stack';
import { until } from '../../support/waits';

/** A PostgreSQL of its own that archives its log, with a record and databases of Temporal. */
const record = new RecordServer('backup-check');
let database: TestDatabase;
let server: Database;
/** A session of the running server with a table of its own. */
let session: Database;
/** Where folders of checks are made, but for one that is made where temporary files are. */
const directory = serverFolder('b');
jest.setTimeout(120_000);

const DATABASES_OF_TEMPORAL = ['temporal', 'temporal_visibility'];

beforeAll(async () => {
  await record.start();
  server = connectDatabase(record.url('postgres'), { pool_max: 1 });
  database = await createTestDatabase({ postgres_url: record.url('postgres') });
  for (const name of DATABASES_OF_TEMPORAL) {
    await server.raw('create database ??', [name]);
    await withDatabase(record.url(name), async (db) => {
      await db.raw('create table executions (n int primary key, pad text, history text)');
      await db.raw('alter table executions alter column history set storage external');
      await db.raw(`insert into executions select n, repeat('x', 1000), case n when 1 then repeat('y', 10000) end
        from generate_series(1, 2000) n`);
      await db.raw('vacuum analyze executions');
    });
  }
  session = connectDatabase(record.url('temporal'), { pool_max: 1 });
  await session.raw('create temporary table of_session as select 1 as n');
});
afterAll(async () => {
  await Promise.all([database?.close(), server?.destroy(), session?.destroy()]);
  rmSync(directory, { recursive: true });
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
const envOf = ({ restore_command = copyCommand(), damage = 'true', url = database.url } = {}) => {
  const settings = `restore_command = '${restore_command.replaceAll("'", "''")}'`.replaceAll('%', '%%');
  const BACKUP_RESTORE_COMMAND = [
    `cp -R '${record.place('backup')}/.' %p`,
    `echo "${settings}" >> %p/postgresql.auto.conf`,
    'touch %p/recovery.signal',
    damage,
  ].join(' && ');
  return { POSTGRES_URL: url, BACKUP_RESTORE_COMMAND };
};
const check = async (args: string[] = [], options: Parameters<typeof envOf>[0] = {}, place = [directory]) => {
  const where = place.flatMap((folder) => ['--directory', folder]);
  const { text, failed } = await runAdmin(['--json', 'backup', 'check', ...where, ...args], { env: envOf(options) });
  const checked = JSON.parse(text) as Checked;
  expect(failed).toBe(!checked.passed);
  return checked;
};
const copyCommand = () => `cp ${path.join(record.place('archive'), '%f')} %p`;

const doctor = async (name: string, url = database.url) => {
  const found = await answerOfAdmin<{ check: string; result: string; note?: string; problem?: string }[]>(['doctor'], {
    env: { POSTGRES_URL: url },
  });
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

  test('the age of the archive is exported, and whether archiving fails', async () => {
    await record.archive();
    expect(await archives()).toEqual({ archive_age: expect.any(Number), archive_fails: 0 });
    expect(await doctor('archive')).toEqual({
      check: 'archive',
      result: 'ok',
      note: expect.stringMatching(/^last archived [0-9A-F]{24}, \d+ s ago$/),
    });
    await setServerSettings(server, { archive_command: 'false' });
    await switchLog();
    await until('an attempt has failed', async () => (await archives()).archive_fails === 1);
    expect(await doctor('archive')).toMatchObject({
      result: 'wrong',
      problem: expect.stringMatching(
        /^last archived [0-9A-F]{24}, \d+ s ago, \d+ failed attempts, the last with [0-9A-F]{24}\.$/,
      ),
    });
    await setServerSettings(server, { archive_command: null });
    await until('it is archived', async () => {
      await switchLog();
      return (await archives()).archive_fails === 0;
    });
  });

  test('is not exported where Postgres archives nothing; doctor says so', async () => {
    const figures = await withDatabase(stack().postgres_url, findFigures);
    expect(figures).toMatchObject({ archive_age: null, archive_fails: null });
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
    const { items } = await answerOfAdmin<{ items: { action: string; after: Checked & { of_record: boolean } }[] }>(
      ['audit', 'list', '--object', 'backup'],
      { env: { POSTGRES_URL: database.url } },
    );
    return items[0]!;
  };

  test('the age of the checks counts from the first one until one of the record passes', async () => {
    expect((await doctor('backup check')).note).toMatch(/^no backup was ever checked/);
    const where_temporary_files_are = await check(['--databases', 'temporal'], {}, []);
    expect(where_temporary_files_are).toMatchObject({ passed: true, problems: [] });
    expect((await lastEntry()).after).toMatchObject({ passed: true, of_record: false });
    expect((await findFigures(database.db)).backup_check_age).toBeNull();
    expect(await check([], { damage: 'exit 1' })).toMatchObject({ passed: false });
    expect((await findFigures(database.db)).backup_check_age).toEqual(expect.any(Number));
    expect(await doctor('backup check')).toMatchObject({
      result: 'wrong',
      problem: 'No backup of the record has ever passed the check.',
    });
  });

  test('restores the newest backup, replays the archive, reads all of it, and removes what a killed check has left, not the folder of one that runs', async () => {
    const [left, kept] = ['payments-backup-999999999-left', 'payments-backup-1-runs'];
    for (const folder of [left, kept]) mkdirSync(path.join(directory, folder));
    const name = nameOf(database.url);
    const databases = [name, ...DATABASES_OF_TEMPORAL];
    const relative = path.relative(process.cwd(), directory);
    const checked = await check(['--databases', databases.join(',')], {}, [relative]);
    expect(checked).toMatchObject({ passed: true, problems: [], databases });
    const [orders] = await queryRows<{ count: number }>(database.db, 'select count(*) as count from orders');
    expect(checked.rows[name]!['orders']).toBe(orders!.count);
    expect(checked.rows['temporal_visibility']).toEqual({ executions: 2000 });
    expect(Date.parse(checked.newest_commit)).toBeGreaterThanOrEqual(written_at);
    expect([checked.rpo_seconds, checked.rto_seconds].every((seconds) => seconds >= 0)).toBe(true);

    expect(await lastEntry()).toMatchObject({ action: 'backup.check', after: { passed: true, of_record: true } });
    expect((await lastEntry()).after).not.toHaveProperty('rows');
    expect((await findFigures(database.db)).backup_check_age).toEqual(expect.any(Number));
    expect(await doctor('backup check')).toMatchObject({
      result: 'ok',
      note: 'a backup of the record passed 0 days ago',
    });
    expect(readdirSync(directory).filter((folder) => folder.startsWith('payments-backup-'))).toEqual([kept]);
    rmSync(path.join(directory, kept), { recursive: true });
  });

  test('a failed check of other databases does not count for the record', async () => {
    expect(await check(['--databases', 'temporal,another'])).toMatchObject({
      passed: false,
      problems: ['The database another is not in the backup.'],
    });
    expect(await doctor('backup check')).toMatchObject({ result: 'ok' });
  });

  test('files of the running server that are in the backup are not used', async () => {
    const [running] = await queryRows<{ data: string; since: string }>(
      server,
      `select current_setting('data_directory') as data, pg_postmaster_start_time() as since`,
    );
    const outside = path.join(directory, 'outside.conf');
    writeFileSync(outside, 'kept');
    const damage = [
      `ln -sf ${outside} %p/postgresql.conf`,
      'echo "log_min_messages = nonsense" >> %p/postgresql.auto.conf',
      'touch %p/standby.signal',
      `cp ${running!.data}/postmaster.pid %p`,
    ].join(' && ');
    process.env['PGPORT'] = '1';
    try {
      expect(await check([], { damage })).toMatchObject({ passed: true });
      expect(await check([], { damage: `${damage} && exit 1` })).toMatchObject({ passed: false });
    } finally {
      delete process.env['PGPORT'];
    }
    expect(readFileSync(outside, 'utf8')).toBe('kept');
    const [now] = await queryRows(server, 'select pg_postmaster_start_time() as since');
    expect(now).toEqual({ since: running!.since });
  });

  test('a stop ends the processes of the restore, removes the folder, and leaves no entry', async () => {
    const pids = path.join(record.place('archive'), 'pids');
    const before = await lastEntry();
    const env = envOf({ damage: `sh -c 'echo $$ > ${pids}; sleep 600'` });
    const checking = runAdmin(['backup', 'check', '--directory', directory], { env });
    const stopped = checking.catch((error: unknown) => (error as Error).message);
    const pid = Number(
      await until('the restore runs', () => existsSync(pids) && (readFileSync(pids, 'utf8').trim() || undefined)),
    );
    process.emit('SIGTERM');
    expect(await stopped).toBe('The check was stopped.');
    expect(identify(pid)).toBeUndefined();
    expect(readdirSync(directory).filter((name) => name.startsWith('payments-backup-'))).toEqual([]);
    expect(await lastEntry()).toEqual(before);
  });

  /** The first files of a table and of its values that are kept apart, below the data folder. */
  const filesOf = async (table: string, url = database.url) => {
    const sql = `select pg_relation_filepath(oid) as file, pg_relation_filepath(nullif(reltoastrelid, 0)) as values
      from pg_class where oid = cast(:table as regclass)`;
    type Files = { file: string; values: string };
    const [found] = await withDatabase(url, (db) => queryRows<Files>(db, sql, { table }));
    return found!;
  };
  const fileOf = async (table: string) => (await filesOf(table)).file;
  const damaged = (file: string, byte: number) =>
    `printf damaged | dd of=%p/${file} bs=1 seek=${byte} conv=notrunc status=none`;
  const ofAll = () => ['--databases', [nameOf(database.url), ...DATABASES_OF_TEMPORAL].join(',')];

  test.each<[what: string, given: () => Promise<Parameters<typeof check>>, ...problems: RegExp[]]>([
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
      'a file of the record is missing, and a page and a value that is kept apart from its row are damaged: all are named',
      async () => {
        const { file: page } = await filesOf('executions', record.url('temporal'));
        const { values } = await filesOf('executions', record.url('temporal_visibility'));
        const missing = `rm %p/${await fileOf('merchants')}`;
        const damage = [missing, damaged(page, 10 * 8192 + 4000), damaged(values, 4000)].join(' && ');
        return [ofAll(), { damage }];
      },
      /^test_\w+: the file base\/\d+\/\d+ of merchants is missing\.$/,
      /^temporal: executions cannot be read: invalid page in block 10 /,
      /^temporal_visibility: executions cannot be read: invalid page in block 0 /,
    ],
    [
      'the file of an index is missing, a page of its table is damaged, and files of another are cut: all are named',
      async () => {
        const [index, table] = [await fileOf('merchants_pkey'), await fileOf('merchants')];
        const { file: cut } = await filesOf('executions', record.url('temporal'));
        return [ofAll(), { damage: `rm %p/${index} && ${damaged(table, 4000)} && : > %p/${cut}` }];
      },
      /^test_\w+: the file base\/\d+\/\d+ of merchants_pkey is missing\.$/,
      /^test_\w+: merchants cannot be read: invalid page in block 0 /,
      /^temporal: a part of the file base\/\d+\/\d+ of executions is missing\.$/,
    ],
    [
      'the folder of the log is outside of the restored folder',
      () => Promise.resolve([[], { damage: `rm -r %p/pg_wal && ln -s ${record.place('archive')} %p/pg_wal` }]),
      /^The restored pg_wal leads to \S+, outside of %p: restore into %p alone\.$/,
    ],
    [
      'a tablespace is outside of the restored folder',
      () => Promise.resolve([[], { damage: `echo 16999 ${record.place('archive')} > %p/tablespace_map` }]),
      /^The restored \S+ leads to \S+, outside of %p: restore into %p alone\.$/,
    ],
    [
      'its folder has too long a path',
      () => {
        const long = path.join(directory, 'x'.repeat(80));
        mkdirSync(long);
        return Promise.resolve([['--directory', long]]);
      },
      /^The path of the folder is too long for a socket: set a shorter --directory\.$/,
    ],
  ])('fails when %s', async (_what, given, ...named) => {
    const checked = await check(...(await given()));
    expect(checked).toMatchObject({
      passed: false,
      problems: expect.arrayContaining(named.map((problem) => expect.stringMatching(problem) as unknown)),
    });
    // Without what other programs print.
    const problems = checked.problems.map((one) =>
      one.replace(/^(The restore failed|PostgreSQL does not .*?):.*/, '$1.'),
    );
    expect((await lastEntry()).after).toMatchObject({ passed: false, problems });
  });

  test('doctor says when a check failed, and for how long none has passed', async () => {
    expect(await check([], { damage: 'exit 1' })).toMatchObject({ passed: false });
    expect(await doctor('backup check')).toMatchObject({
      result: 'wrong',
      problem: expect.stringMatching(/^The check of \S.* failed; a backup of the record passed 0 days ago\.$/),
    });
  });
});

describe('rules 28.7: what is checked of the record', () => {
  const own = setUp(() => createTestDatabase());

  test('a backup of another server', async () => {
    const { problems } = await check([], { url: own.url });
    expect(problems).toContain('The backup is of another server.');
  });

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
