import { randomBytes } from 'node:crypto';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { EncryptingCodec } from '../../../src/temporal/payload-codec';
import { OPERATOR_PAYLOAD, REFUSED_PAYLOAD } from '../../../workflows/messages';

const key = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;
const PAYLOAD = { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{"vault_token":"vt_1"}') };
/** Why a payload was refused, as a workflow reads it; `undefined` when it was not. */
const refusalOf = ([payload]: Payload[]) =>
  text(payload!.metadata!['encoding']) === REFUSED_PAYLOAD
    ? (JSON.parse(text(payload!.data)) as { reason: string }).reason
    : undefined;
const text = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? []).toString();

test('rules 24.3: what is written is read again, and cannot be read in between', async () => {
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
  expect(refusalOf(await new EncryptingCodec(old).decode([later!]))).toContain('a key that is not in PAYLOAD_KEYS');
});

test('one changed bit is noticed', async () => {
  const codec = new EncryptingCodec(key('a'));
  const [kept] = await codec.encode([PAYLOAD]);
  for (const at of [0, 20, kept!.data!.length - 1]) {
    const data = Buffer.from(kept!.data!);
    data[at]! ^= 1;
    expect(refusalOf(await codec.decode([{ ...kept!, data }]))).toBeDefined();
  }
});

describe('rules 24.4: the workflow id is authenticated with the payload', () => {
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
    expect(refusalOf(await codec.decode([kept!], another))).toBe('the payload belongs to another workflow');
    const { 'encryption-workflow-id': _, ...rest } = kept!.metadata!;
    for (const metadata of [rest, { ...rest, 'encryption-workflow-id': Buffer.from('order:2') }]) {
      expect(refusalOf(await codec.decode([{ ...kept!, metadata }], another))).toContain('unable to authenticate data');
    }
  });

  test('a key id that is written anew is refused', async () => {
    const secret = randomBytes(32).toString('base64');
    const both = new EncryptingCodec(`a:${secret},b:${secret}`);
    const [kept] = await both.encode([PAYLOAD]);
    const metadata = { ...kept!.metadata!, 'encryption-key-id': Buffer.from('b') };
    expect(refusalOf(await both.decode([{ ...kept!, metadata }]))).toContain('unable to authenticate data');
  });

  test.each([
    ['2026-11-22T03:00:00Z', true],
    ['2', false],
  ])('of a schedule’s action, in the workflow search-index-check-%s: %s', async (suffix, is_read) => {
    const [kept] = await codec.encode([PAYLOAD], { workflowId: 'search-index-check' });
    const read = await codec.decode([kept!], { workflowId: `search-index-check-${suffix}` });
    expect(refusalOf(read) === undefined).toBe(is_read);
  });

  test('the result of a run of a schedule, in its next run, and in no other schedule’s', async () => {
    const at = (schedule: string, day: string) => ({ workflowId: `${schedule}-2026-11-${day}T03:00:00Z` });
    const kept = await codec.encode([PAYLOAD], at('settlements', '22'));
    expect(refusalOf(await codec.decode(kept, at('settlements', '23')))).toBeUndefined();
    expect(refusalOf(await codec.decode(kept, at('search-index-check', '23')))).toContain('another workflow');
  });

  test('of an order, in a workflow with the id that a schedule would give it: refused', async () => {
    const kept = await codec.encode([PAYLOAD], ofOrder);
    const read = await codec.decode(kept, { workflowId: `${ofOrder.workflowId}-2026-11-22T03:00:00Z` });
    expect(refusalOf(read)).toContain('another workflow');
  });

  test('what names no workflow is refused in each', async () => {
    const kept = await codec.encode([PAYLOAD]);
    expect(refusalOf(await codec.decode(kept, ofOrder))).toContain('another workflow');
  });
});

test('rules 24.4: no key encrypts more payloads than it may: the next ones have a key of their own, and all are read', async () => {
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

describe('rules 24.8', () => {
  const codec = new EncryptingCodec(key('a'));
  const message = { type: 'workflow', workflowId: 'order:1' } as const;
  const activity = { ...message, type: 'activity' } as const;

  test.each([{ workflowId: 'order:1' }, undefined])('what is not encrypted is refused: %j', async (context) => {
    expect(refusalOf(await codec.decode([PAYLOAD], context))).toBe('the payload is not encrypted');
  });

  test('nothing that knows only the encodings of the SDK reads what was refused', async () => {
    const [refused] = await codec.decode([PAYLOAD], message);
    expect(() => defaultPayloadConverter.fromPayload(refused!)).toThrow('Unknown encoding');
  });

  test('an argument or result of an activity that is refused fails the task: a worker may lack a key', async () => {
    const foreign = await new EncryptingCodec(key('b')).encode([PAYLOAD], message);
    const operators = codec.encryptForOperator(PAYLOAD, 'ada');
    for (const payload of [PAYLOAD, operators, ...foreign]) expect(() => codec.decode([payload], activity)).toThrow();
  });

  test('what an operator sends is marked, with the name that the codec server has written', async () => {
    const forged = { ...PAYLOAD, metadata: { ...PAYLOAD.metadata, operator: Buffer.from('eve') } };
    const sent = codec.encryptForOperator(forged, 'ada');
    expect(Object.keys(sent.metadata!)).toEqual(['encoding', 'encryption-key-id']);
    const [read] = await codec.decode([sent], message);
    expect([text(read!.metadata!['encoding']), JSON.parse(text(read!.data))]).toEqual([
      OPERATOR_PAYLOAD,
      { operator: 'ada', value: { vault_token: 'vt_1' } },
    ]);
  });

  test.each([
    ['binary/plain', '{}'],
    ['json/plain', 'no JSON'],
  ])('nothing but JSON is encrypted for an operator: %s, %s', (encoding, data) => {
    const payload = { metadata: { encoding: Buffer.from(encoding) }, data: Buffer.from(data) };
    expect(() => codec.encryptForOperator(payload, 'ada')).toThrow(/JSON/);
  });
});

test.each(['', 'a', 'a:', 'a:c2hvcnQ=', ':c2hvcnQ='])('%j is no list of keys', (keys) => {
  expect(() => new EncryptingCodec(keys)).toThrow(/^PAYLOAD_KEYS/);
});
