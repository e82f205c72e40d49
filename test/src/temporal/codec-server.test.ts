import { randomBytes } from 'node:crypto';
import { defaultPayloadConverter } from '@temporalio/common';
import { pino } from 'pino';
import { startCodecServer } from '../../../src/temporal/codec-server';
import { queryRows } from '../../../src/db/query';
import { SignInUnavailable } from '../../../src/temporal/operator-sign-in';
import { EncryptingCodec } from '../../../src/temporal/payload-codec';
import { createTestDatabase } from '../../support/database';
import { setUp } from '../../support/set-up';

const key = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;
const [first, second] = [key('k1'), key('k2')];
const payload = defaultPayloadConverter.toPayload({ order_id: 'o', amount: 500 });
const wire = (encrypted: Awaited<ReturnType<EncryptingCodec['encode']>>) => ({
  payloads: encrypted.map(({ metadata, data }) => ({
    metadata: Object.fromEntries(
      Object.entries(metadata ?? {}).map(([name, value]) => [name, Buffer.from(value).toString('base64')]),
    ),
    data: Buffer.from(data ?? []).toString('base64'),
  })),
});

const UI = 'http://ui.test';
const lines: string[] = [];
const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
let operator: string | undefined = 'ada';
const database = setUp(() => createTestDatabase());
const server = setUp(() =>
  startCodecServer({
    host: '127.0.0.1',
    port: 0,
    payload_keys: `${second},${first}`,
    ui_origin: UI,
    signIn: () => Promise.resolve(operator),
    db: database.db,
    log,
  }),
);
beforeEach(() => {
  operator = 'ada';
});

const post = (path: string, body: unknown, headers: Record<string, string> = { origin: UI }) =>
  fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const decode = (body: unknown) => post('/decode', body);

test('reads what an earlier key encrypted, for pages of the Web UI alone', async () => {
  const [encrypted] = await new EncryptingCodec(first).encode([payload]);
  expect(Buffer.from(encrypted!.data!).toString()).not.toContain('order_id');
  const response = await decode(wire([encrypted!]));
  expect(response.headers.get('access-control-allow-origin')).toBe(UI);
  // For a proxy in front that knows operators by a cookie.
  expect(response.headers.get('access-control-allow-credentials')).toBe('true');
  const { payloads } = (await response.json()) as { payloads: { data: string; metadata: { encoding: string } }[] };
  expect(JSON.parse(Buffer.from(payloads[0]!.data, 'base64').toString())).toEqual({ order_id: 'o', amount: 500 });
  expect(Buffer.from(payloads[0]!.metadata.encoding, 'base64').toString()).toBe('json/plain');
});

test('rules 24.5: a payload with a card number is not encrypted', async () => {
  const reason = Buffer.from(JSON.stringify({ reason: 'Paid with 4111 1111 1111 1111' }));
  const response = await post('/encode', wire([{ ...payload, data: reason }]));
  expect([response.status, await response.text()]).toEqual([400, '']);
});

test('rules 24.9: the arguments of an update carry the name of the operator to the worker', async () => {
  const { payloads } = (await (await post('/encode', wire([payload]))).json()) as ReturnType<typeof wire>;
  const [encrypted] = payloads.map(({ metadata, data }) => ({
    metadata: Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value, 'base64')])),
    data: Buffer.from(data, 'base64'),
  }));
  const [read] = await new EncryptingCodec(second).decode([encrypted!], { workflowId: 'webhook:o:1' });
  expect(JSON.parse(Buffer.from(read!.data!).toString())).toEqual({
    operator: 'ada',
    value: { order_id: 'o', amount: 500 },
  });
});

test.each(['/decode', '/encode'])('rules 24.5: %s asks for an operator who is signed in', async (path) => {
  operator = undefined;
  const response = await post(path, wire([payload]));
  expect([response.status, response.headers.get('www-authenticate'), await response.text()]).toEqual([
    401,
    'Bearer',
    '',
  ]);
});

test.each([{}, { origin: 'http://elsewhere.test' }])('another page than the Web UI is refused: %j', async (headers) => {
  for (const path of ['/decode', '/encode']) {
    const response = await post(path, wire([payload]), headers);
    expect([response.status, await response.text()]).toEqual([403, '']);
  }
});

test('a browser may ask before it sends: without sign-in', async () => {
  operator = undefined;
  const response = await fetch(`${server.url}/decode`, { method: 'OPTIONS', headers: { origin: UI } });
  expect([response.status, response.headers.get('access-control-allow-headers')]).toEqual([
    204,
    'Content-Type, X-Namespace, Authorization',
  ]);
});

test('the operator and the number of payloads are logged, never their content', async () => {
  lines.length = 0;
  await decode(wire(await new EncryptingCodec(first).encode([payload, payload])));
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
    expect.objectContaining({ operator: 'ada', path: '/decode', payloads: 2 }),
  ]);
  expect(lines.join()).not.toMatch('order_id');
});

describe('rules 24.18: the audit trail', () => {
  const entries = () =>
    queryRows<object>(
      database.db,
      `select actor_kind, actor_id, action, object_kind, object_id, after from audit_trail
       where action = 'payload.decrypt' order by n`,
    );
  const encrypted = (workflowId: string, count: number) =>
    new EncryptingCodec(first).encode(
      Array.from({ length: count }, () => payload),
      { workflowId },
    );

  it('has an entry for each workflow that an operator reads, and none for what is not decrypted', async () => {
    const before = (await entries()).length;
    operator = 'grace';
    await decode(wire([...(await encrypted('order:1', 3)), ...(await encrypted('webhook:1:1', 1)), payload]));
    await decode(wire([payload]));
    await post('/encode', wire([payload]));
    const common = { actor_kind: 'temporal', actor_id: 'grace', action: 'payload.decrypt', object_kind: 'workflow' };
    expect((await entries()).slice(before)).toEqual([
      { ...common, object_id: 'order:1', after: { payloads: 3 } },
      { ...common, object_id: 'webhook:1:1', after: { payloads: 1 } },
    ]);
  });

  it('comes first: without it nothing is decrypted', async () => {
    const [payloads, holder] = [wire(await encrypted('order:2', 1)), await database.db.transaction()];
    await holder.raw('lock table audit_trail in access exclusive mode');
    const response = await decode(payloads);
    await holder.rollback();
    expect([response.status, await response.text()]).toEqual([503, '']);
    expect((await decode(payloads)).status).toBe(200);
  });
});

test.each(['//', '/', '/decode/x', '/constructor'])('there is nothing at %s', async (path) => {
  expect((await post(path, wire([payload]))).status).toBe(404);
});

test('503 while nobody can sign in', async () => {
  const broken = await startCodecServer({
    host: '127.0.0.1',
    port: 0,
    payload_keys: first,
    ui_origin: UI,
    signIn: () => Promise.reject(new SignInUnavailable('the issuer is away')),
    db: database.db,
    log,
  });
  const response = await fetch(`${broken.url}/decode`, { method: 'POST', headers: { origin: UI }, body: '{}' });
  expect(response.status).toBe(503);
  await broken.close();
});

test('a payload that was never encrypted is returned as it is', async () => {
  const body = wire([payload]);
  expect(await (await decode(body)).json()).toEqual(body);
});

test('a payload that was changed, or of an unknown key, is refused without a word of it', async () => {
  const [encrypted] = await new EncryptingCodec(first).encode([payload]);
  const changed = Buffer.from(encrypted!.data!);
  changed[20]! ^= 1;
  const [foreign] = await new EncryptingCodec(key('k9')).encode([payload]);
  for (const one of [{ ...encrypted!, data: changed }, foreign!]) {
    const response = await decode(wire([one]));
    expect([response.status, await response.text()]).toEqual([400, '']);
  }
});

test.each(['k1:c2hvcnQ=', ':x', 'k1'])('a bad key is refused at the start: %s', (keys) => {
  expect(() => new EncryptingCodec(keys)).toThrow('PAYLOAD_KEYS');
});
