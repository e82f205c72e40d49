import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readFacts, readVariables, type LaunchedStack } from '../../src/stack/launch';
import { runCommand } from '../../src/stack/tools/command';
import { serverFolder, stackIn, type RunningStack } from '../../test/support/stack';
import { withTemporal } from '../../test/support/temporal-client';
import { until } from '../../test/support/waits';
import { TASK_QUEUE } from '../../workflows/messages';
import { HEAD, ReleaseSwitch, launcherOf, type CompiledRelease } from './release';

/** TASK_QUEUE_TYPE_WORKFLOW. */
const WORKFLOW_TASKS = 1;

/** A stack of the release before, whose processes are replaced by those of another release. */
export class ReleaseProcesses {
  private readonly data_dir = serverFolder('proof-upgrade');
  private readonly folder = mkdtempSync(path.join(tmpdir(), 'payments-upgrade-'));
  private readonly releases = new ReleaseSwitch(this.folder);
  private readonly launcher;
  private launched: LaunchedStack | undefined;
  private readonly beside: ChildProcess[] = [];

  constructor(private readonly before: CompiledRelease) {
    this.launcher = launcherOf(before);
  }

  /** Starts the stack; `env`: variables beside the defaults. */
  async start(env: Record<string, string> = {}): Promise<RunningStack> {
    for (const program of ['worker', 'api'] as const) this.releases.use(program, this.before);
    this.launched = this.launcher.launchStack(this.data_dir, { args: this.releases.args(), env });
    await this.launched.ready;
    return stackIn(this.data_dir);
  }

  async close(): Promise<void> {
    for (const worker of this.beside) worker.kill('SIGKILL');
    if (this.launched !== undefined) await this.launcher.discardStack(this.launched, this.data_dir);
    rmSync(this.data_dir, { recursive: true, force: true });
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Migrates the schema to that of head. */
  async migrate(): Promise<void> {
    const env = { ...this.environment(), POSTGRES_OWNER_URL: readFacts(this.data_dir).postgres_url };
    await runCommand(process.execPath, [path.join(HEAD.folder, 'dist/src/main/migrate.js')], { env });
  }

  /** A command of a release. `failed`: it ended with 1. */
  async admin({ folder }: CompiledRelease, ...args: string[]): Promise<Record<string, unknown> & { failed: boolean }> {
    const command = [path.join(folder, 'dist/src/main/admin.js'), '--json', ...args];
    const env = this.environment();
    const admin = spawn(process.execPath, command, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    admin.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const [code] = (await once(admin, 'close')) as [number | null];
    return { ...(JSON.parse(text) as object), failed: code !== 0 };
  }

  /** As operations.md says: a new worker starts beside the old one, which then finishes its tasks and is replaced. */
  async replaceWorker(release: CompiledRelease): Promise<void> {
    const beside = await this.startWorker(release);
    await this.replaceSupervisedWorker(release);
    beside.kill('SIGTERM');
    await once(beside, 'exit');
  }

  /** Has the supervisor run the worker of a release instead of the one before. */
  async replaceSupervisedWorker(release: CompiledRelease): Promise<void> {
    this.releases.use('worker', release);
    await this.replace('worker');
    await this.untilPolls(readFacts(this.data_dir).pids['worker']!);
  }

  async replaceApi(release: CompiledRelease): Promise<void> {
    this.releases.use('api', release);
    await this.replace('api');
    await until('the API is ready', () =>
      fetch(`${readFacts(this.data_dir).api_url}/health/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
  }

  /** A worker that no supervisor keeps. */
  async startWorker({ folder }: CompiledRelease): Promise<ChildProcess> {
    const env = this.environment();
    const entry = path.join(folder, 'dist/src/main/worker.js');
    const worker = spawn(process.execPath, [entry], { cwd: folder, env, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    this.beside.push(worker);
    await new Promise<void>((resolve, reject) => {
      worker.once('message', () => resolve());
      worker.once('exit', (code) => reject(new Error(`the worker of ${folder} ended with code ${code}`)));
    });
    return worker;
  }

  private environment(): NodeJS.ProcessEnv {
    return { ...process.env, NODE_ENV: 'production', ...readVariables(this.data_dir) };
  }

  /** Waits until Temporal knows the worker with this pid. */
  private async untilPolls(pid: number): Promise<void> {
    await withTemporal(stackIn(this.data_dir), async ({ options: { namespace }, workflowService }) => {
      const queue = { namespace, taskQueue: { name: TASK_QUEUE }, taskQueueType: WORKFLOW_TASKS };
      await until('the new worker polls', async () => {
        const { pollers } = await workflowService.describeTaskQueue(queue);
        return pollers?.some(({ identity }) => identity?.startsWith(`${pid}@`));
      });
    });
  }

  /** Stops a process of the stack in order; the supervisor starts it again, from the release that is chosen by then. */
  private async replace(name: 'worker' | 'api'): Promise<void> {
    const pid = readFacts(this.data_dir).pids[name]!;
    process.kill(pid, 'SIGTERM');
    await until(`${name} is started again`, () => readFacts(this.data_dir).pids[name] !== pid);
  }
}
