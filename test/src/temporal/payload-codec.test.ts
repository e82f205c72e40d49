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

describe('the workflow id is authenticated with the payload', () => {
  const codec = new EncryptingCodec(key('a'));
  const ofOrder = { workflowId: 'order:1' };

  test('it is read in its workflow, and by an operator who names none', async () => {
    const [kept] = await codec.encode([PAYLOAD], ofOrder);
    for (const context of [ofOrder, undefined]) {
      expect(text((await codec.decode([kept!], context))[0]!.data)).toBe(text(PAYLOAD.data));
    }
  });

  test('copied into another workflow it is refused, also when its workflow id is written anew or taken away', async () => {
    const [kept] = await codec.encode([PAYLOAD], ofOrder);
    const another = { workflowId: 'order:2' };
    expect(() => codec.decode([kept!], another)).toThrow('the payload belongs to another workflow');
    const { 'encryption-workflow-id': _, ...rest } = kept!.metadata!;
    for (const metadata of [rest, { ...rest, 'encryption-workflow-id': Buffer.from('order:2') }]) {
      expect(() => codec.decode([{ ...kept!, metadata }], another)).toThrow('unable to authenticate data');
    }
  });

  test('a key id that is written anew is refused', async () => {
    const secret = randomBytes(32).toString('base64');
    const both = new EncryptingCodec(`a:${secret},b:${secret}`);
    const [kept] = await both.encode([PAYLOAD]);
    const metadata = { ...kept!.metadata!, 'encryption-key-id': Buffer.from('b') };
    expect(() => both.decode([{ ...kept!, metadata }])).toThrow('unable to authenticate data');
  });

  test.each([
    ['2026-11-22T03:00:00Z', true],
    ['2', false],
  ])('of a schedule’s action, in the workflow search-index-check-%s: %s', async (suffix, is_read) => {
    const [kept] = await codec.encode([PAYLOAD], { workflowId: 'search-index-check' });
    const decode = async () => (await codec.decode([kept!], { workflowId: `search-index-check-${suffix}` })).length;
    expect(await decode().catch(() => 0)).toBe(is_read ? 1 : 0);
  });

  test('the result of a run of a schedule, in its next run, and in no other schedule’s', async () => {
    const at = (schedule: string, day: string) => ({ workflowId: `${schedule}-2026-11-${day}T03:00:00Z` });
    const kept = await codec.encode([PAYLOAD], at('settlements', '22'));
    expect(await codec.decode(kept, at('settlements', '23'))).toHaveLength(1);
    await expect(async () => await codec.decode(kept, at('search-index-check', '23'))).rejects.toThrow(
      'another workflow',
    );
  });

  test('what the Web UI encrypted, which names no workflow, is read in each', async () => {
    const [kept] = await codec.encode([PAYLOAD]);
    expect(text((await codec.decode([kept!], ofOrder))[0]!.data)).toBe(text(PAYLOAD.data));
  });
});

test('no key encrypts more payloads than it may: the next ones have a key of their own, and all are read', async () => {
  const keys = key('a');
  const codec = new EncryptingCodec(keys, 3);
  const kept = await codec.encode(Array(7).fill(PAYLOAD));
  const salts = kept.map(({ data }) => Buffer.from(data!.subarray(0, 16)).toString('hex'));
  expect(salts.map((salt) => salts.indexOf(salt))).toEqual([0, 0, 0, 3, 3, 3, 6]);
  const read = await new EncryptingCodec(keys).decode(kept);
  expect(read.map(({ data }) => text(data))).toEqual(Array(7).fill(text(PAYLOAD.data)));
});

test('two processes never use the same key', async () => {
  const keys = key('a');
  const [one, other] = [new EncryptingCodec(keys), new EncryptingCodec(keys)];
  const [[first], [second]] = [await one.encode([PAYLOAD]), await other.encode([PAYLOAD])];
  expect(Buffer.compare(first!.data!.subarray(0, 16), second!.data!.subarray(0, 16))).not.toBe(0);
});

test('what was kept before there were keys is read as it is', async () => {
  expect(await new EncryptingCodec(key('a')).decode([PAYLOAD])).toEqual([PAYLOAD]);
});

test.each(['', 'a', 'a:', 'a:c2hvcnQ=', ':c2hvcnQ='])('%j is no list of keys', (keys) => {
  expect(() => new EncryptingCodec(keys)).toThrow(/^PAYLOAD_KEYS/);
});
