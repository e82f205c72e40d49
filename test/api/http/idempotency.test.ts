import { answerOnce, keyStore, requestHashes, type KeyStore } from '../../../api/http/idempotency';
import type { Work } from '../../../api/operation';
import { queryRows } from '../../../src/db/query';
import { removeOld } from '../../../src/db/retention/retention';
import type { KeptAnswer } from '../../../src/db/requests/idempotency-keys';
import { ERRORS, ServiceError, type ErrorName } from '../../../src/errors';
import { SecretKeys } from '../../../src/secrets';
import { SECRET_KEYS, createTestDatabase, secrets } from '../../support/database';
import { PROJECT } from '../../support/domain';
import { aStoredOrder } from '../../support/rows';
import { setUp } from '../../support/set-up';

const database = setUp(() => createTestDatabase());
let keys: KeyStore;
beforeAll(async () => {
  keys = keyStore({ db: database.db, secrets }, PROJECT.id);
});

const hashesOf = (body: unknown, by = secrets) => requestHashes(by, { method: 'post', path: '/v1/orders/' }, {}, body);
let keysMade = 0;
const aRequest = (body: unknown = { amount: 1 }) => ({
  key: `key-${++keysMade}`,
  request_hashes: hashesOf(body),
});
const answering = (text: string): KeptAnswer => ({ status: 200, body: { text } });

/** A request whose checks pass and whose work answers. */
const doing = (text: string) => async (): Promise<Work<KeptAnswer>> => async () => answering(text);
/** A request that is refused by its checks, or by its work. */
const refused = (error: ErrorName, by: 'its checks' | 'its work') => async (): Promise<Work<KeptAnswer>> => {
  const refuse = () => Promise.reject(new ServiceError(error, 'No.'));
  return by === 'its work' ? refuse : await refuse();
};

/** A promise and what resolves it. */
function gate() {
  let open = () => {};
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open };
}

describe('rules 11.2: the same request', () => {
  test('is done once; every repeat gets the first answer', async () => {
    const request = aRequest();
    const answers = [await answerOnce(keys, request, doing('first')), await answerOnce(keys, request, doing('second'))];
    expect(answers).toEqual([answering('first'), answering('first')]);
  });

  test('costs three statements the first time and one after it', async () => {
    const request = aRequest();
    database.forget();
    await answerOnce(keys, request, doing('first'));
    expect(database.statements).toHaveLength(3);
    await answerOnce(keys, request, doing('second'));
    expect(database.statements).toHaveLength(4);
  });

  test('rules 11.5: a 429 of its work is not kept, and a repeat is carried out', async () => {
    const request = aRequest();
    await expect(answerOnce(keys, request, refused('TooManyRequests', 'its work'))).rejects.toMatchObject({
      error: 'TooManyRequests',
    });
    expect(await answerOnce(keys, request, doing('second'))).toEqual(answering('second'));
  });

  test.each([
    ['an order', 7],
    ['an order without an ETag', undefined],
  ])(
    'after its answer is no longer kept, a repeat gets %s as it is now and is not carried out',
    async (_what, version) => {
      const { id } = await aStoredOrder(database.db);
      const shown = (object_id: string) => Promise.resolve({ body: { id: object_id, text: 'now' }, version: 9 });
      const store = keyStore({ db: database.db, secrets }, PROJECT.id, shown);
      const request = aRequest();
      const first: KeptAnswer = { status: 201, body: { id, text: 'then' }, ...(version && { version }) };
      await answerOnce(store, request, async () => async () => first);
      expect(await answerOnce(store, request, doing('again'))).toEqual(first);
      await removeOld(database.db, 'idempotency_answers', Date.now() + 1_000);
      const repeated = { status: 201, body: { id, text: 'now' }, ...(version && { version: 9 }) };
      expect(await answerOnce(store, request, doing('again'))).toEqual(repeated);
      // The object is gone, or the caller has none.
      expect(await answerOnce(keys, request, doing('again'))).toMatchObject({ status: 404 });
      const other = { ...request, request_hashes: hashesOf({ amount: 2 }) };
      await expect(answerOnce(store, other, doing('again'))).rejects.toMatchObject({ error: 'IdempotencyKeyReused' });
    },
  );

  test('keeps the version of the object in the answer', async () => {
    const request = aRequest();
    const first = { ...answering('first'), version: 7 };
    await answerOnce(keys, request, async () => async () => first);
    expect(await answerOnce(keys, request, doing('second'))).toEqual(first);
  });

  test('twice at once: whoever answers first answers for both', async () => {
    const request = aRequest();
    const [begun, end] = [gate(), gate()];
    const slow = answerOnce(keys, request, async () => async () => {
      begun.open();
      await end.passed;
      return answering('slow');
    });
    await begun.passed;
    const seen: boolean[] = [];
    const fast = await answerOnce(keys, request, async (claimed_at) => {
      seen.push(claimed_at !== undefined);
      return async () => answering('fast');
    });
    end.open();
    expect([fast, await slow, seen]).toEqual([answering('fast'), answering('fast'), [true]]);
  });

  test('claimed and answered by another one during its checks: its answer, and nothing is done', async () => {
    const request = aRequest();
    let done = false;
    const answer = await answerOnce(keys, request, async () => {
      await answerOnce(keys, request, doing('other'));
      return async () => {
        done = true;
        return answering('mine');
      };
    });
    expect([answer, done]).toEqual([answering('other'), false]);
  });

  test.each(['its checks', 'its work'] as const)(
    'refused by %s because of what another one just did: it begins again as a repeat, and no refusal is kept',
    async (by) => {
      const request = aRequest();
      const seen: boolean[] = [];
      const answer = await answerOnce(keys, request, async (claimed_at) => {
        const is_repeat = claimed_at !== undefined;
        seen.push(is_repeat);
        if (is_repeat) return await doing('as a repeat')();
        await keys.claim(request);
        return await refused('PreconditionFailed', by)();
      });
      expect([answer, seen]).toEqual([answering('as a repeat'), [false, true]]);
      expect((await keys.find(request.key))?.answer).toEqual(answering('as a repeat'));
    },
  );

  test.each<[string, ErrorName, () => Promise<Work<KeptAnswer>>]>([
    ['its checks', 'Conflict', refused('Conflict', 'its checks')],
    ['the state', 'ValidationError', async () => ({ refusal: new ServiceError('ValidationError', 'Too much.') })],
  ])(
    'refused by %s, its key is claimed and the refusal kept in one statement: no repeat is carried out in between',
    async (_by, error, prepare) => {
      const request = aRequest();
      database.forget();
      const refusal = await answerOnce(keys, request, prepare);
      expect([database.statements.length, refusal.status]).toEqual([2, ERRORS[error].status]);
      expect(await answerOnce(keys, request, doing('repeat'))).toEqual(refusal);
    },
  );

  test('after a crash of its work it goes on as a repeat', async () => {
    const request = aRequest();
    const killed = answerOnce(keys, request, async () => () => Promise.reject(new Error('killed')));
    await expect(killed).rejects.toThrow('killed');
    const answer = await answerOnce(
      keys,
      request,
      async (claimed_at) => async () => answering(String(claimed_at !== undefined)),
    );
    expect(answer).toEqual(answering('true'));
  });
});

describe('work that only changes the database', () => {
  beforeAll(() => database.db.raw('create table written (key text, text text)'));
  afterAll(() => database.db.raw('drop table written'));
  const writing = (key: string, text: string, fail?: Error) => async (): Promise<Work<KeptAnswer>> => ({
    db: database.db,
    async write(trx) {
      await trx.raw('insert into written values (:key, :text)', { key, text });
      if (fail !== undefined) throw fail;
      return answering(text);
    },
  });
  const written = async (key: string) =>
    (await queryRows<{ text: string }>(database.db, 'select text from written where key = :key', { key })).map(
      ({ text }) => text,
    );

  test('is done once, of 20 at once too', async () => {
    const request = aRequest();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => answerOnce(keys, request, writing(request.key, `${n}`))),
    );
    const [first] = await written(request.key);
    expect(await written(request.key)).toHaveLength(1);
    expect(new Set(answers.map(({ body }) => JSON.stringify(body)))).toEqual(
      new Set([JSON.stringify({ text: first })]),
    );
  });

  test('rules 11.6: a crash leaves neither the change nor the claim', async () => {
    const request = aRequest();
    const killed = answerOnce(keys, request, writing(request.key, 'first', new Error('killed')));
    await expect(killed).rejects.toThrow('killed');
    expect([await written(request.key), await keys.find(request.key)]).toEqual([[], undefined]);
    expect(await answerOnce(keys, request, writing(request.key, 'second'))).toEqual(answering('second'));
    expect(await written(request.key)).toEqual(['second']);
  });

  test('a refusal is kept, and nothing of the change', async () => {
    const request = aRequest();
    const refusal = new ServiceError('Conflict', 'No.');
    const first = await answerOnce(keys, request, writing(request.key, 'first', refusal));
    expect(first.status).toBe(409);
    expect(await answerOnce(keys, request, writing(request.key, 'second'))).toEqual(first);
    expect(await written(request.key)).toEqual([]);
  });

  test('rules 11.5: a ValidationError leaves neither the change nor the claim', async () => {
    const request = aRequest({ amount: 1 });
    const wrong = new ServiceError('ValidationError', 'No.');
    await expect(answerOnce(keys, request, writing(request.key, 'first', wrong))).rejects.toBe(wrong);
    expect([await written(request.key), await keys.find(request.key)]).toEqual([[], undefined]);
    const corrected = { ...request, request_hashes: hashesOf({ amount: 2 }) };
    expect(await answerOnce(keys, corrected, writing(request.key, 'second'))).toEqual(answering('second'));
  });
});

describe('rules 11.4: another request with that key', () => {
  const reused = expect.objectContaining({ error: 'IdempotencyKeyReused' }) as Error;

  test.each([
    ['answered', doing('first')],
    ['refused for good', refused('Conflict', 'its checks')],
    ['away', refused('ServiceUnavailable', 'its work')],
  ])('is refused when the first one was %s', async (_title, prepare) => {
    const request = aRequest({ amount: 1 });
    await answerOnce(keys, request, prepare).catch(() => undefined);
    await expect(
      answerOnce(keys, { ...request, request_hashes: hashesOf({ amount: 2 }) }, doing('second')),
    ).rejects.toEqual(reused);
  });

  test('is refused when it comes at the same time', async () => {
    const request = aRequest({ amount: 1 });
    const prepare = async () => {
      await answerOnce(keys, { ...request, request_hashes: hashesOf({ amount: 2 }) }, doing('other'));
      return await doing('mine')();
    };
    await expect(answerOnce(keys, request, prepare)).rejects.toEqual(reused);
  });

  test('does not touch the same key of another project', async () => {
    const request = aRequest();
    await answerOnce(keys, request, doing('first'));
    const other = keyStore({ db: database.db, secrets }, '0190c000-0000-7000-8000-00000000cccc');
    expect(await other.find(request.key)).toBeUndefined();
  });
});

describe('rules 11.5: which refusals are kept', () => {
  test.each<[ErrorName, by: 'its checks' | 'its work', kept: boolean]>([
    ['Conflict', 'its checks', true],
    ['NotFound', 'its checks', true],
    ['Forbidden', 'its checks', true],
    ['RefundError', 'its work', true],
    ['PreconditionFailed', 'its checks', true],
    ['ValidationError', 'its checks', false],
    ['ValidationError', 'its work', true],
    ['MissingInformationToCreateTransaction', 'its checks', false],
    ['Unauthorized', 'its checks', false],
    ['FailedToFetchTransactionInformation', 'its checks', false],
    ['ServiceUnavailable', 'its work', false],
    ['ServerError', 'its work', false],
  ])('%s by %s: %s', async (error, by, kept) => {
    const request = aRequest();
    const first = answerOnce(keys, request, refused(error, by));
    if (kept) expect((await first).body).toMatchObject({ error: { value: 'No.' } });
    else await expect(first).rejects.toMatchObject({ error });
    const second = await answerOnce(keys, request, doing('done'));
    expect(second).toEqual(kept ? await first : answering('done'));
  });

  test('a refusal before the work of a repeat says nothing about the first run', async () => {
    const request = aRequest();
    await keys.claim(request);
    await expect(answerOnce(keys, request, refused('Forbidden', 'its checks'))).rejects.toMatchObject({
      error: 'Forbidden',
    });
    expect(await answerOnce(keys, request, doing('done'))).toEqual(answering('done'));
  });
});

describe('rules 11.3: two requests are the same', () => {
  const hash = (body: unknown, path = '/v1/orders/') =>
    requestHashes(secrets, { method: 'post', path }, { params: { order_id: 'a' } }, body)[0]!.toString('hex');

  test.each([
    ['in another order of fields', '{"a":1,"b":{"c":[1,2],"d":null}}', '{"b":{"d":null,"c":[1,2]},"a":1}', true],
    ['with other spaces', '{"a":1}', ' { "a" : 1.0 } ', true],
    ['in another order of a list', '{"a":[1,2]}', '{"a":[2,1]}', false],
    ['with a field more', '{"a":1}', '{"a":1,"unknown":1}', false],
    ['with a number as text', '{"a":1}', '{"a":"1"}', false],
    ['with a field that JavaScript knows', '{"__proto__":{"a":1}}', '{"__proto__":{"a":2}}', false],
  ])('%s: %s and %s', (_title, one, other, same) => {
    expect(hash(JSON.parse(one)) === hash(JSON.parse(other))).toBe(same);
  });

  const funding = (receiver_account_number: unknown) => ({
    transactions: [{ payment_method_details: { receiver_account_number } }],
  });
  test.each([
    ['with the same account', '4111111111111111', '4111111111111111', true],
    ['with another account', '4111111111111111', '4111111111111112', false],
    ['with one that looks the same where it is masked', '4111110000001111', '4111119999991111', false],
    ['with an account that is no text', 4111, '4111', false],
  ])('%s', (_title, one, other, same) => {
    expect(hash(funding(one)) === hash(funding(other))).toBe(same);
  });

  const NEW_KEY = `new:${Buffer.alloc(32, 8).toString('base64')}`;

  test('an account cannot be found from the hash without the key', () => {
    const [one] = hashesOf(funding('1234567890'));
    expect(hashesOf(funding('1234567890'), new SecretKeys(NEW_KEY))).not.toContainEqual(one);
  });

  // Two processes of a rolling restart: one protects what is new with the old key, the other with the new key.
  const [before, after] = [new SecretKeys(`${SECRET_KEYS},${NEW_KEY}`), new SecretKeys(`${NEW_KEY},${SECRET_KEYS}`)];
  test.each([
    ['after', before, after],
    ['before', after, before],
  ])('a repeat with an account is recognized by a process %s the key is replaced', async (_title, one, other) => {
    const request = { ...aRequest(), request_hashes: hashesOf(funding('1234567890'), one) };
    await answerOnce(keys, request, doing('first'));
    const repeat = { ...request, request_hashes: hashesOf(funding('1234567890'), other) };
    expect(await answerOnce(keys, repeat, doing('second'))).toEqual(answering('first'));
    const reused = { ...request, request_hashes: hashesOf(funding('1234567891'), other) };
    await expect(answerOnce(keys, reused, doing('third'))).rejects.toMatchObject({ error: 'IdempotencyKeyReused' });
  });

  test('at the same path only', () => {
    expect(hash({})).not.toBe(hash({}, '/v1/paymentlinks/'));
  });
});
