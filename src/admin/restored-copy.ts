import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { withDatabase } from '../db/connection';
import type { Database } from '../db/query';
import { acceptsConnections } from '../db/backups/backups';
import { MIGRATION_LIMITS } from '../db/session';
import { readFileIfExists } from '../stack/files';
import { removeData } from '../stack/launch';
import { commandLine, identify } from '../stack/programs/running-processes';
import { silent } from '../stack/progress';
import { placeOfServer, type ServerPlace } from '../stack/servers/postgres';
import { runCommand } from '../stack/tools/command';

/** A PostgreSQL that runs on a backup that was restored for it. */
export interface RestoredCopy {
  /** Its data folder. */
  readonly data: string;
  /** From the start of the restore until it answered. */
  readonly seconds: number;
  /** Runs work on one of its databases. */
  inDatabase: <T>(name: string, work: (db: Database) => Promise<T>) => Promise<T>;
}

interface RestoreSettings {
  /** BACKUP_RESTORE_COMMAND. */
  command: string;
  /** Where its folder is made. */
  directory?: string | undefined;
  /** The superuser of the server. */
  role: string;
}

/** A backup that cannot be restored, or a server that does not start on it. The message adds what a program printed. */
export class RestoreFailure extends Error {
  constructor(
    /** One sentence. */
    readonly reason: string,
    printed?: string,
    options?: ErrorOptions,
  ) {
    super(printed === undefined ? reason : `${reason.slice(0, -1)}: ${printed}`, options);
  }
}

/** The process was told to stop. */
export class CheckStopped extends Error {}

/** Every server has it. */
export const MAINTENANCE_DATABASE = 'template1';

/** The path of a socket is cut there by some systems. */
const SOCKET_BYTES_MAX = 103;

/** Pause between two looks whether the log is replayed. Milliseconds. */
const REPLAY_CHECK_MS = 200;

/**
 * Settings of the copy, whatever those of the server are. It is reached through a socket in its own folder alone, and
 * does nothing to the archive, to other servers or by itself. The copy accepts no connections until the log is
 * replayed, so that it needs no more connections or memory than these.
 */
const settingsOf = (data: string) => ({
  listen_addresses: '',
  unix_socket_directories: data,
  unix_socket_permissions: '0700',
  port: '5432',
  hba_file: path.join(data, 'check.hba'),
  ssl: 'off',
  archive_mode: 'off',
  archive_cleanup_command: '',
  recovery_end_command: '',
  primary_conninfo: '',
  synchronous_standby_names: '',
  shared_preload_libraries: '',
  max_logical_replication_workers: '0',
  max_prepared_transactions: '100',
  zero_damaged_pages: 'off',
  ignore_checksum_failure: 'off',
  hot_standby: 'off',
  autovacuum: 'off',
  fsync: 'off',
  logging_collector: 'off',
  log_destination: 'stderr',
  log_line_prefix: '%m [%p] ',
  log_error_verbosity: 'terse',
  lc_messages: 'C',
  max_connections: '20',
  max_parallel_workers_per_gather: '0',
  shared_buffers: '128MB',
});

/** Without these the environment of this process, or the settings of a role or database, would count. */
const CONNECTION = new URLSearchParams({
  sslmode: 'disable',
  sslnegotiation: 'postgres',
  options: '-c zero_damaged_pages=off -c ignore_checksum_failure=off',
});

const FILES_REMOVED = ['standby.signal', 'postmaster.pid', 'check.log'];
const FOLDER = 'payments-backup-';
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Restores the newest backup into a folder of its own, starts a PostgreSQL on it, which replays the archived log to its
 * end, and runs work with it. Throws an Error that says what failed. Afterwards, also when the process is told to stop,
 * the server is stopped and the folder removed.
 */
export async function withRestoredCopy<T>(
  { directory: given = tmpdir(), ...settings }: RestoreSettings,
  work: (copy: RestoredCopy) => Promise<T>,
): Promise<T> {
  const directory = path.resolve(given);
  await removeLeftovers(directory);
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  const stopped = new Promise<never>((_resolve, reject) => {
    stopping.signal.addEventListener('abort', () => reject(new CheckStopped('The check was stopped.')));
  });
  stopped.catch(() => undefined);
  for (const name of SIGNALS) process.on(name, stop);
  let folder: string | undefined;
  let copy: CopyServer | undefined;
  let working: Promise<T> | undefined;
  try {
    folder = mkdtempSync(path.join(directory, `${FOLDER}${process.pid}-`));
    // The server's user passes it, if this process is root.
    if (process.getuid?.() === 0) chmodSync(folder, 0o711);
    copy = new CopyServer(await placeOfServer(folder, silent), stopping.signal);
    working = copy.start(settings).then(work);
    return await Promise.race([working, stopped]);
  } finally {
    // Its statements end with the server, which may have been about to start.
    await copy?.stop();
    await working?.catch(() => undefined);
    await copy?.stop();
    if (folder !== undefined) removeData(folder);
    for (const name of SIGNALS) process.off(name, stop);
  }
}

/** Removes what checks have left that were killed, with their servers. */
async function removeLeftovers(directory: string): Promise<void> {
  for (const name of readdirSync(directory).filter((one) => one.startsWith(FOLDER))) {
    const pid = Number(name.slice(FOLDER.length).split('-')[0]);
    const folder = path.join(directory, name);
    // Others may write there too. In a container every check may have the same pid.
    const is_own = lstatSync(folder, { throwIfNoEntry: false })?.uid === process.getuid?.() && pid > 0;
    if (!is_own || (pid !== process.pid && identify(pid) !== undefined)) continue;
    await placeOfServer(folder, silent)
      .then((place) => new CopyServer(place).stop())
      .catch(() => undefined);
    removeData(folder);
  }
}

class CopyServer {
  private readonly log: string;

  constructor(
    private readonly place: ServerPlace,
    private readonly signal?: AbortSignal,
  ) {
    this.log = path.join(place.data, 'check.log');
  }

  async start({ command, role }: Omit<RestoreSettings, 'directory'>): Promise<RestoredCopy> {
    const { data, user, programs } = this.place;
    const { signal } = this;
    const began = performance.now();
    mkdirSync(data, { recursive: true, mode: 0o700 });
    this.own(data);
    if (Buffer.byteLength(path.join(data, '.s.PGSQL.5432')) > SOCKET_BYTES_MAX) {
      throw new RestoreFailure('The path of the folder is too long for a socket: set a shorter --directory.');
    }
    const shell = command.replace(/%(.)/g, (found, sign: string) => ({ p: quoted(data), '%': '%' })[sign] ?? found);
    await runCommand('sh', ['-c', shell], { user, cwd: data, signal, ends_group: true }).catch((error: unknown) => {
      throw new RestoreFailure('The restore failed.', (error as Error).message);
    });
    refuseLinks(data);
    // The backup may have files of the running server, which name that one's folders, and its process.
    const kept = (readFileIfExists(path.join(data, 'postgresql.auto.conf')) ?? '').match(
      /^\s*(restore_command|recovery_\w+)\b.*$/gm,
    );
    const lines = Object.entries(settingsOf(data)).map(([name, value]) => `${name} = ${quoted(value, "''")}`);
    this.replace('postgresql.conf', '');
    this.replace('check.hba', 'local all all trust\n');
    this.replace('postgresql.auto.conf', [...(kept ?? []), ...lines, ''].join('\n'));
    for (const name of FILES_REMOVED) rmSync(path.join(data, name), { force: true });
    const inDatabase: RestoredCopy['inDatabase'] = async (name, work) => {
      const place = [role, data].map(encodeURIComponent).join('@');
      const url = `postgres://${place}:5432/${encodeURIComponent(name)}?${CONNECTION}`;
      return await withDatabase(url, work, { session_sql: MIGRATION_LIMITS });
    };
    try {
      const args = ['start', '-D', data, '-s', '-l', this.log, '-w', '-t', '3600'];
      await runCommand(path.join(programs, 'pg_ctl'), args, { user, cwd: data, signal });
      // It runs, replays the log, and then accepts connections.
      while (!(await inDatabase(MAINTENANCE_DATABASE, acceptsConnections))) {
        await sleep(REPLAY_CHECK_MS, undefined, { signal });
      }
    } catch (error) {
      const cause = causeIn(this.log) ?? (error as Error).message;
      throw new RestoreFailure('PostgreSQL does not start on the restored files.', cause, { cause: error });
    }
    return { data, seconds: Math.round((performance.now() - began) / 1_000), inDatabase };
  }

  /** Of a copy that is removed: nothing is written any more. */
  async stop(): Promise<void> {
    const { data, user, programs } = this.place;
    // The file may be that of the server that was backed up, or its pid may be another process's by now.
    const pid = Number(readFileIfExists(path.join(data, 'postmaster.pid'))?.split('\n')[0]);
    if (!(pid > 0 && commandLine(pid)?.includes(data))) return;
    const args = ['stop', '-D', data, '-s', '-m', 'immediate'];
    await runCommand(path.join(programs, 'pg_ctl'), args, { user, cwd: '/' }).catch(() => undefined);
  }

  /** Writes a file of its own, also in place of a link. */
  private replace(name: string, text: string): void {
    const file = path.join(this.place.data, name);
    rmSync(file, { force: true });
    writeFileSync(file, text, { mode: 0o600 });
    this.own(file);
  }

  /** Gives a file to the server's user. */
  private own(file: string): void {
    const { user } = this.place;
    if (user !== undefined) chownSync(file, user.uid, user.gid);
  }
}

/** Throws where a link would let the server write outside of its folder: to the files of the running server. */
function refuseLinks(data: string): void {
  const tablespaces = path.join(data, 'pg_tblspc');
  const map = readFileIfExists(path.join(data, 'tablespace_map')) ?? '';
  const places = [
    ...readdirSync(data).filter((name) => /^(base|global|pg_(?!.*\.conf$|log$).*)$/.test(name)),
    ...(existsSync(tablespaces) ? readdirSync(tablespaces) : []).map((name) => path.join('pg_tblspc', name)),
    // Of each tablespace its number and folder.
    ...map.split('\n').flatMap((line) => /^\d+ (.+)$/.exec(line)?.[1] ?? []),
  ];
  for (const place of places) {
    const folder = path.resolve(data, place);
    const target = existsSync(folder) ? realpathSync(folder) : undefined;
    if (target?.startsWith(`${realpathSync(data)}${path.sep}`)) continue;
    throw new RestoreFailure(
      `The restored ${place} leads ${target === undefined ? 'nowhere' : `to ${target}`}, outside of %p: restore into %p alone.`,
    );
  }
}

/** A text in single quotes, as the shell and PostgreSQL's files take it; they differ in how a quote is written. */
const quoted = (value: string, quote = `'\\''`) => `'${value.replaceAll("'", quote)}'`;

/** Why the server ended, by its log, and the last line of restore_command in it. */
function causeIn(log: string): string | undefined {
  const lines = (readFileIfExists(log) ?? '').split('\n').filter((line) => line.trim() !== '');
  // Beside these it logs that it refused the connections above.
  const fatal = lines.findLast((line) => /\b(FATAL|PANIC): +(?!the database system is)/.test(line));
  const command = lines.findLast((line) => !/^(\d{4}-|\s)/.test(line));
  const words = [fatal?.replace(/^.*?\b(FATAL|PANIC): +/, ''), command && `restore_command: ${command}`];
  return words.filter(Boolean).join('; ') || lines.at(-1);
}
