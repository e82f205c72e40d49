import { request } from 'node:http';
import { CONTROL_KEY, KEY, startTestSimulator } from './support';
import { setUp } from '../../support/set-up';

const bench = setUp(() => startTestSimulator({ names: ['Simulator'] }));

type Headers = Record<string, string>;
const JSON_BODY = { 'content-type': 'application/json' };
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

/** The status of a request with any headers, `Host` and `Origin` included, which `fetch` does not let a caller set. */
function statusOf(url: string, method: string, headers: Headers = {}, body = ''): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    sent.once('error', reject);
    sent.end(method === 'POST' ? body : undefined);
  });
}
const toPrograms = (method: string, path: string, headers?: Headers, body?: string) =>
  statusOf(bench.simulator.url + path, method, headers, body);

const PRIVATE = [
  ['GET', '/ledger/'],
  ['GET', '/control/faults/'],
  ['POST', '/control/faults/'],
  ['DELETE', '/control/faults/'],
  ['POST', '/control/due/'],
  ['POST', '/control/chargebacks/'],
  ['POST', '/control/settlements/'],
  ['POST', '/control/notifications/'],
] as const;

test.each(PRIVATE)('rules 17.6: %s %s needs the control key', async (method, path) => {
  for (const headers of [{}, bearer('sk_wrong'), bearer(''), bearer(KEY), { authorization: CONTROL_KEY }]) {
    expect([headers, await toPrograms(method, path, { ...JSON_BODY, ...headers }, '{}')]).toEqual([headers, 401]);
  }
  expect(await toPrograms(method, path, { ...JSON_BODY, ...bearer(CONTROL_KEY) }, '{}')).not.toBe(401);
});

test('rules 17.6: the control key is not the processor key', async () => {
  expect(await toPrograms('GET', '/v1/settlements/', bearer(CONTROL_KEY))).toBe(401);
  expect(await toPrograms('GET', '/v1/settlements/', bearer(KEY))).toBe(200);
});

test.each<[string, Headers]>([
  ['without a type', {}],
  ['as a form', { 'content-type': 'application/x-www-form-urlencoded' }],
  ['as text', { 'content-type': 'text/plain' }],
])('rules 17.6: a body %s is refused, with the key too', async (_how, headers) => {
  expect(await toPrograms('POST', '/control/settlements/', { ...bearer(CONTROL_KEY), ...headers }, '{}')).toBe(415);
  expect(await toPrograms('POST', '/v1/operations/', { ...bearer(KEY), ...headers }, '{}')).toBe(415);
});

test('rules 17.7: pages have no access: an Origin, and a foreign name of this machine, are refused, with the key too', async () => {
  const { host, port } = new URL(bench.simulator.url);
  const refused = async (headers: Headers) =>
    await Promise.all(
      ['/ledger/', '/v1/settlements/', '/'].map((path) =>
        toPrograms('GET', path, { ...bearer(path === '/ledger/' ? CONTROL_KEY : KEY), ...headers }),
      ),
    );
  expect(await refused({ origin: 'https://shop.example.com' })).toEqual([403, 403, 403]);
  expect(await refused({ origin: `http://${host}` })).toEqual([403, 403, 403]);
  expect(await refused({ host: `attacker.example.com:${port}` })).toEqual([403, 403, 403]);
  for (const name of ['localhost', 'simulator', '10.0.0.7', '[::1]']) {
    expect([name, await refused({ host: `${name}:${port}` })]).toEqual([name, [200, 200, 200]]);
  }
});

test('rules 17.7: the port of the 3-D Secure page serves that page and its style, and nothing else', async () => {
  const { page_url } = bench.simulator;
  expect(page_url).not.toBe(bench.simulator.url);
  const paths = [...PRIVATE, ['GET', '/v1/settlements/'], ['POST', '/v1/operations/'], ['GET', '/cards.json']] as const;
  for (const [method, path] of [...paths, ['GET', '/'], ['GET', '/health/ready']] as const) {
    for (const key of [KEY, CONTROL_KEY]) {
      const status = await statusOf(page_url + path, method, { ...JSON_BODY, ...bearer(key) }, '{}');
      expect([method, path, status]).toEqual([method, path, 404]);
    }
  }
  expect(await statusOf(`${page_url}/style.css`, 'GET')).toBe(200);

  const charge = await bench.charge('challenge');
  const answer = await bench.processor.execute(charge, charge.transaction_id);
  const { challenge_url } = answer as { challenge_url: string };
  expect(challenge_url.startsWith(`${page_url}/challenge/`)).toBe(true);
  expect(await statusOf(challenge_url, 'GET', { host: 'issuer.example.com' })).toBe(200);
  expect(await toPrograms('GET', new URL(challenge_url).pathname)).toBe(404);
});
