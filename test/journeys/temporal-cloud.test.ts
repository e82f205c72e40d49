import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import http2, { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { repositoryRoot } from '../../src/stack/files';
import { answerOfAdmin } from '../support/admin';
import { Merchant } from '../support/merchant';
import { createTestProject, type TestProject } from '../support/operator';
import { startReceiver, type Receiver } from '../support/servers';
import { idle, OwnStack, serverFolder, stack, type RunningStack } from '../support/stack';
import { temporalCommand } from '../support/temporal';
import { until } from '../support/waits';

/** A stack on the Temporal of the run, in a namespace of its own, behind TLS and an API key. */

/** Statuses of gRPC. */
const PERMISSION_DENIED = 7;
const UNAUTHENTICATED = 16;

/** A call that came, by the method of gRPC. */
interface CloudCall {
  method: string;
  authorization: string | undefined;
}

/**
 * A real Temporal as Temporal Cloud shows it: behind TLS, for one API key, and with methods that the key may not call.
 * Close it.
 */
async function startTemporalCloud(options: {
  /** host:port of the server. */
  address: string;
  /** For the certificates. */
  folder: string;
  api_key: string;
}) {
  const certificates = certify(options.folder);
  const calls: CloudCall[] = [];
  let { api_key } = options;
  let refused: readonly string[] = [];
  const server = http2.createSecureServer({
    cert: readFileSync(certificates.cert),
    key: readFileSync(certificates.key),
  });
  const sessions = new Set<http2.Http2Session>();
  server.on('session', (session) => {
    const behind = http2.connect(`http://${options.address}`);
    for (const one of [session, behind]) {
      sessions.add(one);
      // Its streams are told.
      one.on('error', () => undefined);
    }
    session.once('close', () => behind.destroy());
    session.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      const { authorization } = headers;
      const method = String(headers[':path']).split('/').at(-1)!;
      calls.push({ method, authorization });
      stream.on('error', () => undefined);
      if (authorization !== `Bearer ${api_key}`) return refuse(stream, UNAUTHENTICATED);
      if (refused.includes(method)) return refuse(stream, PERMISSION_DENIED);
      forward(stream, behind.request({ ...headers, ':authority': options.address, ':scheme': 'http' }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `localhost:${(server.address() as AddressInfo).port}`,
    /** PEM file of the CA that signed the certificate. */
    ca: certificates.ca,
    calls,
    /** Only calls with this key are answered from now on. */
    expectKey: (next: string) => void (api_key = next),
    /** The key may not call these methods from now on. */
    refuse: (methods: readonly string[]) => void (refused = methods),
    async close() {
      for (const session of sessions) session.destroy();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}

function refuse(stream: ServerHttp2Stream, status: number): void {
  const headers = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': String(status) };
  stream.respond({ ...headers, 'grpc-message': 'Request unauthorized.' }, { endStream: true });
}

/** Passes on a call and its answer, with the trailers that hold the status of gRPC. */
function forward(stream: ServerHttp2Stream, call: http2.ClientHttp2Stream): void {
  let trailers: IncomingHttpHeaders = {};
  stream.pipe(call);
  call.on('response', (headers, flags) => {
    const is_whole = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
    if (stream.destroyed) return;
    stream.respond(headers, is_whole ? { endStream: true } : { waitForTrailers: true });
    if (!is_whole) call.pipe(stream);
  });
  call.on('trailers', (headers) => (trailers = headers));
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  call.on('error', () => stream.close(constants.NGHTTP2_INTERNAL_ERROR));
  stream.once('close', () => call.close(constants.NGHTTP2_CANCEL));
}

/** A CA, and a certificate of it for localhost: PEM files. */
function certify(folder: string) {
  const file = (name: string) => path.join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' });
  const made = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
  openssl('req', ...made, '-subj', '/CN=CA of a test', '-keyout', file('ca.key'), '-out', file('ca.pem'));
  const leaf = ['-addext', 'basicConstraints=critical,CA:FALSE', '-addext', 'subjectAltName=DNS:localhost'];
  const signed = ['-CA', file('ca.pem'), '-CAkey', file('ca.key'), '-keyout', file('tls.key'), '-out', file('tls.pem')];
  openssl('req', ...made, '-subj', '/CN=localhost', ...leaf, ...signed);
  return { ca: file('ca.pem'), cert: file('tls.pem'), key: file('tls.key') };
}

const KEY = 'a-test-only';
const namespace = `cloud-${process.pid}`;
const folder = serverFolder('temporal-cloud');
let cloud: Awaited<ReturnType<typeof startTemporalCloud>>;
let running_stack: RunningStack;
let receiver: Receiver;
let project: TestProject;
const own = new OwnStack(
  'behind-tls',
  () => ({
    TEMPORAL_ADDRESS: cloud.address,
    TEMPORAL_NAMESPACE: namespace,
    TEMPORAL_API_KEY: KEY,
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: cloud.ca,
  }),
  idle('manage'),
);

beforeAll(async () => {
  const { temporal_address: address } = stack();
  const TEMPORAL_CLI = await temporalCommand();
  execFileSync('sh', [path.join(repositoryRoot(), 'deploy/temporal/namespace.sh')], {
    env: { ...process.env, TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, TEMPORAL_CLI },
    // It complains until Temporal knows what it has made.
    stdio: 'pipe',
  });
  cloud = await startTemporalCloud({ address, folder, api_key: KEY });
  running_stack = await own.start();
  receiver = await startReceiver();
  project = await createTestProject({ webhook_url: receiver.url }, running_stack);
});

afterAll(async () => {
  try {
    await own.discard();
  } finally {
    await receiver?.close();
    await cloud?.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

const linesOf = (process: string, message: string) =>
  readFileSync(path.join(own.data_dir, 'logs', `${process}.log`), 'utf8')
    .split('\n')
    .filter((line) => line.includes(message));

test('rules 24.24: behind TLS an order is paid and its webhook sent; each call has the key', async () => {
  const order = await project.merchant.paidOrder('approved');
  expect(order.status).toBe('completed');
  await receiver.waitFor(1);
  expect(new Set(cloud.calls.map(({ authorization }) => authorization))).toEqual(new Set([`Bearer ${KEY}`]));
  const used = ['ExecuteMultiOperation', 'PollWorkflowTaskQueue', 'RespondWorkflowTaskCompleted'];
  expect(cloud.calls.map(({ method }) => method)).toEqual(expect.arrayContaining(used));
});

test('rules 24.24: an API whose key may not describe the namespace starts, is ready and takes payments', async () => {
  cloud.refuse(['DescribeNamespace']);
  const before = cloud.calls.length;
  await own.kill('api');
  await own.ready();
  expect((await project.merchant.paidOrder('approved')).status).toBe('completed');
  const waiting = await project.merchant.createOrder();
  expect((await project.merchant.cancelOrder(waiting.id)).status).toBe('cancelled');
  // A worker may still be making the search index.
  const checks = await until(
    'doctor finds nothing wrong',
    async () => {
      const now = await answerOfAdmin<{ check: string; result: string }[]>(['doctor'], { data_dir: own.data_dir });
      return now.every(({ result }) => result !== 'wrong') && now;
    },
    60_000,
    2_000,
  );
  expect(checks.map(({ check }) => check)).toEqual(
    expect.arrayContaining(['temporal', 'search attributes', 'workers']),
  );
  expect(cloud.calls.slice(before).map(({ method }) => method)).toContain('DescribeNamespace');
  // The refusal of this call alone is no outage.
  expect(linesOf('api', 'Temporal is unavailable')).toEqual([]);
});

test('rules 24.24: while Temporal refuses the key, orders are 503, and the log says why; then payments go on', async () => {
  const merchant = new Merchant(running_stack);
  cloud.expectKey('another');
  const refused = await merchant.send('POST', '/v1/orders/', { body: { currency: 'EUR', amount: 1_250 } });
  expect(refused).toMatchObject({ status: 503, body: { error: { type: 'ServerError' } } });
  await until('the log says why', () =>
    linesOf('api', 'Temporal is unavailable').some((line) => line.includes('unauth')),
  );

  cloud.expectKey(KEY);
  const paid = await until('an order is paid', async () => {
    const transactions = [await merchant.cardTransaction('approved')];
    const body = { currency: 'EUR', amount: 1_250, transactions };
    const { status, body: order } = await merchant.send<{ status: string }>('POST', '/v1/orders/', { body });
    return status === 200 && order.status;
  });
  expect(paid).toBe('completed');
});
