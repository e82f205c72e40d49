import { randomBytes } from 'node:crypto';
import { defaultPayloadConverter } from '@temporalio/common';
import { startCodecServer, type CodecServer } from '../../../src/temporal/codec-server';
import { EncryptingCodec } from '../../../src/temporal/payload-codec';

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

let server: CodecServer;
beforeAll(async () => {
  server = await startCodecServer({
    host: '127.0.0.1',
    port: 0,
    payload_keys: `${second},${first}`,
    ui_origin: 'http://ui.test',
  });
});
afterAll(() => server.close());

const decode = (body: unknown) =>
  fetch(`${server.url}/decode`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

test('reads what an earlier key encrypted, for pages of the Web UI alone', async () => {
  const [encrypted] = await new EncryptingCodec(first).encode([payload]);
  expect(Buffer.from(encrypted!.data!).toString()).not.toContain('order_id');
  const response = await decode(wire([encrypted!]));
  expect(response.headers.get('access-control-allow-origin')).toBe('http://ui.test');
  const { payloads } = (await response.json()) as { payloads: { data: string; metadata: { encoding: string } }[] };
  expect(JSON.parse(Buffer.from(payloads[0]!.data, 'base64').toString())).toEqual({ order_id: 'o', amount: 500 });
  expect(Buffer.from(payloads[0]!.metadata.encoding, 'base64').toString()).toBe('json/plain');
});

test('what was never encrypted comes back as it is', async () => {
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
