import { rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { repositoryRoot } from '../../src/stack/files';
import { discardStack, launchStack, type LaunchedStack } from '../../src/stack/launch';
import { serverFolder, stackIn, type RunningStack } from '../../test/support/stack';
import { until } from '../../test/support/waits';
import { socketOf, type CrashPoint, type Orders, type Report, type Victim } from './messages';

/** Where the calls of one flow stopped, or what they were. */
export interface Seen {
  /** The calls, the first first. */
  calls: { what: string; is_read: boolean }[];
  stopped?: { point: CrashPoint; what: string } | undefined;
}

/** A stack whose api and worker number their calls, and whom the proof kills with kill -9. */
export class CrashStack {
  private readonly data_dir = serverFolder('crash');
  private readonly sockets = new Map<Victim, Socket>();
  private readonly pids = new Map<Victim, number>();
  private readonly seen = new Map<string, Seen>();
  private readonly server: Server;
  private launched: LaunchedStack | undefined;
  private obeyed: () => void = () => undefined;

  constructor() {
    this.server = createServer((socket) => this.listenTo(socket));
  }

  async start(): Promise<RunningStack> {
    await new Promise<void>((resolve) => this.server.listen(socketOf(this.data_dir), resolve));
    const program = (name: Victim) => path.join(repositoryRoot(), 'dist/proofs/crash', `keep-${name}.js`);
    this.launched = launchStack(this.data_dir, {
      args: ['--api', program('api'), '--worker', program('worker')],
      // A stopped call keeps its connection, and up to a dozen are stopped at a time.
      env: { POSTGRES_CONNECTIONS_MAX: '40' },
    });
    await this.launched.ready;
    return stackIn(this.data_dir);
  }

  async discard(): Promise<void> {
    if (this.launched !== undefined) await discardStack(this.launched, this.data_dir);
    for (const socket of this.sockets.values()) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
    rmSync(this.data_dir, { recursive: true, force: true });
  }

  /** Has a process number the calls of these flows from now on, and stop them at their points. */
  async order(victim: Victim, orders: Orders): Promise<void> {
    for (const { marker } of orders.flows) this.seen.set(`${victim} ${marker}`, { calls: [] });
    const socket = await until(`the ${victim} listens`, () => this.sockets.get(victim));
    const obeyed = new Promise<void>((resolve) => (this.obeyed = resolve));
    socket.write(`${JSON.stringify(orders)}\n`);
    await obeyed;
  }

  /** What the process has said of a flow's calls since `order`. */
  of(victim: Victim, marker: string): Seen {
    return this.seen.get(`${victim} ${marker}`) ?? { calls: [] };
  }

  /** kill -9; resolves once another one has been started. */
  async kill(victim: Victim): Promise<void> {
    const pid = this.pids.get(victim)!;
    this.sockets.delete(victim);
    process.kill(pid, 'SIGKILL');
    await until(`the ${victim} is started again`, () => this.pids.get(victim) !== pid);
  }

  private listenTo(socket: Socket): void {
    socket.on('error', () => undefined);
    let victim: Victim | undefined;
    createInterface({ input: socket }).on('line', (line) => {
      const report = JSON.parse(line) as Report;
      if (report.kind === 'started') {
        victim = report.victim;
        this.sockets.set(victim, socket);
        this.pids.set(victim, report.pid);
      } else if (report.kind === 'obeys') this.obeyed();
      else if (victim !== undefined) this.note(victim, report);
    });
  }

  private note(victim: Victim, report: Extract<Report, { marker: string }>): void {
    const seen = this.seen.get(`${victim} ${report.marker}`);
    if (seen === undefined) return;
    if (report.kind === 'call') seen.calls.push({ what: report.what, is_read: report.is_read });
    else seen.stopped = { point: report.point, what: report.what };
  }
}
