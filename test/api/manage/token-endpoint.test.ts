import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose';
import { TOKEN_PATH } from '../../../src/contract/manage/manage-api';
import { aManageHost, type ManageHost } from '../../support/manage';
import { setUp } from '../../support/set-up';
import { NOBODY } from '../../support/shapes';

/** For the tests that stay below the limits of failures. */
const host = setUp(aManageHost);

test('rules 21.2: a good request gets a token of an hour, which the published keys check', async () => {
  const merchant_id = (await host.database.db('merchants').first('id')) as { id: string };
  const client = await host.aClient('merchant', merchant_id.id);
  const { status, headers, body } = await host.askToken({ ...client });
  expect([status, body]).toEqual([
    200,
    { token_type: 'Bearer', expires_in: 3_600, access_token: expect.any(String) as unknown },
  ]);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('content-type')).toBe('application/json');
  const { body: keys } = await host.send<JSONWebKeySet>('GET', '/.well-known/jwks.json');
  expect(JSON.stringify(keys)).not.toContain('"d"');
  const { payload } = await jwtVerify(String(body['access_token']), createLocalJWKSet(keys));
  expect(payload).toMatchObject({
    iss: 'https://manage.example.com',
    sub: client.client_id,
    aud: 'payments',
    role: 'merchant',
    merchant_id: merchant_id.id,
  });
  expect(payload.exp! - payload.iat!).toBe(3_600);
});

test('the metadata names the addresses', async () => {
  const { body } = await host.send('GET', '/.well-known/oauth-authorization-server');
  expect(body).toMatchObject({
    issuer: 'https://manage.example.com',
    token_endpoint: `https://manage.example.com${TOKEN_PATH}`,
    jwks_uri: 'https://manage.example.com/.well-known/jwks.json',
    grant_types_supported: ['client_credentials'],
  });
});

test('rules 21.2: the credentials may come as Basic, and with capitals in the id', async () => {
  const { client_id, client_secret } = await host.aClient('operator');
  const basic = (id: string, secret: string) => ({
    authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
  });
  expect((await host.askToken({}, basic(client_id, client_secret))).status).toBe(200);
  expect((await host.askToken({ client_id }, basic(client_id, client_secret))).status).toBe(200);
  expect((await host.askToken({ client_id: client_id.toUpperCase(), client_secret })).status).toBe(200);
  const twoWays = await host.askToken({ client_id, client_secret }, basic(client_id, client_secret));
  expect([twoWays.status, twoWays.body['error']]).toEqual([400, 'invalid_request']);
});

test('rules 21.3: errors are those of OAuth, in its shape', async () => {
  const good = await host.aClient('operator');
  const cases: [Record<string, string | undefined>, number, string][] = [
    [{ ...good, grant_type: undefined }, 400, 'invalid_request'],
    [{ ...good, grant_type: 'password' }, 400, 'unsupported_grant_type'],
    [{ ...good, client_secret: undefined }, 401, 'invalid_client'],
    [{ ...good, client_secret: `${good.client_secret}x` }, 401, 'invalid_client'],
    [{ ...good, client_id: NOBODY }, 401, 'invalid_client'],
    [{ ...good, client_id: 'nobody' }, 401, 'invalid_client'],
    [{ ...good, scope: undefined }, 400, 'invalid_scope'],
    [{ ...good, scope: 'other/.default' }, 400, 'invalid_scope'],
  ];
  for (const [form, status, error] of cases) {
    const answer = await host.askToken(form);
    expect([form, answer.status, answer.body]).toEqual([
      form,
      status,
      { error, error_description: expect.any(String) as unknown },
    ]);
    expect(answer.headers.get('www-authenticate')).toBe(status === 401 ? 'Basic realm="payments"' : null);
    expect(answer.headers.get('content-type')).toBe('application/json');
  }
});

test('rules 21.3: a body that is no form, or has a field twice, is an invalid_request; other methods are refused', async () => {
  const { client_id, client_secret } = await host.aClient('operator');
  const form = `grant_type=client_credentials&client_id=${client_id}&client_secret=${client_secret}`;
  const post = async (body: string, type: string) => {
    const headers = { 'content-type': type };
    const response = await fetch(host.url + TOKEN_PATH, { method: 'POST', body, headers });
    return [response.status, ((await response.json()) as { error: unknown }).error];
  };
  const type = 'application/x-www-form-urlencoded';
  expect(await post(JSON.stringify({ client_id }), 'application/json')).toEqual([400, 'invalid_request']);
  expect(await post(`${form}&client_id=${client_id}`, type)).toEqual([400, 'invalid_request']);
  expect(await post('x'.repeat(9_000), type)).toEqual([400, 'invalid_request']);
  expect(await post(`${form}&scope=payments/.default`, `${type}; charset=utf-8`)).toEqual([200, undefined]);
  const get = await host.send('GET', TOKEN_PATH);
  expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
});

test('secrets stand nowhere: not in the record, not in the log', async () => {
  const token = await host.aToken('operator');
  const { body } = await host.send<{ client_secret: string }>('POST', '/v1/clients/', {
    token,
    body: { name: 'Another', role: 'operator' },
  });
  const { db } = host.database;
  const stored = JSON.stringify([await db('oauth_clients'), await db('audit_trail'), await db('signing_keys')]);
  expect(stored).not.toContain(body.client_secret);
  expect(stored).not.toContain('PRIVATE KEY');
  expect(host.lines.join('\n')).not.toContain(body.client_secret);
});

describe('failures are limited', () => {
  let fresh: ManageHost;
  beforeEach(async () => {
    fresh = await aManageHost();
  });
  afterEach(() => fresh.close());

  /** The statuses of wrong secrets sent at once, sorted. */
  const wrongSecrets = async (client_ids: string[], headers?: Record<string, string>): Promise<number[]> => {
    const answers = client_ids.map((client_id) => fresh.askToken({ client_id, client_secret: 'cs_wrong' }, headers));
    return (await Promise.all(answers)).map(({ status }) => status).toSorted((a, b) => a - b);
  };

  test('rules 21.7 and 21.18: wrong secrets of one client are 401 ten times a minute, then 429; the right secret always passes', async () => {
    const client = await fresh.aClient('operator');
    const statuses = await wrongSecrets(Array<string>(15).fill(client.client_id));
    expect(statuses).toEqual([...Array<number>(10).fill(401), ...Array<number>(5).fill(429)]);
    const late = await fresh.askToken({ client_id: client.client_id, client_secret: 'cs_wrong' });
    expect([late.status, late.body['error']]).toEqual([429, 'slow_down']);
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await fresh.askToken({ ...client })).status).toBe(200);
  });

  test('rules 21.7 and 21.18: wrong secrets of any clients are 401 thirty times a minute from one address, then 429; right secrets pass', async () => {
    const good = await fresh.aClient('operator');
    const statuses = await wrongSecrets(Array.from({ length: 40 }, (_, n) => `nobody-${n}`));
    expect(statuses).toEqual([...Array<number>(30).fill(401), ...Array<number>(10).fill(429)]);
    expect((await fresh.askToken({ ...good })).status).toBe(200);
  });

  test('those of one address limit no other address, those of one client count from any', async () => {
    await fresh.close();
    fresh = await aManageHost({ TRUSTED_PROXY: '127.0.0.1' });
    const [one, another] = [await fresh.aClient('operator'), await fresh.aClient('operator')];
    const from = (address: string) => ({ 'x-forwarded-for': address, 'x-forwarded-proto': 'https' });
    expect(await wrongSecrets(Array<string>(31).fill('nobody'), from('192.0.2.1'))).toContain(429);
    for (const address of ['192.0.2.2', '192.0.2.3']) {
      expect(await wrongSecrets(Array<string>(5).fill(one.client_id), from(address))).toEqual(Array(5).fill(401));
    }
    expect(await wrongSecrets([one.client_id], from('192.0.2.4'))).toEqual([429]);
    expect(await wrongSecrets([another.client_id], from('192.0.2.4'))).toEqual([401]);
  });

  test('tokens that are given use up no failures', async () => {
    const good = await fresh.aClient('operator');
    const statuses = new Set<number>();
    for (let n = 0; n < 40; n += 1) statuses.add((await fresh.askToken({ ...good })).status);
    expect([...statuses]).toEqual([200]);
  });
});
