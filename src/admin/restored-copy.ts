import { appendFileSync, chmodSync, chownSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectDatabase, type Database } from '../db/connection';
import { acceptsConnections } from '../db/backups';
import { MIGRATION_LIMITS } from '../db/session';
import { readFileIfExists } from '../stack/files';
import { removeData } from '../stack/launch';
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

/** Pause between two looks whether the log is replayed. Milliseconds. */
const REPLAY_CHECK_MS = 200;

/**
 * Settings of the copy, whatever those of the server are. It is reached through a socket in its own folder alone, and
 * does nothing to the archive, to other servers or by itself. Until the log is replayed nobody connects, so that it
 * needs no more connections or memory than these.
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
  hot_standby: 'off',
  autovacuum: 'off',
  fsync: 'off',
  logging_collector: 'off',
  log_destination: 'stderr',
  log_error_verbosity: 'terse',
  lc_messages: 'C',
  max_connections: '20',
  max_parallel_workers_per_gather: '0',
  shared_buffers: '128MB',
});

/**
 * Restores the newest backup into a folder of its own, starts a PostgreSQL on it, which replays the archived log to its
 * end, and runs work with it. Throws an Error that says what failed. Afterwards, also when the process is told to stop,
 * the server is stopped and the folder removed.
 */
export async function withRestoredCopy<T>(
  { directory = tmpdir(), ...settings }: RestoreSettings,
  work: (copy: RestoredCopy) => Promise<T>,
): Promise<T> {
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  const stopped = new Promise<never>((_resolve, reject) => {
    stopping.signal.addEventListener('abort', () => reject(new Error('The check was stopped.')));
  });
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, stop);
  const folder = mkdtempSync(path.join(directory, 'payments-backup-'));
  let copy: CopyServer | undefined;
  try {
    // The server's user passes it, if this process is root.
    if (process.getuid?.() === 0) chmodSync(folder, 0o711);
    copy = new CopyServer(await placeOfServer(folder, silent), stopping.signal);
    return await Promise.race([copy.start(settings).then(work), stopped]);
  } finally {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, stop);
    await copy?.stop();
    removeData(folder);
  }
}

class CopyServer {
  private readonly log: string;

  constructor(
    private readonly place: ServerPlace,
    private readonly signal: AbortSignal,
  ) {
    this.log = path.join(place.data, 'check.log');
  }

  async start({ command, role }: Omit<RestoreSettings, 'directory'>): Promise<RestoredCopy> {
    const { data } = this.place;
    const { signal } = this;
    const began = performance.now();
    mkdirSync(data, { recursive: true, mode: 0o700 });
    this.own(data);
    const shell = command.replace(/%(.)/g, (found, sign: string) => ({ p: quoted(data), '%': '%' })[sign] ?? found);
    await this.run('sh', ['-c', shell]).catch((error: unknown) => {
      throw new Error(`The restore failed: ${(error as Error).message}`);
    });
    // The server's own file may name files and folders of the server.
    writeFileSync(path.join(data, 'postgresql.conf'), '', { mode: 0o600 });
    writeFileSync(path.join(data, 'check.hba'), 'local all all trust\n', { mode: 0o600 });
    const lines = Object.entries(settingsOf(data)).map(([name, value]) => `${name} = ${quoted(value, "''")}\n`);
    appendFileSync(path.join(data, 'postgresql.auto.conf'), `\n${lines.join('')}`, { mode: 0o600 });
    for (const name of ['postgresql.conf', 'check.hba', 'postgresql.auto.conf']) this.own(path.join(data, name));
    const inDatabase: RestoredCopy['inDatabase'] = async (name, work) => {
      const url = `postgres://${[role, data].map(encodeURIComponent).join('@')}/${encodeURIComponent(name)}`;
      const db = connectDatabase(url, { pool_max: 1, quiet: true, session_sql: MIGRATION_LIMITS });
      try {
        return await work(db);
      } finally {
        await db.destroy();
      }
    };
    try {
      await this.control('start', '-l', this.log, '-w');
      // It runs, replays the log, and then accepts connections.
      while (!(await inDatabase('postgres', acceptsConnections))) await sleep(REPLAY_CHECK_MS, undefined, { signal });
    } catch (error) {
      const cause = causeIn(this.log) ?? (error as Error).message;
      throw new Error(`PostgreSQL does not start on the restored files: ${cause}`, { cause: error });
    }
    return { data, seconds: Math.round((performance.now() - began) / 1_000), inDatabase };
  }

  /** Of a copy that is removed: nothing is written any more. */
  async stop(): Promise<void> {
    const { data, user, programs } = this.place;
    const args = ['stop', '-D', data, '-s', '-m', 'immediate'];
    await runCommand(path.join(programs, 'pg_ctl'), args, { user, cwd: '/' }).catch(() => undefined);
  }

  private async control(...args: string[]): Promise<void> {
    await this.run(path.join(this.place.programs, 'pg_ctl'), [...args, '-D', this.place.data, '-s']);
  }

  private async run(program: string, args: readonly string[]): Promise<void> {
    const { data, user } = this.place;
    await runCommand(program, args, { user, cwd: data, signal: this.signal });
  }

  /** Gives a file to the server's user. */
  private own(file: string): void {
    const { user } = this.place;
    if (user !== undefined) chownSync(file, user.uid, user.gid);
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
