import { readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import path from 'node:path';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { CARD, Client } from '../support/customer';
import { CARDS } from '../support/domain';
import { Merchant, webhookOf } from '../support/merchant';
import { answerIssuer } from '../support/processor';
import { startReceiver } from '../support/servers';
import { setUp } from '../support/set-up';
import { idle, OwnStack } from '../support/stack';
import { tracesIn, type ReceivedSpan } from '../support/traces';
import { until } from '../support/waits';

/** The traces of a stack of its own, as a collector receives them, and the log lines beside them. */
const receiver = setUp(startReceiver);
const collector = setUp(startCollector);
const own = setUp(
  async () => {
    const stack = new OwnStack(
      'traces',
      () => ({
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_TIMEOUT: '500',
        OTEL_BSP_SCHEDULE_DELAY: '200',
        LOG_LEVEL: 'info',
      }),
      idle('manage', 'codec'),
    );
    return { stack, place: await stack.start() };
  },
  ({ stack }) => stack.discard(),
);
jest.setTimeout(300_000);
beforeEach(() => void receiver.received.splice(0));

const merchant = () => new Merchant(own.place);
interface Created {
  id: string;
  order_url?: string;
  transactions?: { id: string }[];
}

/** Sends a request; answers with its id and what it created. */
async function post(sent: string, body?: object, headers: Record<string, string> = {}) {
  const answer = await merchant().send<Created>('POST', sent, { ...(body && { body }), headers });
  expect(answer.status).toBeLessThan(300);
  return { ...answer.body, request_id: answer.headers.get('x-request-id')! };
}

async function payByToken(headers: Record<string, string> = {}) {
  const transactions = [await merchant().cardTransaction('approved')];
  const order = { amount: 1_250, currency: 'EUR', description: 'Two books', webhook_url: receiver.url, transactions };
  return await post('/v1/orders/', order, headers);
}

/** Looking up an API key depends on the cache. */
const withoutKeys = (tree: string) => tree.replaceAll(/^ +sql (SELECT|UPDATE) api_keys .*\n/gm, '');

const linesOf = (name: string) =>
  readFileSync(path.join(own.stack.data_dir, 'logs', `${name}.log`), 'utf8').split('\n');
const loggedBy = (name: string, text: string) =>
  linesOf(name)
    .filter((line) => line.includes(text))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const WEBHOOK = `activity startDeliveries (worker)
  start webhookDelivery (worker)
    activity attemptDeliveryLocally (worker)
      sql find delivery (worker)
      webhook attempt (worker)
      sql record attempt (worker)`;
const indented = (tree: string, spaces: number) => tree.replaceAll(/^/gm, ' '.repeat(spaces));

describe('rules 24.16', () => {
  test('a paid order is one trace, from the request to its webhook', async () => {
    const { request_id } = await payByToken();
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
    const [{ headers }] = (await receiver.waitFor(1)) as [(typeof receiver.received)[0]];
    const attempt = collector.traceOf(request_id).find(({ name }) => name === 'webhook attempt')!;
    expect(headers['traceparent']).toBe(`00-${attempt.trace_id}-${attempt.span_id}-01`);
  });

  test('a payment on the page with 3-D Secure: one trace for the form, one for what ends it', async () => {
    const { id } = await post('/v1/orders/', { amount: 900, currency: 'EUR', webhook_url: receiver.url });
    const customer = new Client(own.place.api_url);
    const form = { ...CARD, number: CARDS.challenge.number, ...(await customer.openPage({ id })) };
    const shown = await customer.postForm(`/pay/${id}/`, form);
    const tree = await collector.treeOf(shown.headers.get('x-request-id')!, ['page /pay', 'activity chargeAttempt']);
    expect(tree).toMatch(
      /^page \/pay \(api\)\n[^]*processor vaultCard[^]*\n  update submitPayment \(api\)\n    activity chargeAttempt \(worker\)\n[^]*processor execute[^]*sql move order/,
    );
    const html = await (await customer.send(`/pay/${id}/`)).text();
    const issuer = /href="([^"]+\/challenge\/[^"]*)"/.exec(html)![1]!.replaceAll('&amp;', '&');
    await answerIssuer(issuer, { code: '0101' });
    const told = () => receiver.received.filter(({ body }) => webhookOf(body).order_id === id);
    // One webhook tells of the challenge, one of its end.
    await until('the outcome is told', () => told().length === 2, 60_000);
    // The processor's notification ends it: the customer has not returned.
    const [, trace_id = ''] = told().at(-1)!.headers['traceparent']!.toString().split('-');
    const names = ['processor_notification', 'webhook attempt'];
    expect(await collector.treeOf(trace_id, names)).toMatch(
      /^processor_notification \(api\)\n  signal processorAnswered \(api\)\n    activity pollCharge \(worker\)\n[^]*processor findOperation[^]*activity startDeliveries[^]*webhook attempt/,
    );
  });

  test('a refund is one trace, and so is a redelivery', async () => {
    const { id } = await payByToken();
    await receiver.waitFor(1);
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
    const secrets = ['Two books', '1250', '/hook', own.place.test_api_key, 'Lovelace', '411111', 'select ', 'vault_'];
    expect(secrets.filter((secret) => sent.includes(secret))).toEqual([]);
  });

  test('Temporal shows a workflow whose messages carry a trace', async () => {
    const { id, request_id } = await payByToken();
    const url = `${own.place.temporal_ui_url}/api/v1/namespaces/payments/workflows/order:${id}/history`;
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

test('rules 24.17: a collector that is away changes no answer, and is logged once', async () => {
  const [lost, again] = ['traces cannot be sent', 'traces are sent again'];
  const said = (name: string) =>
    loggedBy(name, '"traces ').flatMap(({ msg }) => (msg === lost || msg === again ? msg : []));
  await collector.close();
  for (const name of ['api', 'worker']) {
    await until(`${name} has lost spans`, async () => {
      await payByToken();
      return said(name).at(-1) === lost;
    });
  }
  const before = { api: said('api'), worker: said('worker') };
  const silent = await aSilentPort(collector.port);
  for (let n = 0; n < 3; n += 1) await payByToken();
  // A process ends in time although its last spans cannot be sent.
  const pid = own.stack.pid('worker');
  process.kill(pid, 'SIGTERM');
  await until('the worker has ended', () => loggedBy('worker', 'process ended').length === 1, 60_000);
  expect(loggedBy('worker', 'process ended')).toEqual([expect.objectContaining({ cause: 'SIGTERM', exit_code: 0 })]);
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
