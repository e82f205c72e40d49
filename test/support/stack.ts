import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { SearchServer } from '../../src/search/connection';
import type { StackFacts } from '../../src/stack/facts';
import { launchStack, readFacts, readVariables, removeData, type LaunchedStack } from '../../src/stack/launch';
import { makeOwnFolder } from '../../src/stack/own-folder';
import { RunningProcesses } from '../../src/stack/programs/running-processes';
import { createProgress } from '../../src/stack/progress';
import { preparePostgres } from '../../src/stack/servers/postgres';
import { until } from './waits';

export interface RunningStack extends StackFacts {
  data_dir: string;
  /** What the service shows the simulator. */
  processor_key: string;
  /** What reads the payloads of its workflows. */
  payload_keys: string;
  /** What its API keys and signing keys are protected with. */
  secret_keys: string;
  /** With its master key. */
  search_server: SearchServer;
}

/** The stack that global-setup has started for the whole run: its addresses, keys and pids, and its folder. */
export function stack(): RunningStack {
  const data_dir = process.env[DATA_DIR_OF_RUN];
  if (data_dir === undefined) throw new Error('no stack runs: tests start through jest, whose global-setup starts it');
  return stackIn(data_dir);
}

/** The stack that runs on this folder. */
export function stackIn(data_dir: string): RunningStack {
  const [variables, facts] = [readVariables(data_dir), readFacts(data_dir)];
  return {
    ...facts,
    data_dir,
    processor_key: variables['PROCESSOR_KEY'] ?? '',
    payload_keys: variables['PAYLOAD_KEYS'] ?? '',
    secret_keys: variables['SECRET_KEYS'] ?? '',
    search_server: { url: facts.meilisearch_url, master_key: variables['MEILISEARCH_KEY'] },
  };
}

/** Where global-setup leaves the folder's path for the tests. */
export const DATA_DIR_OF_RUN = 'PAYMENTS_TEST_DATA_DIR';

/** A new folder for the data of servers; what a killed run leaves there, the next run removes. */
export const serverFolder = (name: string): string => makeOwnFolder(name, { in_memory: true });

/** Of the role that owns a PostgreSQL of the tests. */
export const POSTGRES_PASSWORD = 'a-test-only';
/** In the folder of the run: PostgreSQL's data as they are made, and secrets.json with their password. */
const AS_MADE = 'as-made';

/** Makes PostgreSQL's data and their password in the folder of the run, for its stack, which adds secrets, and for copies. */
export async function makePostgres(data_dir: string): Promise<void> {
  await preparePostgres({ data_dir, log_file: '', port: 0, password: POSTGRES_PASSWORD }, createProgress());
  const [made, secrets, as_made] = ['postgres', 'secrets.json', AS_MADE].map((name) => path.join(data_dir, name));
  writeFileSync(secrets!, JSON.stringify({ postgres_password: POSTGRES_PASSWORD }), { mode: 0o600 });
  mkdirSync(as_made!, { mode: 0o711 });
  // They are elsewhere where the user postgres cannot pass the folder.
  if (existsSync(made!)) execFileSync('cp', ['-a', made!, secrets!, as_made!]);
}

/** Gives a new folder PostgreSQL's data as they were made for the run, if there is one: it takes a tenth of the time. */
export function copyPostgres(data_dir: string): void {
  const run = process.env[DATA_DIR_OF_RUN];
  const is_made = run === undefined || existsSync(path.join(data_dir, 'secrets.json'));
  if (!is_made) execFileSync('cp', ['-a', path.join(run, AS_MADE, '.'), data_dir]);
}

/** A process of the stack that a test may kill or stop. */
export type ProcessName = 'start' | 'worker' | 'api' | 'temporal' | 'postgres' | 'simulator' | 'meilisearch';

/** Arguments of start.js with which these processes of a stack do nothing, as no test uses them. */
export const idle = (...names: ('api' | 'manage' | 'worker' | 'codec')[]): string[] =>
  names.flatMap((name) => [`--${name}`, 'test/support/idle-process.cjs']);

/** A stack for one test file, which may kill its processes. */
export class OwnStack {
  readonly data_dir: string;
  private launched: LaunchedStack | undefined;

  /** `name` shows in the name of its folder; `env`: variables beside the defaults; `args`: of start.js. */
  constructor(
    name: string,
    private readonly env: () => Record<string, string> | Promise<Record<string, string>> = () => ({}),
    private readonly args: string[] = [],
  ) {
    this.data_dir = serverFolder(name);
  }

  /** Starts it, or starts it again after `killAll`. */
  async start(): Promise<RunningStack> {
    copyPostgres(this.data_dir);
    this.launched = launchStack(this.data_dir, { env: await this.env(), args: this.args });
    await this.launched.ready;
    return stackIn(this.data_dir);
  }

  /** Nobody needs its data: it is killed, which takes no time. `main/start` stops a stack in order. */
  async discard(): Promise<void> {
    this.launched?.process.kill('SIGKILL');
    await this.launched?.ended;
    await new RunningProcesses(this.data_dir).killLeftovers();
    removeData(this.data_dir);
  }

  pid(name: ProcessName): number {
    return readFacts(this.data_dir).pids[name]!;
  }

  /** Ends the process and returns once the supervisor has started it again. `SIGINT` restarts PostgreSQL in order. */
  async kill(name: ProcessName, signal: 'SIGKILL' | 'SIGINT' = 'SIGKILL'): Promise<void> {
    const pid = this.pid(name);
    process.kill(pid, signal);
    await until(`${name} is started again`, () => this.pid(name) !== pid);
  }

  /** Kills all processes at once, the supervisor included, as a power failure does. */
  async killAll(): Promise<void> {
    for (const pid of Object.values(readFacts(this.data_dir).pids)) process.kill(pid, 'SIGKILL');
    await this.launched!.ended;
  }

  /** Runs the work while the process stands still: its connections stay open and nobody answers. */
  async without<T>(name: ProcessName, work: () => Promise<T>): Promise<T> {
    const pid = this.pid(name);
    process.kill(pid, 'SIGSTOP');
    try {
      return await work();
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  }

  /** Resolves when the API can serve requests. */
  async ready(): Promise<void> {
    const { api_url } = readFacts(this.data_dir);
    const ready = () => fetch(`${api_url}/health/ready`).catch(() => undefined);
    await until('the API is ready', async () => (await ready())?.ok);
  }
}

export type SimulatorPlace = Pick<RunningStack, 'simulator_url' | 'simulator_control_key'>;

/** Calls the control API or the ledger of a simulator, by its path or an address. Throws when it refuses. */
export async function callSimulator(
  { simulator_url, simulator_control_key }: SimulatorPlace,
  path: string,
  { method = 'GET', body }: { method?: string; body?: object } = {},
): Promise<Response> {
  const answer = await fetch(new URL(path, simulator_url), {
    method,
    headers: {
      authorization: `Bearer ${simulator_control_key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer;
}

/** POST to the control API of a simulator. Throws when it refuses. */
export async function postControl(place: SimulatorPlace, what: string, body: object): Promise<Response> {
  return await callSimulator(place, `/control/${what}/`, { method: 'POST', body });
}
