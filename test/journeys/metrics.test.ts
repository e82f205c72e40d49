import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import path from 'node:path';
import type { Client as Temporal, WorkflowHandle } from '@temporalio/client';
import { METRICS, type Metric } from '../../src/metrics/catalogue';
import * as manage from '../../src/client/manage';
import { withDatabase } from '../../src/db/connection';
import { SETTLEMENTS, recordAttention } from '../../src/db/recovery/attentions';
import { buildOfService } from '../../src/processes/build';
import { orderWorkflowId } from '../../workflows/messages';
import { CARD, Client } from '../support/customer';
import { recordRows } from '../support/database';
import { CARDS } from '../support/domain';
import { Merchant, webhookOf } from '../support/merchant';
import { createAuthorization, refund } from '../support/merchant-payments';
import { Operator } from '../support/operator';
import { answerIssuer } from '../support/processor';
import { startReceiver } from '../support/servers';
import { setUp } from '../support/set-up';
import { idle, OwnStack, type RunningStack } from '../support/stack';
import { temporalOf } from '../support/temporal-client';
import { tracesIn, type ReceivedSpan } from '../support/traces';
import { until } from '../support/waits';

/** The series of one scrape by name and labels, as they are written: `name{label="value"}`. */
type Scrape = ReadonlyMap<string, number>;

async function scrapeOf(metrics_url: string): Promise<Scrape> {
  const answer = await fetch(metrics_url);
  if (!answer.ok) throw new Error(`${metrics_url}: ${answer.status} ${await answer.text()}`);
  return seriesOf(await answer.text());
}

/** Throws for a line that is neither a comment nor a series. */
function seriesOf(text: string): Scrape {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const [, series, value] = /^([a-z_]\w*(?:\{.*\})?) (\S+)$/.exec(line) ?? [];
      if (series === undefined) throw new Error(`not a series: ${line}`);
      return [series, value === '+Inf' ? Infinity : Number(value)];
    }),
  );
}

/** The sum of all series of a metric that have these labels; 0 without one. */
function sumOf(scrape: Scrape, name: string, labels: Record<string, string> = {}): number {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  let sum = 0;
  for (const [series, value] of scrape) {
    const [own, own_labels = ''] = series.split(/[{}]/);
    if (own === name && wanted.every((label) => own_labels.split(',').includes(label))) sum += value;
  }
  return sum;
}

/** The names of the metrics; those of a histogram's series without their endings. */
const namesOf = (text: string): string[] => [...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name!).toSorted();

/**
 * What an operator sees from outside of a stack of this file's own, which nothing else uses: metrics, traces as a
 * collector receives them, and the log lines beside both.
 */
const receiver = setUp(startReceiver);
const collector = setUp(startCollector);
let running: RunningStack;
let merchant: Merchant;
const own = new OwnStack(
  'metrics',
  () => ({
    DEMO_WEBHOOK_URL: receiver.url,
    LOG_LEVEL: 'info',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    OTEL_BSP_SCHEDULE_DELAY: '200',
  }),
  idle('codec'),
);

let temporal: Temporal;
/** The workflow of an authorization that Temporal has lost before all tests. Recovery finds it after a minute. */
let lost: WorkflowHandle;
/** When the worker had run for some seconds, by performance.now(). */
let began: number;

beforeAll(async () => {
  running = await own.start();
  merchant = new Merchant(running);
  // Without recent searches the indexer gathers changes for ten seconds.
  await merchant.send('POST', '/v1/search/orders/', { body: { query: '*' } });
  temporal = temporalOf(running);
  lost = temporal.workflow.getHandle(orderWorkflowId((await createAuthorization(merchant)).id));
  await lost.terminate('by mistake');
  began = performance.now();
});
afterEach(() => merchant.removeFaults());
afterAll(async () => {
  await temporal?.connection.close();
  await own.discard();
});

type Name = keyof RunningStack['metrics_urls'];
const scrape = (name: Name) => scrapeOf(running.metrics_urls[name]);

/**
 * Does the work. Returns by how much the sum of the series grows; waits until it has, as some are counted afterwards.
 */
async function growth(name: Name, work: () => Promise<unknown>, of: (scrape: Scrape) => number): Promise<number> {
  const before = of(await scrape(name));
  await work();
  return await until(`a metric of ${name} grows`, async () => of(await scrape(name)) - before || undefined);
}

test('a paid order adds one to the requests, the transactions, the calls of the processor and the updates', async () => {
  const before = { api: await scrape('api'), worker: await scrape('worker') };
  await merchant.paidOrder('approved');
  const grew = async (name: 'api' | 'worker', metric: string, labels: Record<string, string>) =>
    sumOf(await scrape(name), metric, labels) - sumOf(before[name], metric, labels);
  const created = { host: 'api', operation: 'createOrder' };
  expect(await grew('api', 'payments_http_requests_total', { ...created, status: '200' })).toBe(1);
  expect(await grew('api', 'payments_http_request_duration_seconds_count', created)).toBe(1);
  expect(await grew('api', 'payments_temporal_updates_total', { purpose: 'create', result: 'carried_out' })).toBe(1);
  expect(await grew('api', 'payments_processor_calls_total', { operation: 'get_card', result: 'answered' })).toBe(1);
  const calls = { operation: 'execute', result: 'answered' };
  expect(await grew('worker', 'payments_processor_calls_total', calls)).toBe(1);
  const accepted = { kind: 'payment', status: 'accepted', payment_method: 'credit-card', environment: 'test' };
  expect(await grew('worker', 'payments_transactions_total', accepted)).toBe(1);
  expect(await grew('worker', 'payments_transactions_total', {})).toBe(1);
});

test('a declined order and a refund are counted by outcome and kind', async () => {
  const of = (labels: Record<string, string>) => (one: Scrape) => sumOf(one, 'payments_transactions_total', labels);
  const declined = of({ kind: 'payment', status: 'error' });
  expect(await growth('worker', () => merchant.paidOrder('do_not_honor'), declined)).toBe(1);
  const order = await merchant.paidOrder('approved');
  const refundIt = () => refund(merchant, order, { amount: 100, description: 'A part' });
  expect(await growth('worker', refundIt, of({ kind: 'refund', status: 'accepted' }))).toBe(1);
});

test('a webhook that its receiver refuses is counted, with its delay and duration', async () => {
  receiver.answer((response, _n, { path: at }) => void response.writeHead(at.endsWith('/refused') ? 500 : 200).end());
  const refused = { result: 'answered_5xx', environment: 'test' };
  const attempts = (one: Scrape) => sumOf(one, 'payments_webhook_attempts_total', refused);
  const webhook_url = `${receiver.url}/refused`;
  expect(await growth('worker', () => merchant.paidOrder('approved', { webhook_url }), attempts)).toBe(1);
  const first = { attempt: 'first', environment: 'test' };
  const counts = await until('no attempt is in flight', async () => {
    const now = await scrape('worker');
    return sumOf(now, 'payments_webhook_attempts_in_flight') === 0 && now;
  });
  const made = sumOf(counts, 'payments_webhook_attempts_total');
  expect(sumOf(counts, 'payments_webhook_attempt_delay_seconds_count', first)).toBe(made);
  expect(sumOf(counts, 'payments_webhook_attempt_duration_seconds_count')).toBe(made);
  expect(sumOf(counts, 'payments_webhook_deliveries_total', { status: 'delivered' })).toBe(made - 1);
});

test('an unknown outcome is seen with its age, and goes away when it is known', async () => {
  const { id: project_id } = await merchant.getProject();
  await merchant.addFault({ kind: 'outage', operation: 'sale', project_id });
  await merchant.addFault({ kind: 'outage', operation: 'ask', project_id });
  await merchant.addFault({ kind: 'outage', operation: 'ask' });
  const order = await merchant.createOrder({ transactions: [await merchant.cardTransaction('approved')] });
  expect(order.status).toBe('processing');
  const unknown = async () => sumOf(await scrape('worker'), 'payments_unknown_outcomes');
  expect(await until('the unknown outcome is counted', async () => (await unknown()) || undefined)).toBe(1);
  const seen = await scrape('worker');
  expect(sumOf(seen, 'payments_unknown_outcome_oldest_age_seconds')).toBeGreaterThan(0);
  expect(sumOf(seen, 'payments_processor_calls_total', { result: 'unreachable' })).toBeGreaterThan(0);
  await merchant.removeFaults();
  await merchant.untilOutcomeKnown(order);
  await until('no outcome is unknown', async () => (await unknown()) === 0);
  expect(sumOf(await scrape('worker'), 'payments_unknown_outcome_oldest_age_seconds')).toBe(0);
});

test('recovery and the indexer have a holder, and nothing waits for them', async () => {
  const now = await scrape('worker');
  expect(sumOf(now, 'payments_lease_holder', { lease: 'recovery' })).toBe(1);
  expect(sumOf(now, 'payments_lease_holder', { lease: 'search_indexer' })).toBe(1);
  expect(sumOf(now, 'payments_recovery_rounds_total', { result: 'finished' })).toBeGreaterThan(0);
  await merchant.paidOrder('approved');
  const found = (one: Scrape) => sumOf(one, 'payments_indexer_delay_seconds_count');
  await until('a change is found', async () => found(await scrape('worker')) > 0);
  const later = await scrape('worker');
  expect(sumOf(later, 'payments_indexer_orders_total', { result: 'written' })).toBeGreaterThan(0);
  expect(sumOf(later, 'payments_indexer_orders_total', { result: 'refused' })).toBe(0);
});

test('a worker exports the slots, tasks and calls of the SDK', async () => {
  const now = await scrape('worker');
  const { version } = buildOfService({ TEMPORAL_WORKER_BUILD_ID: undefined });
  const slots = { task_queue: 'payments', worker_type: 'WorkflowWorker', version };
  expect(sumOf(now, 'temporal_worker_task_slots_available', slots)).toBe(100);
  expect(sumOf(now, 'temporal_workflow_task_schedule_to_start_latency_seconds_count')).toBeGreaterThan(0);
  expect(sumOf(now, 'temporal_request_total')).toBeGreaterThan(0);
  // The names of the SDK's counts of polls are those that the worker reads: without them the age only grows.
  const age = async () => sumOf(await scrape('worker'), 'payments_temporal_poll_answer_age_seconds');
  await until('a poll was answered since', async () => (await age()) < (performance.now() - began) / 1_000);
});

/** The lines of a process that hold a text; libraries write lines of their own. */
const loggedBy = (name: 'api' | 'worker', text = '') =>
  readFileSync(path.join(own.data_dir, 'logs', `${name}.log`), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{') && line.includes(text))
    .map((line) => JSON.parse(line) as { msg: string; health_url?: string });

interface Created {
  id: string;
  order_url?: string;
  transactions?: { id: string }[];
}

/** Sends a request; answers with its id and what it created. */
async function post(sent: string, body?: object, headers: Record<string, string> = {}) {
  const answer = await merchant.send<Created>('POST', sent, { ...(body && { body }), headers });
  expect(answer.status).toBeLessThan(300);
  return { ...answer.body, request_id: answer.headers.get('x-request-id')! };
}

/** Of so many digits that they are no part of an id. */
const AMOUNT = 123_456_789;

async function payByToken(headers: Record<string, string> = {}) {
  const transactions = [await merchant.cardTransaction('approved')];
  const order = { amount: AMOUNT, currency: 'EUR', description: 'Two books', webhook_url: receiver.url, transactions };
  return await post('/v1/orders/', order, headers);
}

/** Looking up an API key depends on the cache. */
const withoutKeys = (tree: string) => tree.replaceAll(/^ +sql (SELECT|UPDATE) api_keys .*\n/gm, '');

/** The first webhooks of an order; those of other tests come too. */
const untilTold = (order_id: string, count = 1) =>
  until('the merchant is told', () => {
    const told = receiver.received.filter(({ body }) => webhookOf(body).order_id === order_id);
    return told.length >= count && told;
  });

const WEBHOOK = `activity startDeliveries (worker)
  start webhookDelivery (worker)
    activity attemptDeliveryLocally (worker)
      sql find delivery (worker)
      webhook attempt (worker)
      sql record attempt (worker)`;
const indented = (tree: string, spaces: number) => tree.replaceAll(/^/gm, ' '.repeat(spaces));

describe('rules 24.16', () => {
  test('a paid order is one trace, from the request to its webhook', async () => {
    const { id, request_id } = await payByToken();
    expect(
      withoutKeys(await collector.treeOf(request_id, ['createOrder', 'webhook attempt', 'sql record attempt'])),
    ).toBe(
      `createOrder (api)
  processor getVaultedCard (api)
  update createOrder (api)
    activity createAndCharge (worker)
      sql insert order (worker)
      processor execute (worker)
      sql move order (worker)
${indented(WEBHOOK, 4)}
  sql find order view (api)`,
    );
    const { headers } = (await untilTold(id))[0]!;
    const attempt = collector.traceOf(request_id).find(({ name }) => name === 'webhook attempt')!;
    expect(headers['traceparent']).toBe(`00-${attempt.trace_id}-${attempt.span_id}-01`);
  });

  test('a payment on the page with 3-D Secure: one trace for the form, one for what ends it', async () => {
    const { id } = await post('/v1/orders/', { amount: 900, currency: 'EUR', webhook_url: receiver.url });
    const customer = new Client(running.api_url);
    const form = { ...CARD, number: CARDS.challenge.number, ...(await customer.openPage({ id })) };
    const shown = await customer.postForm(`/pay/${id}/`, form);
    const tree = await collector.treeOf(shown.headers.get('x-request-id')!, ['page /pay', 'activity chargeAttempt']);
    expect(tree).toMatch(
      /^page \/pay \(api\)\n[^]*processor vaultCard[^]*\n  update submitPayment \(api\)\n    activity chargeAttempt \(worker\)\n[^]*processor execute[^]*sql move order/,
    );
    await answerIssuer((await customer.issuerAt(`/pay/${id}/`))!, { code: '0101' });
    // One webhook tells of the challenge, one of its end.
    const webhooks = await untilTold(id, 2);
    // The processor's notification ends it: the customer has not returned.
    const [, trace_id = ''] = webhooks.at(-1)!.headers['traceparent']!.toString().split('-');
    const names = ['processor_notification', 'webhook attempt'];
    expect(await collector.treeOf(trace_id, names)).toMatch(
      /^processor_notification \(api\)\n  signal processorAnswered \(api\)\n    activity pollCharge \(worker\)\n[^]*processor findOperation[^]*activity startDeliveries[^]*webhook attempt/,
    );
  });

  test('a refund is one trace, and so is a redelivery', async () => {
    const { id } = await payByToken();
    await untilTold(id);
    const refund = await post(`/v1/orders/${id}/refunds/`, { amount: 500 });
    const tree = await collector.treeOf(refund.request_id, ['refundOrder', 'webhook attempt']);
    expect(tree).toMatch(
      /^refundOrder \(api\)\n[^]*  update firstAnswer \(api\)\n    activity executeFollowUp \(worker\)\n/,
    );
    expect(tree).toMatch(/processor execute[^]*start webhookDelivery[^]*webhook attempt/);

    const again = await post(`/v1/orders/${id}/webhooks/1/redeliver/`);
    expect(
      withoutKeys(await collector.treeOf(again.request_id, ['redeliverOrderWebhook', 'sql record attempt'])),
    ).toMatch(
      /^redeliverOrderWebhook \(api\)\n[^]*\n  start webhookDelivery \(api\)\n    activity attemptDeliveryLocally \(worker\)\n      sql find delivery \(worker\)\n      webhook attempt/,
    );
    await until('it is logged', () => loggedBy('worker', again.request_id).length === 1);
    expect(loggedBy('worker', again.request_id)).toEqual([expect.objectContaining({ msg: 'webhook attempted', n: 2 })]);
  });

  test('the trace of a sender is a link, and spans hold ids alone', async () => {
    const theirs = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-00`;
    const { id, request_id } = await payByToken({ traceparent: theirs });
    await collector.treeOf(request_id, ['createOrder', 'webhook attempt']);
    const [root] = collector.traceOf(request_id).filter(({ parent_id }) => parent_id === '');
    expect(root).toMatchObject({ name: 'createOrder', links: ['ab'.repeat(16)] });
    expect(root!.attributes).toEqual({
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'http.route': '/v1/orders/',
      'payments.request_id': request_id,
      'payments.project_id': expect.any(String),
      'payments.api_key_id': expect.any(String),
      'payments.object_id': id,
    });
    const sent = collector.text();
    expect(sent).toContain(id);
    const secrets = [
      'Two books',
      String(AMOUNT),
      '/hook',
      running.test_api_key,
      'Lovelace',
      '411111',
      'select ',
      'vault_',
    ];
    expect(secrets.filter((secret) => sent.includes(secret))).toEqual([]);
  });

  test('Temporal shows a workflow whose messages carry a trace', async () => {
    const { id, request_id } = await payByToken();
    const url = `${running.temporal_ui_url}/api/v1/namespaces/payments/workflows/order:${id}/history`;
    const history = JSON.stringify(await (await fetch(url)).json());
    const [header] = /"traceparent":\{[^}]*\}[^}]*\}/.exec(history) ?? ['{}'];
    const data = /"data":"([^"]+)"/.exec(header)?.[1] ?? '';
    expect(Buffer.from(data, 'base64').toString()).toContain(request_id.replaceAll('-', ''));
  });
});

test('rules 24.15: the lines that a request causes have its id, and the trace', async () => {
  const { id, request_id } = await payByToken();
  await until('its webhook is logged', () => loggedBy('worker', request_id).length === 2);
  await until('the request is logged', () => loggedBy('api', request_id).length === 1);
  const trace_id = request_id.replaceAll('-', '');
  expect(loggedBy('api', request_id)).toEqual([
    expect.objectContaining({ msg: 'request answered', operation: 'createOrder', request_id, trace_id }),
  ]);
  expect(loggedBy('worker', request_id)).toEqual([
    expect.objectContaining({ msg: 'processor answered', operation: 'sale', result: 'approved', request_id, trace_id }),
    expect.objectContaining({ msg: 'webhook attempted', order_id: id, n: 1, attempt: 1, request_id, trace_id }),
  ]);
});

test('a restart of Postgres is seen while it lasts: failed statements by class, and the dependency', async () => {
  const ready = async () => (await fetch(`${running.api_url}/health/ready`)).status;
  const available = async () => sumOf(await scrape('api'), 'payments_dependency_available', { dependency: 'postgres' });
  const failed = async () => {
    const now = await scrape('api');
    const sums = ['connection', 'shutdown'].map((one) => sumOf(now, 'payments_db_errors_total', { class: one }));
    return sums.reduce((sum, value) => sum + value, 0);
  };
  expect([await ready(), await available(), await failed()]).toEqual([200, 1, 0]);
  const restarted = own.kill('postgres', 'SIGINT');
  await until('it is not ready', async () => (await ready()) === 503);
  // A scrape does not wait for Postgres.
  expect(await available()).toBe(0);
  await restarted;
  await until('it is ready', async () => (await ready()) === 200);
  expect(await available()).toBe(1);
  expect(await failed()).toBeGreaterThan(0);
  expect(sumOf(await scrape('api'), 'payments_db_pool_connections')).toBeGreaterThan(0);
});

test('what needs an operator is counted by its kind until it is closed', async () => {
  const openOf = async (kind: string) => sumOf(await scrape('worker'), 'payments_attentions_open', { kind });
  expect([await openOf('order'), await openOf('settlements')]).toEqual([0, 0]);
  await withDatabase(running.postgres_url, async (db) => {
    await recordAttention(db, SETTLEMENTS, 'a settlement has waited');
    await until('it is counted', async () => (await openOf('settlements')) === 1);
    await recordAttention(db, SETTLEMENTS, undefined);
  });
  await until('it is counted no more', async () => (await openOf('settlements')) === 0);
  expect(await openOf('order')).toBe(0);
});

test('rolled keys and secrets are seen with the first end of each kind, and the key that is still used', async () => {
  const operator = await Operator.signIn(running);
  const now = () => scrape('worker');
  const inUse = async () => sumOf(await now(), 'payments_rolled_api_keys_in_use');
  expect(await inUse()).toBe(0);
  const project = await operator.aProject();
  const keys = [await operator.aKey(project), await operator.aKey(project)] as const;
  const uses = keys.map(({ key }) => new Merchant(running, key));
  for (const key of keys) await operator.roll(key, 'PT10H');
  const [other] = keys;
  await manage.ok(
    manage.rollWebhookSecret(
      { projectId: project.id, webhookSecretRollRequest: { overlap: 'PT2H' } },
      operator.options,
    ),
  );
  for (const merchant_with_old_key of uses) await merchant_with_old_key.getProject();
  // Both were used today; only one was rolled before today.
  await recordRows(`update api_keys set rolled = now() - interval '1 day' where id = :id`, { id: other.id }, running);
  await until('the key is counted', async () => (await inUse()) === 1);
  const ends = async (kind: string) =>
    (sumOf(await now(), 'payments_rolled_secret_expiry_timestamp_seconds', { kind }) * 1_000 - Date.now()) / 3_600_000;
  expect(await ends('api_key')).toBeCloseTo(10, 0);
  expect(await ends('webhook_secret')).toBeCloseTo(2, 0);
  await operator.revoke(other);
  await until('it is no longer counted', async () => (await inUse()) === 0);
});

test('rules 24.14: unusual requests add few series, and no label holds a text of theirs', async () => {
  const before = (await scrape('api')).size;
  const texts = Array.from({ length: 40 }, () => randomUUID());
  for (const text of texts) {
    await merchant.send('GET', `/v1/orders/${text}/`);
    await merchant.send('GET', `/v1/${text}/`);
    await merchant.send('PATCH', `/v1/orders/${text}`, { body: { text } });
    await fetch(`${running.api_url}/pay/${text}/`, { method: 'POST', body: text });
    await fetch(`${running.manage_url}/v1/${text}/`, { headers: { authorization: `Bearer ${text}` } });
  }
  for (const name of ['api', 'manage', 'worker'] as const) {
    const answer = await (await fetch(running.metrics_urls[name])).text();
    expect(texts.filter((text) => answer.includes(text))).toEqual([]);
    expect((await scrape(name)).size).toBeLessThan(name === 'api' ? before + 80 : 1_000);
  }
});

test('every metric of the catalogue is exported by its processes, and no other', async () => {
  await fetch(`${running.api_url}/health/ready`);
  const without_server = [
    'payments_backup_check_age_seconds',
    'payments_certificate_expiry_timestamp_seconds',
    'payments_postgres_archive_age_seconds',
    'payments_postgres_archive_failing',
  ];
  const exported = new Set<string>();
  for (const name of ['api', 'manage', 'worker'] as const) {
    const text = await (await fetch(running.metrics_urls[name])).text();
    const names = namesOf(text).filter((metric) => !metric.startsWith('temporal_'));
    const own_names = (Object.entries(METRICS) as [string, Metric][]).flatMap(([metric, { processes }]) =>
      processes.includes(name) ? [metric] : [],
    );
    expect(names.filter((metric) => !own_names.includes(metric))).toEqual([]);
    for (const metric of names) exported.add(metric);
  }
  const missing = Object.keys(METRICS).filter((metric) => !exported.has(metric));
  expect(missing.toSorted()).toEqual(without_server.toSorted());
});

test('rules 24.6: while Temporal is away every poll that ends counts as failed, and the worker stays live', async () => {
  const { health_url } = loggedBy('worker').find((line) => line.health_url !== undefined)!;
  const lines_before = loggedBy('worker').length;
  const logged = () =>
    loggedBy('worker')
      .slice(lines_before)
      .map(({ msg }) => msg);
  const polls = async () => {
    const of_polls = new Map([...(await scrape('worker'))].filter(([series]) => series.includes('operation="Poll')));
    const failed = sumOf(of_polls, 'temporal_long_request_failure_total');
    return { failed, answered: sumOf(of_polls, 'temporal_long_request_latency_seconds_count') - failed };
  };
  const pollsAfter = (failures: number) =>
    until('a poll has failed', async () => {
      const now = await polls();
      return now.failed > failures && now;
    });
  // While the supervisor stands still, Temporal is not started again.
  await own.without('start', async () => {
    const before = await polls();
    process.kill(own.pid('temporal'), 'SIGKILL');
    const first = await pollsAfter(before.failed);
    expect(await pollsAfter(first.failed)).toMatchObject({ answered: first.answered });
    await until('it is logged', () => logged().includes('Temporal is unavailable'));
    expect((await fetch(`${health_url}/health/live`)).status).toBe(200);
  });
  await until('an order is paid again', () => payByToken().then(Boolean, () => false));
  for (const wrong of ['the worker is not live', 'Postgres is unavailable', 'no worker answers in time']) {
    expect(logged()).not.toContain(wrong);
  }
});

test('a lost workflow that nobody asks for: recovery starts it again, and counts that', async () => {
  await until('it runs again', async () => (await lost.describe()).status.name === 'RUNNING', 150_000);
  const restarted = (one: Scrape) => sumOf(one, 'payments_recovery_checks_total', { result: 'restarted' });
  await until('it is counted', async () => restarted(await scrape('worker')) > 0);
});

test('rules 24.17: a collector that is away changes no answer, and is logged once', async () => {
  const [lost, again] = ['traces cannot be sent', 'traces are sent again'];
  const said = (name: 'api' | 'worker') =>
    loggedBy(name, '"traces ').flatMap(({ msg }) => (msg === lost || msg === again ? msg : []));
  await collector.close();
  for (const name of ['api', 'worker'] as const) {
    await until(`${name} has lost spans`, async () => {
      await payByToken();
      return said(name).at(-1) === lost;
    });
  }
  const before = { api: said('api'), worker: said('worker') };
  const silent = await aSilentPort(collector.port);
  for (let n = 0; n < 3; n += 1) await payByToken();
  // A process ends in time although its last spans cannot be sent.
  const ends = loggedBy('worker', 'process ended').length;
  const ended = () => loggedBy('worker', 'process ended').slice(ends);
  process.kill(own.pid('worker'), 'SIGTERM');
  await until('the worker has ended', () => ended().length === 1);
  expect(ended()).toEqual([expect.objectContaining({ cause: 'SIGTERM', exit_code: 0 })]);
  expect({ api: said('api'), worker: said('worker') }).toEqual(before);
  // Each only after the other: on a machine that stands still a batch may time out before the collector is closed.
  for (const lines of Object.values(before)) expect(lines).toEqual(lines.map((_, n) => (n % 2 === 0 ? lost : again)));
  await silent.close();
});

/** Takes every connection on this port and never answers. */
async function aSilentPort(port: number) {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => void sockets.add(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** An OpenTelemetry collector: a real HTTP server that decodes the spans it receives (OTLP, protobuf). */
async function startCollector() {
  const spans: ReceivedSpan[] = [];
  const bodies: Buffer[] = [];
  const server = createHttpServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      bodies.push(Buffer.concat(chunks));
      spans.push(...spansOf(bodies.at(-1)!));
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    /** All that was received, as it was sent. */
    text: () => Buffer.concat(bodies).toString('latin1'),
    ...tracesIn(() => spans),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Numbers of fields in opentelemetry/proto/trace/v1/trace.proto and collector/trace/v1/trace_service.proto. */
function spansOf(request: Buffer): ReceivedSpan[] {
  return fieldsOf(request)
    .all(1)
    .flatMap((resource_spans) => {
      const service = String(attributesOf(resource_spans.one(1).all(1))['service.name']);
      return resource_spans
        .all(2)
        .flatMap((scope_spans) => scope_spans.all(2))
        .map((span) => ({
          service,
          trace_id: span.bytes(1).toString('hex'),
          span_id: span.bytes(2).toString('hex'),
          parent_id: span.bytes(4).toString('hex'),
          name: span.bytes(5).toString(),
          started: span.bytes(7).readBigUInt64LE(),
          attributes: attributesOf(span.all(9)),
          links: span.all(13).map((link) => link.bytes(1).toString('hex')),
          is_failed: span.one(15).number(3) === 2,
        }));
    });
}

function attributesOf(pairs: readonly Fields[]): ReceivedSpan['attributes'] {
  return Object.fromEntries(
    pairs.map((pair) => {
      const value = pair.one(2);
      return [
        pair.bytes(1).toString(),
        value.has(1) ? value.bytes(1).toString() : value.has(2) ? value.number(2) === 1 : value.number(3),
      ];
    }),
  );
}

/** The fields of a protobuf message by their numbers. */
interface Fields {
  has(number: number): boolean;
  /** The first one; nothing, if it is absent. */
  bytes(number: number): Buffer;
  number(number: number): number;
  one(number: number): Fields;
  all(number: number): Fields[];
}

function fieldsOf(message: Buffer): Fields {
  const found: { number: number; value: Buffer | number }[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at]!;
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return Number(value);
    }
  };
  while (at < message.length) {
    const tag = varint();
    const wire_type = tag & 7;
    if (wire_type === 0) found.push({ number: tag >> 3, value: varint() });
    else {
      const length = wire_type === 2 ? varint() : wire_type === 1 ? 8 : 4;
      found.push({ number: tag >> 3, value: message.subarray(at, at + length) });
      at += length;
    }
  }
  const valuesOf = (number: number) => found.filter((field) => field.number === number).map(({ value }) => value);
  const bytes = (number: number): Buffer => {
    const [value] = valuesOf(number);
    return Buffer.isBuffer(value) ? value : Buffer.alloc(0);
  };
  return {
    bytes,
    has: (number) => valuesOf(number).length > 0,
    number: (number) => Number(valuesOf(number)[0] ?? 0),
    one: (number) => fieldsOf(bytes(number)),
    all: (number) => valuesOf(number).flatMap((value) => (Buffer.isBuffer(value) ? [fieldsOf(value)] : [])),
  };
}
