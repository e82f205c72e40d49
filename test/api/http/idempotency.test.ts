import { answerOnce, keyStore, requestHash, type KeyStore } from '../../../api/http/idempotency';
import type { KeyUse } from '../../../api/context';
import type { KeptAnswer } from '../../../src/db/idempotency-keys';
import { ServiceError, type ErrorName } from '../../../src/errors';
import { PROJECT, aDatabase, type TestDatabase } from '../../support/database';

let database: TestDatabase;
let keys: KeyStore;
beforeAll(async () => {
  database = await aDatabase();
  keys = keyStore(database.db);
});
afterAll(() => database.close());

const hashOf = (body: unknown) =>
  requestHash({ method: 'post', path: '/v1/orders/', params: undefined, query: undefined, body });
let keysMade = 0;
const aRequest = (body: unknown = { amount: 1 }) => ({
  project_id: PROJECT.id,
  key: `key-${++keysMade}`,
  request_hash: hashOf(body),
});
const answering = (text: string): KeptAnswer => ({ status: 200, body: { text } });

/** Work that claims the key and answers. */
const claiming = (text: string) => async (use: KeyUse) => {
  await use.claim();
  return answering(text);
};
const refusing =
  (error: ErrorName, { claim }: { claim: boolean }) =>
  async (use: KeyUse): Promise<KeptAnswer> => {
    if (claim) await use.claim();
    throw new ServiceError(error, 'No.');
  };

/** A promise and what resolves it. */
function gate() {
  let open = () => {};
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open };
}

describe('the same request', () => {
  test('is done once; every repeat gets the first answer', async () => {
    const request = aRequest();
    const answers = [
      await answerOnce(keys, request, claiming('first')),
      await answerOnce(keys, request, claiming('second')),
    ];
    expect(answers).toEqual([answering('first'), answering('first')]);
  });

  test('costs three statements the first time and one after it', async () => {
    const request = aRequest();
    database.forget();
    await answerOnce(keys, request, claiming('first'));
    expect(database.statements).toHaveLength(3);
    await answerOnce(keys, request, claiming('second'));
    expect(database.statements).toHaveLength(4);
  });

  test('twice at once: whoever answers first answers for both', async () => {
    const request = aRequest();
    const [begun, end] = [gate(), gate()];
    const slow = answerOnce(keys, request, async (use) => {
      await use.claim();
      begun.open();
      await end.passed;
      return answering('slow');
    });
    await begun.passed;
    const fast = await answerOnce(keys, request, async (use) => {
      expect(use.is_repeat).toBe(true);
      await use.claim();
      return answering('fast');
    });
    end.open();
    expect([fast, await slow]).toEqual([answering('fast'), answering('fast')]);
  });

  test('claimed and answered by another one in between: its answer, and nothing is done', async () => {
    const request = aRequest();
    let done = false;
    const answer = await answerOnce(keys, request, async (use) => {
      await answerOnce(keys, request, claiming('other'));
      await use.claim();
      done = true;
      return answering('mine');
    });
    expect([answer, done]).toEqual([answering('other'), false]);
  });

  test('refused by what another one just did: it begins again as a repeat', async () => {
    const request = aRequest();
    const seen: boolean[] = [];
    const answer = await answerOnce(keys, request, async (use) => {
      seen.push(use.is_repeat);
      if (use.is_repeat) return await claiming('as a repeat')(use);
      await keys.claim(request);
      throw new ServiceError('PreconditionFailed', 'The other one changed it.');
    });
    expect([answer, seen]).toEqual([answering('as a repeat'), [false, true]]);
  });

  test('whose check the winner of the claim has turned: it answers what the winner answered, and nothing else is kept', async () => {
    const request = aRequest();
    const [begun, end] = [gate(), gate()];
    const winner = answerOnce(keys, request, async (use) => {
      await use.claim();
      begun.open();
      await end.passed;
      return answering('the winner');
    });
    await begun.passed;
    const seen: boolean[] = [];
    // It came before the winner claimed, so nobody told it that it is a repeat.
    const blind: KeyStore = {
      ...keys,
      find: (() => {
        let first = true;
        return async (one) => (first ? ((first = false), undefined) : await keys.find(one));
      })(),
    };
    const loser = answerOnce(blind, request, async (use) => {
      seen.push(use.is_repeat);
      if (use.is_repeat) {
        end.open();
        await winner;
        return answering('the same, read again');
      }
      await use.claim();
      throw new ServiceError('Conflict', 'The winner has changed it.');
    });
    expect(await loser).toEqual(answering('the winner'));
    expect([await winner, seen]).toEqual([answering('the winner'), [false, true]]);
    expect((await keys.find(request))?.answer).toEqual(answering('the winner'));
  });

  test('whose check the winner has turned, and who refuses after its claim: no refusal of its own is kept', async () => {
    const request = aRequest();
    const answer = await answerOnce(keys, request, async (use) => {
      if (use.is_repeat) return answering('as a repeat');
      await keys.claim(request);
      await use.claim();
      throw new ServiceError('ValidationError', 'Less is left by now.');
    });
    expect(answer).toEqual(answering('as a repeat'));
    expect((await keys.find(request))?.answer).toEqual(answering('as a repeat'));
  });

  test('after a crash it goes on as a repeat', async () => {
    const request = aRequest();
    await expect(
      answerOnce(keys, request, async (use) => (await use.claim(), Promise.reject(new Error('killed')))),
    ).rejects.toThrow('killed');
    expect(await answerOnce(keys, request, async (use) => answering(String(use.is_repeat)))).toEqual(answering('true'));
  });

  test('50 at once: one answer', async () => {
    const request = aRequest();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => answerOnce(keys, request, claiming(`${n}`))),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  });
});

describe('another request with that key', () => {
  const reused = expect.objectContaining({ error: 'IdempotencyKeyReused' }) as Error;

  test.each([
    ['answered', claiming('first')],
    ['refused for good', refusing('Conflict', { claim: false })],
    ['away', refusing('ServiceUnavailable', { claim: true })],
  ])('is refused when the first one was %s', async (_title, work) => {
    const request = aRequest({ amount: 1 });
    await answerOnce(keys, request, work).catch(() => undefined);
    await expect(
      answerOnce(keys, { ...request, request_hash: hashOf({ amount: 2 }) }, claiming('second')),
    ).rejects.toEqual(reused);
  });

  test('is refused when it comes at the same time', async () => {
    const request = aRequest({ amount: 1 });
    const work = async (use: KeyUse) => {
      await answerOnce(keys, { ...request, request_hash: hashOf({ amount: 2 }) }, claiming('other'));
      return await claiming('mine')(use);
    };
    await expect(answerOnce(keys, request, work)).rejects.toEqual(reused);
  });

  test('does not touch the same key of another project', async () => {
    const request = aRequest();
    await answerOnce(keys, request, claiming('first'));
    expect(await keys.find({ ...request, project_id: '0190c000-0000-7000-8000-00000000cccc' })).toBeUndefined();
  });
});

describe('what is kept of refusals', () => {
  test.each<[ErrorName, claimed: 'before the claim' | 'after it', kept: boolean]>([
    ['Conflict', 'before the claim', true],
    ['NotFound', 'before the claim', true],
    ['Forbidden', 'before the claim', true],
    ['RefundError', 'after it', true],
    ['PreconditionFailed', 'before the claim', true],
    ['ValidationError', 'before the claim', false],
    ['ValidationError', 'after it', true],
    ['MissingInformationToCreateTransaction', 'before the claim', false],
    ['Unauthorized', 'before the claim', false],
    ['FailedToFetchTransactionInformation', 'before the claim', false],
    ['ServiceUnavailable', 'after it', false],
    ['ServerError', 'after it', false],
  ])('%s %s: %s', async (error, when, kept) => {
    const request = aRequest();
    const first = answerOnce(keys, request, refusing(error, { claim: when === 'after it' }));
    if (kept) expect((await first).body).toMatchObject({ error: { value: 'No.' } });
    else await expect(first).rejects.toMatchObject({ error });
    const second = await answerOnce(keys, request, claiming('done'));
    expect(second).toEqual(kept ? await first : answering('done'));
  });

  test('what refuses a repeat before it came to the point says nothing of the first one', async () => {
    const request = aRequest();
    await keys.claim(request);
    await expect(answerOnce(keys, request, refusing('Forbidden', { claim: false }))).rejects.toMatchObject({
      error: 'Forbidden',
    });
    expect(await answerOnce(keys, request, claiming('done'))).toEqual(answering('done'));
  });
});

describe('two requests are the same', () => {
  const hash = (body: unknown, path = '/v1/orders/') =>
    requestHash({ method: 'post', path, params: { order_id: 'a' }, query: undefined, body }).toString('hex');

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
    ['with another account, as far as it may be kept', '4111111111111111', '4111111111111112', false],
    ['with a longer one', '4111111111111111', '41111111111111111', false],
    // The hash is kept, and whoever has it could try all numbers between: so these two count as one.
    ['with one that differs where nothing is kept', '4111110000001111', '4111119999991111', true],
    ['with an account that is no text', 4111, '4111', false],
  ])('%s', (_title, one, other, same) => {
    expect(hash(funding(one)) === hash(funding(other))).toBe(same);
  });

  test('at the same path only', () => {
    expect(hash({})).not.toBe(hash({}, '/v1/paymentlinks/'));
  });
});
