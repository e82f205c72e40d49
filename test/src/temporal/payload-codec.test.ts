import { randomBytes } from 'node:crypto';
import { EncryptingCodec } from '../../../src/temporal/payload-codec';

const key = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;
const PAYLOAD = { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{"vault_token":"vt_1"}') };
const text = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? []).toString();

test('what is written is read again, and cannot be read in between', async () => {
  const codec = new EncryptingCodec(key('a'));
  const [kept] = await codec.encode([PAYLOAD]);
  expect(text(kept!.data)).not.toContain('vault_token');
  expect([text(kept!.metadata!['encoding']), text(kept!.metadata!['encryption-key-id'])]).toEqual([
    'binary/encrypted',
    'a',
  ]);
  const [read] = await codec.decode([kept!]);
  expect([text(read!.data), text(read!.metadata!['encoding'])]).toEqual(['{"vault_token":"vt_1"}', 'json/plain']);
});

test('the same payload never looks the same twice', async () => {
  const codec = new EncryptingCodec(key('a'));
  const kept = await codec.encode([PAYLOAD, PAYLOAD]);
  expect(Buffer.compare(kept[0]!.data!, kept[1]!.data!)).not.toBe(0);
});

test('a new key encrypts, the old one still decrypts', async () => {
  const [old, fresh] = [key('old'), key('fresh')];
  const [kept] = await new EncryptingCodec(old).encode([PAYLOAD]);
  const both = new EncryptingCodec(`${fresh},${old}`);
  expect(text((await both.decode([kept!]))[0]!.data)).toBe(text(PAYLOAD.data));
  const [later] = await both.encode([PAYLOAD]);
  expect(text(later!.metadata!['encryption-key-id'])).toBe('fresh');
  expect(() => new EncryptingCodec(old).decode([later!])).toThrow('a key that is not in PAYLOAD_KEYS');
});

test('one changed bit is noticed', async () => {
  const codec = new EncryptingCodec(key('a'));
  const [kept] = await codec.encode([PAYLOAD]);
  for (const at of [0, 20, kept!.data!.length - 1]) {
    const data = Buffer.from(kept!.data!);
    data[at]! ^= 1;
    expect(() => codec.decode([{ ...kept!, data }])).toThrow();
  }
});

test('what was kept before there were keys is read as it is', async () => {
  expect(await new EncryptingCodec(key('a')).decode([PAYLOAD])).toEqual([PAYLOAD]);
});

test.each(['', 'a', 'a:', 'a:c2hvcnQ=', ':c2hvcnQ='])('%j is no list of keys', (keys) => {
  expect(() => new EncryptingCodec(keys)).toThrow(/^PAYLOAD_KEYS/);
});
