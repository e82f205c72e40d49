import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { aManageHost } from '../../support/manage';
import { API_PROJECT, OWNER, serveTestApi } from '../../support/test-api';
import { until } from '../../support/waits';

type Line = Record<string, unknown>;

/** What an API logs of requests. */
async function serve(LOG_REQUESTS: 'all' | 'errors' | 'none') {
  const api = await serveTestApi({ config: { LOG_REQUESTS } });
  const lines = () => api.lines.map((line) => JSON.parse(line) as Line).filter(({ msg }) => msg === 'request answered');
  return { api, lines };
}

test('rules 3.9: each request is one line, without path, headers and body', async () => {
  const { api, lines } = await serve('all');
  const order_id = randomUUID();
  const created = await api.post('/v1/orders/', { currency: 'EUR', amount: 1, description: 'Two books' });
  await api.send(`/v1/orders/${order_id}/`);
  await api.send('/v1/orders/4111111111111111/?note=secret');
  await fetch(`${api.url}/v1/orders/`, { headers: { authorization: 'Basic c2VjcmV0Og==' } });
  await api.send('/nothing/secret');
  await fetch(`${api.url}/health/ready`);
  await until('all are logged', () => lines().length === 5);
  const caller = { project_id: API_PROJECT.id, api_key_id: OWNER.api_key_id };
  const fields = (line: Line) =>
    Object.fromEntries(
      Object.entries(line).filter(([name]) => !['level', 'time', 'pid', 'hostname', 'msg'].includes(name)),
    );
  const text = expect.any(String) as string;
  const common = { request_id: text, ms: expect.any(Number) as number };
  expect(lines().map(fields)).toEqual([
    { ...common, operation: 'createOrder', ...caller, object_id: text, method: 'POST', status: 200 },
    { ...common, operation: 'getOrder', ...caller, order_id, object_id: text, method: 'GET', status: 200 },
    { ...common, operation: 'getOrder', ...caller, method: 'GET', status: 400 },
    { ...common, operation: 'listOrders', method: 'GET', status: 401 },
    { ...common, method: 'GET', status: 404 },
  ]);
  expect(lines()[0]!['request_id']).toBe(created.headers.get('x-request-id'));
  expect(api.lines.join('')).not.toMatch(/books|secret|c2Vj/);
  await api.close();
});

test('rules 3.9: a request that is refused for its headers has a line too', async () => {
  const { api, lines } = await serve('all');
  const request = httpRequest(`${api.url}/v1/orders/`, { headers: ['Host', 'one', 'Host', 'two'], agent: false });
  await once(request.end(), 'response');
  request.destroy();
  await until('it is logged', () => lines().length === 1);
  expect(lines()[0]).toMatchObject({ method: 'GET', status: 400 });
  await api.close();
});

test('rules 1.13, 3.9: a request that the path names is the object of the line, which has its own request id', async () => {
  const { api, lines } = await serve('all');
  const object_id = randomUUID();
  const answer = await api.send(`/v1/requests/${object_id}/`);
  await until('it is logged', () => lines().length === 1);
  expect(lines()[0]).toMatchObject({ request_id: answer.headers.get('x-request-id'), operation: 'getRequest' });
  expect(api.lines.join('')).not.toContain(`"request_id":"${object_id}"`);
  await api.close();
});

test('rules 3.9: a client that the path names is the object of the line, whose client is the caller', async () => {
  const host = await aManageHost();
  const caller = await host.aClient('operator');
  const token = String((await host.askToken({ ...caller })).body['access_token']);
  const { client_id: object_id } = await host.aClient('operator');
  const path = `/v1/clients/${object_id}/`;
  await host.send('POST', `${path}roll/`, { token, body: { overlap: 'soon' } });
  await host.send('DELETE', path, { token });
  const lines = () =>
    host.lines.map((line) => JSON.parse(line) as Line).filter(({ msg }) => msg === 'request answered');
  await until('all are logged', () => lines().length === 3);
  const { client_id } = caller;
  expect(lines()).toMatchObject([
    { operation: 'create_token', status: 200 },
    { operation: 'rollClient', client_id, object_id, status: 400 },
    { operation: 'revokeClient', client_id, object_id, status: 204 },
  ]);
  await host.close();
});

test('rules 3.9: only errors, or nothing, where it is configured so', async () => {
  for (const [which, expected] of [
    ['errors', [404]],
    ['none', []],
  ] as const) {
    const { api, lines } = await serve(which);
    await api.send(`/v1/orders/${randomUUID()}/`);
    await api.send('/nothing');
    await until('what is to be logged is logged', () => lines().length >= expected.length);
    expect(lines().map(({ status }) => status)).toEqual(expected);
    await api.close();
  }
});
