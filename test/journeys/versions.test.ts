import type { Client } from '@temporalio/client';
import { spawn, type ChildProcess } from 'node:child_process';
import {
  cpSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { failedTasks } from '../../proofs/upgrade/ends';
import { SteadyOrders } from '../../proofs/upgrade/load';
import { parseConfig } from '../../src/config';
import { dataConverter } from '../../src/temporal/connect';
import { bundleHash } from '../../src/temporal/bundle-hash';
import { findVersions, moveWorkflow, type DeployedVersion } from '../../src/temporal/deployment';
import { drainOthers } from '../../src/temporal/open-histories';
import type { WorkflowRun } from '../../src/temporal/visibility';
import { workflowBundlePath } from '../../src/temporal/workflow-bundle';
import { repositoryRoot } from '../../src/stack/files';
import { readVariables } from '../../src/stack/launch';
import { runCommand } from '../../src/stack/tools/command';
import { orderWorkflowId, paymentLinkWorkflowId, recordChanged } from '../../workflows/messages';
import { runAdmin } from '../support/admin';
import { CARD, Client as Customer } from '../support/customer';
import { Merchant } from '../support/merchant';
import { capture, capturePart, createAuthorization, part } from '../support/merchant-payments';
import { ledgerDifferences } from '../../proofs/invariants/ledger';
import { idle, OwnStack, type RunningStack } from '../support/stack';
import { inNamespace, temporalOf } from '../support/temporal-client';
import { until } from '../support/waits';

/** Two versions of the workflows side by side, under load, as an operator deploys them. */
const own = new OwnStack(
  'versions',
  async () => ({ ...(await inNamespace('versions')), DEPLOYMENT_VERSIONING: 'operator' }),
  idle('manage'),
);
let stack: RunningStack;
let temporal: ReturnType<typeof temporalOf>;
let load: SteadyOrders | undefined;
/** Builds with another workflow of orders: one that continues open orders, and one that cannot. */
let newer: Built;
let broken: Built;
const processes: ChildProcess[] = [];
const folders: string[] = [];

beforeAll(async () => {
  [stack, newer, broken] = await Promise.all([
    own.start(),
    buildWith((code) => `// Another version.\n${code}`),
    // An order that is open has other first steps in its history.
    buildWith((code) =>
      code.replace(/(?<=setOrderHandlers\)\(\w+\)[,;]\s*)/, 'await new Promise((done) => setTimeout(done, 1)), '),
    ),
  ]);
  temporal = temporalOf(stack);
});
afterEach(() => load?.stop());
afterAll(async () => {
  await temporal.connection.close();
  for (const one of processes) one.kill('SIGKILL');
  await own.discard();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** The compiled code in a folder, its version of the workflows, and what its processes get beside the environment of all. */
interface Built {
  folder: string;
  version: string;
  env?: Record<string, string>;
}

const builtIn = (folder: string): Built => {
  const { version } = JSON.parse(readFileSync(path.join(folder, 'dist/build.json'), 'utf8')) as { version: string };
  return { folder, version };
};
const HEAD = builtIn(repositoryRoot());
/** The name of the Worker Deployment unless TEMPORAL_DEPLOYMENT_NAME says otherwise. */
const DEPLOYMENT = 'payments';

/**
 * A build of this code with another workflow of orders, described as `npm run build` does it. Its bundle has the same
 * `change`, of minified code, since webpack takes many seconds, and leaves comments out.
 */
async function buildWith(change: (code: string) => string): Promise<Built> {
  const folder = mkdtempSync(path.join(tmpdir(), 'payments-build-'));
  folders.push(folder);
  const dist = path.join(folder, 'dist');
  mkdirSync(dist);
  for (const name of ['activities', 'api', 'src', 'workflows']) {
    cpSync(path.join(HEAD.folder, 'dist', name), path.join(dist, name), { recursive: true });
  }
  for (const name of ['package.json', 'package-lock.json']) {
    copyFileSync(path.join(HEAD.folder, name), path.join(folder, name));
  }
  symlinkSync(path.join(HEAD.folder, 'node_modules'), path.join(folder, 'node_modules'));
  const writeChanged = (from: string, to: string) => {
    const code = readFileSync(from, 'utf8');
    const changed = change(code);
    if (changed === code) throw new Error('the change does not fit the code');
    writeFileSync(to, changed);
  };
  const order = path.join(dist, 'workflows/order.js');
  writeChanged(order, order);
  writeChanged(await bundleOfHead(), path.join(dist, `workflow-bundle-${await bundleHash(dist)}.js`));
  await runCommand(process.execPath, [path.join(dist, 'src/main/describe-build.js')]);
  return builtIn(folder);
}
const bundleOfHead = () => workflowBundlePath(path.join(HEAD.folder, 'dist'));

const environment = () => ({ ...process.env, NODE_ENV: 'production', ...readVariables(own.data_dir) });

/** A command of a build; `failed`: it ended with 1. */
async function admin<Answer>({ folder, env }: Built, ...args: string[]): Promise<Answer & { failed: boolean }> {
  // This process has the code of head; it has no worker's package that `drain` needs.
  if (folder === HEAD.folder && !args.includes('drain')) {
    const { text, failed } = await runAdmin(['--json', ...args], { env, data_dir: own.data_dir });
    return { ...(JSON.parse(text) as Answer), failed };
  }
  const child = spawn(process.execPath, [path.join(folder, 'dist/src/main/admin.js'), '--json', ...args], {
    env: { ...environment(), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const code = await new Promise((resolve) => child.once('close', resolve));
  return { ...(JSON.parse(text) as Answer), failed: code !== 0 };
}

/**
 * By the version's name, any build's command has new workflows begin with it, or a share of them. Temporal refuses a
 * version whose worker, which has just started, it does not know yet.
 */
const makeCurrent = ({ version }: Built) =>
  until('the version is current', async () => !(await admin(HEAD, 'deploy', 'current', '--version', version)).failed);
const ramp = ({ version }: Built, percentage: number) =>
  admin(HEAD, 'deploy', 'ramp', '--version', version, '--percentage', String(percentage));

async function startWorker({ folder, env }: Built): Promise<ChildProcess> {
  const worker = spawn(process.execPath, [path.join(folder, 'dist/src/main/worker.js')], {
    env: { ...environment(), ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  processes.push(worker);
  await new Promise<void>((resolve, reject) => {
    worker.once('message', () => resolve());
    worker.once('exit', (code) => reject(new Error(`the worker ended with code ${code}`)));
  });
  return worker;
}

const AUTOMATIC = { DEPLOYMENT_VERSIONING: 'automatic' };
/** Workers that go on from test to test: they get nothing of other versions. */
const kept = new Map<Built, Promise<ChildProcess>>();
function keepWorker(built: Built, env: Record<string, string> = {}): Promise<ChildProcess> {
  const worker = kept.get(built) ?? startWorker({ ...built, env });
  kept.set(built, worker);
  return worker;
}

async function stopWorker(worker: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => worker.once('exit', resolve));
  worker.kill('SIGTERM');
  await ended;
}

const statusOf = async ({ version, env }: Built): Promise<Partial<DeployedVersion>> => {
  const name = env?.['TEMPORAL_DEPLOYMENT_NAME'] ?? DEPLOYMENT;
  return (await findVersions({ client: temporal, name })).find((one) => one.version === version) ?? {};
};

/** Temporal shows a change of a version a moment later. */
const untilStatus = (version: Built, status: DeployedVersion['status']) =>
  until(`a version is ${status}`, async () => (await statusOf(version)).status === status);

/** How long the load goes on after each step. Milliseconds. */
const STEP_MS = 1_000;
/** Temporal reports after about a minute that a history does not replay; recovery looks twice a minute. Milliseconds. */
const RESTARTED_MS = 180_000;

test('rules 24.21: two versions under load: current, ramp, back, drain; nothing fails and the money is right', async () => {
  await admin(HEAD, 'deploy', 'current');
  // A repeat changes nothing.
  const current = { current: HEAD.version, failed: false };
  expect(await admin(HEAD, 'deploy', 'current')).toMatchObject(current);
  const { items } = await admin<{ items: object[] }>(HEAD, 'deploy', 'status');
  const leases = expect.stringMatching(/^0\.1\.0\+[0-9a-f]{16} since 20/);
  expect(items).toEqual([{ version: HEAD.version, status: 'current', open_workflows: expect.any(Number), leases }]);

  const merchant = new Merchant(stack);
  const [unpaid, held, link] = await Promise.all([
    merchant.createOrder({ expiration_period: 'P1D' }),
    createAuthorization(merchant),
    merchant.createPaymentLink(),
  ]);
  const open = [unpaid, held].map(({ id }) => orderWorkflowId(id)).concat(paymentLinkWorkflowId(link.id));
  await until('Temporal lists the open workflows', async () => (await statusOf(HEAD)).open_workflows! >= open.length);

  // Before any worker of the build starts.
  const fits = await admin<{ replayed: number; would_stop: string[] }>(newer, 'deploy', 'check');
  expect(fits).toMatchObject({ version: newer.version, would_stop: [], failed: false });
  expect(fits.replayed).toBeGreaterThanOrEqual(open.length);
  const stops = await admin<{ would_stop: string[] }>(broken, 'deploy', 'check');
  expect(stops.failed).toBe(true);
  const named = expect.arrayContaining(
    open.slice(0, 2).map((id) => expect.stringMatching(`^${id}: .*TMPRL1100`) as string),
  );
  expect(stops.would_stop).toEqual(named);
  expect(stops.would_stop.join()).not.toContain(link.id);

  load = new SteadyOrders(merchant);
  await sleep(STEP_MS);
  // A version without workers is refused.
  expect(await ramp(newer, 10)).toMatchObject({ error: 'Conflict', failed: true });
  const worker = await startWorker(newer);
  await until('the version ramps', async () => !(await ramp(newer, 10)).failed);
  await untilStatus(newer, 'ramping');
  expect((await statusOf(newer)).percentage).toBe(10);
  const ramped: string[] = [];
  const began_newer = await until('one in ten begins with the newer version', async () => {
    const made = await Promise.all(
      Array.from({ length: 10 }, () => merchant.createOrder({ expiration_period: 'P1D' })),
    );
    ramped.push(...made.map(({ id }) => id));
    if (ramped.length < 30) return false;
    const versions = await Promise.all(ramped.map((id) => firstVersionOf(orderWorkflowId(id))));
    const count = versions.filter((version) => version === newer.version).length;
    return count > 0 && count;
  });
  // With one in ten, half of 30 orders or more is a chance of one in 28 million.
  expect(began_newer).toBeLessThan(ramped.length / 2);
  await until('Temporal lists them', async () => (await statusOf(newer)).open_workflows! >= began_newer);
  await ramp(newer, 0);
  await untilStatus(newer, 'draining');
  await sleep(STEP_MS);

  await makeCurrent(newer);
  await untilStatus(newer, 'current');
  await sleep(STEP_MS);
  // Open orders stay where they began, and only the current build drains.
  expect((await statusOf(HEAD)).open_workflows).toBeGreaterThanOrEqual(open.length);
  // What such an order starts begins with the current version.
  const first_part = await capturePart(merchant, held, part(100));
  expect(await firstVersionOf(orderWorkflowId(first_part.body.id))).toBe(newer.version);
  expect(await admin(HEAD, 'deploy', 'drain')).toMatchObject({ error: 'Conflict', failed: true });

  // Back, and the newer version goes.
  await admin(HEAD, 'deploy', 'current');
  await sleep(STEP_MS);
  const drained = await admin<{ moved: number; stay: string[] }>(HEAD, 'deploy', 'drain');
  expect(drained).toMatchObject({ stay: [], failed: false });
  expect(drained.moved).toBeGreaterThan(0);
  await until('no workflow needs the newer version', async () => (await statusOf(newer)).open_workflows === 0);
  await stopWorker(worker);
  await sleep(STEP_MS);
  await load.stop();

  expect(load.wrong).toEqual([]);
  expect(Object.keys(load.answers).every((status) => status.startsWith('2'))).toBe(true);
  expect((await capture(merchant, held)).status).toBe(200);
  const cancelled = await Promise.all([unpaid.id, ...ramped].map((id) => merchant.cancelOrder(id)));
  expect(new Set(cancelled.map(({ status }) => status))).toEqual(new Set(['cancelled']));
  expect((await merchant.endPaymentLink(link.id)).status).toBe('expired');
  expect(await ledgerDifferences(stack)).toEqual([]);
  expect((await failedTasks(stack)).failures).toEqual([]);
}, 480_000);

test('rules 24.21: orders that a version cannot continue stay where they are; automatic moves what it can', async () => {
  const since = new Date();
  await makeCurrent(HEAD);
  const merchant = new Merchant(stack);
  const unpaid = await merchant.createOrder({ expiration_period: 'P1D' });
  await until('Temporal lists it', async () => (await statusOf(HEAD)).open_workflows! > 0);
  await keepWorker(broken);
  await makeCurrent(broken);
  const drained = await admin<{ moved: number; stay: string[] }>(broken, 'deploy', 'drain');
  expect(drained.failed).toBe(true);
  expect(drained.stay).toContainEqual(expect.stringMatching(`^${orderWorkflowId(unpaid.id)}: .*TMPRL1100`));

  await keepWorker(newer, AUTOMATIC);
  await untilStatus(newer, 'current');
  await until('it has moved the open order', async () => (await statusOf(HEAD)).open_workflows === 0);
  expect((await merchant.cancelOrder(unpaid.id)).status).toBe('cancelled');

  const [busy, held] = await Promise.all(
    ['sale', 'manual'].map((mode) =>
      merchant.createOrder({
        expiration_period: 'P1D',
        transactions: [{ payment_method: 'credit-card', ...(mode === 'manual' && { capture_mode: mode }) }],
      }),
    ),
  );
  await admin(HEAD, 'deploy', 'current');
  await until('Temporal lists them', async () => (await statusOf(newer)).open_workflows === 2);
  const { PAYLOAD_KEYS } = parseConfig(environment());
  const options = {
    bundle_path: await bundleOfHead(),
    dataConverter: dataConverter(PAYLOAD_KEYS!),
  };
  // A worker of the newer version charges one of them.
  const slow = { operation: 'authorize', order_id: held!.id, kind: 'latency', milliseconds: 2_500, times: 1 } as const;
  const fault = await merchant.addFault(slow);
  const customer = new Customer(stack.api_url);
  const page = `/pay/${held!.id}/`;
  const paid = customer.postForm(page, { ...CARD, ...(await customer.openPage(held!)) });
  await fault.hit;
  const { client, fetched } = goingOn(orderWorkflowId(busy!.id), 2);
  expect(await drainOthers({ client, name: DEPLOYMENT }, HEAD.version, options)).toEqual({ moved: 2, stay: [] });
  const timesFetched = ({ id }: { id: string }) => fetched.filter((one) => one === orderWorkflowId(id)).length;
  expect(timesFetched(busy!)).toBe(3);
  expect(timesFetched(held!)).toBeGreaterThan(1);
  expect((await paid).status).toBe(200);
  expect((await capture(merchant, await merchant.getOrder(held!.id))).status).toBe(200);
  expect((await merchant.cancelOrder(busy!.id)).status).toBe('cancelled');
  expect((await failedTasks(stack, { since })).failures).toEqual([]);
}, 240_000);

test('rules 24.21: after deploy off workers without versions begin new orders and continue open ones; then versions again', async () => {
  const since = new Date();
  const merchant = new Merchant(stack);
  const worker = await keepWorker(newer, AUTOMATIC);
  await makeCurrent(newer);
  const [unpaid, waiting] = await Promise.all([
    merchant.createOrder({ expiration_period: 'P1D' }),
    merchant.createOrder({ expiration_period: 'P1D' }),
  ]);
  await until('Temporal lists them', async () => (await statusOf(newer)).open_workflows === 2);
  await stopWorker(worker);
  const off = { ...newer, env: { DEPLOYMENT_VERSIONING: 'off' } };
  const unversioned = await startWorker(off);
  const ended = await admin<{ before: string; moved: number }>({ ...HEAD, env: off.env }, 'deploy', 'off');
  expect(ended).toMatchObject({ before: newer.version, failed: false });
  expect(ended.moved).toBeGreaterThanOrEqual(2);

  const customer = new Customer(stack.api_url);
  const form = { ...CARD, ...(await customer.openPage(unpaid)) };
  expect((await customer.postForm(`/pay/${unpaid.id}/`, form)).status).toBe(200);
  expect((await merchant.getOrder(unpaid.id)).status).toBe('completed');
  const order = await merchant.createOrder({ expiration_period: 'P1D' });
  expect((await merchant.cancelOrder(order.id)).status).toBe('cancelled');
  await stopWorker(unversioned);

  await admin(HEAD, 'deploy', 'current');
  expect(await admin(HEAD, 'deploy', 'drain')).toMatchObject({ stay: [], failed: false });
  const { raw } = await temporal.workflow.getHandle(orderWorkflowId(waiting.id)).describe();
  const { versioningOverride } = raw.workflowExecutionInfo!.versioningInfo!;
  expect(versioningOverride).toMatchObject({ pinned: { version: { buildId: HEAD.version } } });
  expect((await merchant.cancelOrder(waiting.id)).status).toBe('cancelled');
  expect((await failedTasks(stack, { since })).failures).toEqual([]);
}, 240_000);

/** The other test runs meanwhile. Not one that drains or turns versions off: both move these orders too. */
describe('two orders are moved to a version that cannot replay their histories', () => {
  /** The runs that were moved. */
  const moved_orders: WorkflowRun[] = [];
  /** Resolves once one order is cancelled and the payment of the other one captured. */
  let changed: Promise<unknown>;
  /** Goes on until the end, as the orders may start again while its version is current. */
  let worker_of_newer: ChildProcess;
  beforeAll(async () => {
    await admin(HEAD, 'deploy', 'current');
    const merchant = new Merchant(stack);
    const [unpaid, held] = await Promise.all([
      merchant.createOrder({ expiration_period: 'P1D' }),
      createAuthorization(merchant),
    ]);
    [worker_of_newer] = await Promise.all([startWorker(newer), keepWorker(broken)]);
    for (const { id } of [unpaid, held]) {
      const handle = temporal.workflow.getHandle(orderWorkflowId(id));
      const { workflowId: workflow_id, runId: run_id } = await handle.describe();
      moved_orders.push({ workflow_id, run_id });
      const deployment = { client: temporal, name: DEPLOYMENT };
      await moveWorkflow(deployment, { workflow_id, run_id }, broken.version);
    }
    const isCancelled = async () => (await merchant.cancelOrder(unpaid.id)).status === 'cancelled';
    const isCaptured = async () => (await capture(merchant, held)).status === 200;
    changed = Promise.all([
      until('the order is cancelled', isCancelled, RESTARTED_MS),
      until('the payment is captured', isCaptured, RESTARTED_MS),
    ]);
    changed.catch(() => undefined);
  });
  afterAll(() => stopWorker(worker_of_newer));

  test('rules 24.21: the next run of a payment link begins with the current version; that of an order or a moved link stays', async () => {
    const since = new Date();
    await admin(HEAD, 'deploy', 'current');
    const merchant = new Merchant(stack);
    const [order, link, moved] = await Promise.all([
      merchant.createOrder({ expiration_period: 'P1D' }),
      merchant.createPaymentLink(),
      merchant.createPaymentLink(),
    ]);
    const ids = [orderWorkflowId(order.id), ...[link, moved].map(({ id }) => paymentLinkWorkflowId(id))];
    const { workflowId: workflow_id, runId: run_id } = await temporal.workflow.getHandle(ids[2]!).describe();
    const deployment = { client: temporal, name: DEPLOYMENT };
    expect(await moveWorkflow(deployment, { workflow_id, run_id }, HEAD.version)).toBe(true);
    await makeCurrent(newer);
    expect(await Promise.all(ids.map(versionOfNextRun))).toEqual([HEAD.version, newer.version, HEAD.version]);

    expect((await merchant.cancelOrder(order.id)).status).toBe('cancelled');
    for (const { id } of [link, moved]) expect((await merchant.endPaymentLink(id)).status).toBe('expired');
    const { failures } = await failedTasks(stack, { since });
    expect(
      failures.filter((failure) => !moved_orders.some(({ workflow_id }) => failure.includes(workflow_id))),
    ).toEqual([]);
    await admin(HEAD, 'deploy', 'current');
  }, 240_000);

  test('rules 10.13: an order whose history its worker cannot replay starts again from its record', async () => {
    await changed;
    for (const { workflow_id, run_id } of moved_orders) {
      const { status } = await temporal.workflow.getHandle(workflow_id, run_id).describe();
      expect(status.name).toBe('TERMINATED');
    }
    expect(await ledgerDifferences(stack)).toEqual([]);
  }, 240_000);
});

test("rules 24.21: workers have the deployment and the version that Temporal's Worker Controller gives them", async () => {
  const [TEMPORAL_DEPLOYMENT_NAME, version] = ['pay/payments-worker-all', '0.1.0-5d4c9f'];
  const given = { ...HEAD, version, env: { TEMPORAL_DEPLOYMENT_NAME, TEMPORAL_WORKER_BUILD_ID: version } };
  // The workflows whose tasks fail in the test before this one have ended.
  const since = new Date();
  await makeCurrent(HEAD);
  const merchant = new Merchant(stack);
  const before = await merchant.createOrder({ expiration_period: 'P1D' });
  await until('Temporal lists it', async () => (await statusOf(HEAD)).open_workflows! > 0);
  await startWorker(given);
  await until('Temporal knows the version', async () => (await statusOf(given)).status === 'inactive');
  expect(await admin(given, 'deploy', 'current')).toEqual({ current: version, failed: false });
  const { items } = await admin<{ items: object[] }>(given, 'deploy', 'status');
  expect(items).toMatchObject([{ version, status: 'current', leases: expect.stringMatching(/^0\.1\.0\+/) }]);

  const order = await merchant.createOrder({ expiration_period: 'P1D' });
  await until('the order began with it', async () => (await statusOf(given)).open_workflows! > 0);
  expect((await merchant.cancelOrder(order.id)).status).toBe('cancelled');
  // An order of before stays with its own worker until it is moved.
  expect((await statusOf(HEAD)).open_workflows).toBeGreaterThan(0);
  expect(await admin(given, 'deploy', 'drain')).toMatchObject({ moved: expect.any(Number), stay: [], failed: false });
  await until('it has been moved', async () => (await statusOf(HEAD)).open_workflows === 0);
  expect((await merchant.cancelOrder(before.id)).status).toBe('cancelled');
  expect((await failedTasks(stack, { since })).failures).toEqual([]);
});

/** Signals a workflow until its history is so long that it continues in a new run; the version of that run's first task. */
async function versionOfNextRun(workflow_id: string): Promise<string> {
  const handle = temporal.workflow.getHandle(workflow_id);
  const { runId } = await handle.describe();
  const hasNewRun = async () => {
    if ((await handle.describe()).runId !== runId) return true;
    await Promise.all(Array.from({ length: 64 }, () => handle.signal(recordChanged)));
    return false;
  };
  await until(`${workflow_id} continues in a new run`, hasNewRun, 120_000);
  return await firstVersionOf(workflow_id);
}

/** The version of the first task of a workflow's run. */
async function firstVersionOf(workflow_id: string): Promise<string> {
  return await until('its first task is done', async () => {
    const { events } = await temporal.workflow.getHandle(workflow_id).fetchHistory();
    const done = events!.find((one) => one.workflowTaskCompletedEventAttributes != null);
    return done?.workflowTaskCompletedEventAttributes?.deploymentVersion?.buildId ?? undefined;
  });
}

/** A client that has a workflow go on after its history was fetched, so many times. */
function goingOn(busy: string, times: number): { client: Client; fetched: string[] } {
  const fetched: string[] = [];
  let left = times;
  const getHandle: Client['workflow']['getHandle'] = (workflow_id: string, run_id?: string) => {
    const handle = temporal.workflow.getHandle(workflow_id, run_id);
    const fetchHistory = async () => {
      const history = await handle.fetchHistory();
      fetched.push(workflow_id);
      if (workflow_id === busy && left-- > 0) {
        await handle.signal(recordChanged);
        await until('it has gone on', async () => (await handle.describe()).historyLength > history.events!.length + 2);
      }
      return history;
    };
    return Object.assign(Object.create(handle), { fetchHistory });
  };
  const workflow = Object.create(temporal.workflow, { getHandle: { value: getHandle } }) as Client['workflow'];
  return { client: Object.create(temporal, { workflow: { value: workflow } }) as Client, fetched };
}
