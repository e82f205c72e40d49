import { serverFolder } from './server-folder';
import { discardStack, launchStack, readFacts, stackIn, type LaunchedStack, type RunningStack } from './stack';
import { until } from './until';

/** A process of the stack that a test may kill or stop. */
export type ProcessName = 'worker' | 'api' | 'temporal' | 'postgres' | 'simulator';

/** A stack for one test file, which may kill its processes. */
export class OwnStack {
  readonly data_dir: string;
  private launched!: LaunchedStack;

  /** `name` shows in the name of its folder; `env`: variables beside the defaults. */
  constructor(
    name: string,
    private readonly env: () => Record<string, string> = () => ({}),
  ) {
    this.data_dir = serverFolder(name);
  }

  /** Starts it, or starts it again after `killAll`. */
  async start(): Promise<RunningStack> {
    this.launched = launchStack(this.data_dir, { env: this.env() });
    await this.launched.ready;
    return stackIn(this.data_dir);
  }

  async discard(): Promise<void> {
    await discardStack(this.launched, this.data_dir);
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
    await this.launched.ended;
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
    await until('the API is ready', () =>
      fetch(`${api_url}/health/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
  }
}
