import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readFacts, readVariables, type LaunchedStack } from '../../src/stack/launch';
import { runCommand } from '../../src/stack/tools/command';
import { bundleHash } from '../../src/temporal/bundle-hash';
import { startReceiver } from '../../test/support/servers';
import { serverFolder, stackIn, type RunningStack } from '../../test/support/stack';
import { temporalOf } from '../../test/support/temporal-client';
import { until } from '../../test/support/waits';
import { TASK_QUEUE } from '../../workflows/messages';
import type { Proof, ProofInput, ProofOutcome } from '../proof';
import { endAll, failedTasks, wrongEnds } from './ends';
import { Load, openObjects } from './load';
import { HEAD, ReleaseSwitch, buildRelease, launcherOf, previousCommit, removeRelease, type Release } from './release';

/** Open orders, links and webhooks together. */
const OPEN = { ci: 100, full: 2_000 };
/** How long the load goes on after each step. Milliseconds. */
const BETWEEN_MS = { ci: 5_000, full: 20_000 };

export const upgrade: Proof = {
  name: 'upgrade',
  title:
    'The commit before and this one replace each other under load (schema, workers, API, and back): no workflow task fails, no request gets a 5xx, and everything open ends right.',
  not_proved: [
    'The API runs in one process here, as with `npm start`: while it restarts, connections are refused or end without an answer. They are counted apart, as `no connection`; a deployment with several API processes is not tried.',
    'Workers go back only if both commits have the same workflow bundle. Otherwise the table says so: histories may hold steps that the old code does not know (docs/operations.md).',
    'The schema does not go back: migrations are not reversed, and the older release runs on the newer schema.',
    'The bearer-token host, the codec server and the simulator stay at the commit before.',
    'A task that Temporal refuses because a message has just come (UNHANDLED_COMMAND) is not counted as failed: it is done again with the message.',
  ],
  seeds: [1],
  in_ci: false,
  async run(input): Promise<ProofOutcome> {
    const { single, say } = input;
    const commit = single ?? previousCommit();
    say(`building ${commit}`);
    const before = await buildRelease(commit);
    const receiver = await startReceiver();
    const run = new UpgradeRun(input, before, receiver);
    try {
      return await run.prove();
    } finally {
      await run.close();
      await receiver.close();
      removeRelease(before);
    }
  },
};

/** TASK_QUEUE_TYPE_WORKFLOW. */
const WORKFLOW_TASKS = 1;

type Receiver = Awaited<ReturnType<typeof startReceiver>>;

class UpgradeRun {
  private readonly data_dir = serverFolder('proof-upgrade');
  private readonly folder = mkdtempSync(path.join(tmpdir(), 'payments-upgrade-'));
  private readonly releases = new ReleaseSwitch(this.folder);
  private readonly launcher;
  private launched: LaunchedStack | undefined;
  private phase = 'the start';

  constructor(
    private readonly input: ProofInput,
    private readonly before: Release,
    private readonly receiver: Receiver,
  ) {
    this.launcher = launcherOf(before);
  }

  async prove(): Promise<ProofOutcome> {
    const { size, say } = this.input;
    const { before } = this;
    for (const program of ['worker', 'api'] as const) this.releases.use(program, before);
    this.launched = this.launcher.launchStack(this.data_dir, { args: this.releases.args() });
    await this.launched.ready;
    const stack = stackIn(this.data_dir);
    this.receiver.answer((response) => void response.writeHead(500).end());
    say(`opening ${OPEN[size]} orders, links and webhooks`);
    const open = await openObjects(stack, OPEN[size], this.receiver.url);
    const load = new Load(stack, () => this.phase);
    const workersGoBack =
      (await bundleHash(path.join(before.folder, 'dist'))) === (await bundleHash(path.join(HEAD.folder, 'dist')));
    try {
      await this.step('the load before', () => Promise.resolve());
      await this.step('the migration', () => this.migrate(stack));
      await this.step('the new workers', () => this.replaceWorker(HEAD));
      await this.step('the new API', () => this.replaceApi(HEAD));
      await this.step('the old API', () => this.replaceApi(before));
      if (workersGoBack) await this.step('the old workers', () => this.replaceWorker(before));
    } finally {
      await load.stop();
    }
    this.phase = 'the end';
    this.receiver.answer((response) => void response.writeHead(200).end());
    say('ending all that is open');
    await endAll(stack, open);
    const ends = await wrongEnds(stack, open);
    const { histories, failures } = await failedTasks(stack);
    const repeat = `(seed ${this.input.seed}, case ${before.name})`;
    const sum = (status: RegExp) =>
      Object.entries(load.answers).reduce((total, [what, count]) => total + (status.test(what) ? count : 0), 0);
    return {
      counts: {
        'open objects': OPEN[size],
        'webhooks received': this.receiver.received.length,
        'requests under load': sum(/./),
        'without a connection': sum(/^no connection/),
        '5xx': sum(/^5/),
        histories,
        'failed workflow tasks': failures.length,
      },
      injections: { 'processes replaced': workersGoBack ? 4 : 3 },
      violations: [...load.failures, ...failures, ...ends].map((text) => `${text} ${repeat}`),
      details: [
        `The commit before: ${before.name}. ${workersGoBack ? 'Both have the same workflow bundle, so the workers went back too.' : 'The workflow bundles differ, so the workers did not go back.'}`,
        `Answers under load: ${Object.entries(load.answers)
          .map(([what, count]) => `${count} ${what}`)
          .join(', ')}.`,
      ].join('\n\n'),
    };
  }

  async close(): Promise<void> {
    if (this.launched !== undefined) await this.launcher.discardStack(this.launched, this.data_dir);
    rmSync(this.data_dir, { recursive: true, force: true });
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Does one step of the upgrade, and lets the load go on for a while. */
  private async step(name: string, work: () => Promise<void>): Promise<void> {
    this.phase = name;
    this.input.say(name);
    await work();
    await sleep(BETWEEN_MS[this.input.size]);
  }

  private async migrate({ postgres_url }: RunningStack): Promise<void> {
    const env = { ...process.env, ...readVariables(this.data_dir), POSTGRES_OWNER_URL: postgres_url };
    await runCommand(process.execPath, [path.join(HEAD.folder, 'dist/src/main/migrate.js')], { env });
  }

  /** As operations.md says: a new worker starts beside the old one, which then finishes its tasks and is replaced. */
  private async replaceWorker(release: Release): Promise<void> {
    const beside = await this.startWorker(release);
    this.releases.use('worker', release);
    await this.replace('worker');
    await this.untilPolls(readFacts(this.data_dir).pids['worker']!);
    beside.kill('SIGTERM');
    await new Promise((resolve) => beside.once('exit', resolve));
  }

  private async replaceApi(release: Release): Promise<void> {
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
  private async startWorker({ folder }: Release): Promise<ChildProcess> {
    const env = { ...process.env, NODE_ENV: 'production', ...readVariables(this.data_dir) };
    const entry = path.join(folder, 'dist/src/main/worker.js');
    const worker = spawn(process.execPath, [entry], { cwd: folder, env, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    await new Promise<void>((resolve, reject) => {
      worker.once('message', () => resolve());
      worker.once('exit', (code) => reject(new Error(`the worker of ${folder} ended with code ${code}`)));
    });
    return worker;
  }

  /** Waits until Temporal knows the worker with this pid. */
  private async untilPolls(pid: number): Promise<void> {
    const client = temporalOf(stackIn(this.data_dir));
    const queue = {
      namespace: client.options.namespace,
      taskQueue: { name: TASK_QUEUE },
      taskQueueType: WORKFLOW_TASKS,
    };
    try {
      await until('the new worker polls', async () => {
        const { pollers } = await client.workflowService.describeTaskQueue(queue);
        return pollers?.some(({ identity }) => identity?.startsWith(`${pid}@`));
      });
    } finally {
      await client.connection.close();
    }
  }

  /** Stops a process of the stack in order; the supervisor starts it again, from the release that is chosen by then. */
  private async replace(name: 'worker' | 'api'): Promise<void> {
    const pid = readFacts(this.data_dir).pids[name]!;
    process.kill(pid, 'SIGTERM');
    await until(`${name} is started again`, () => readFacts(this.data_dir).pids[name] !== pid);
  }
}
