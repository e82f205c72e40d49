import { randomUUID } from 'node:crypto';
import type { OperationRequest } from '../../../src/processor/wire';
import type { CardName } from '../../support/domain';
import { setUp } from '../../support/set-up';
import { followUpOperation, startTestSimulator } from './support';

const bench = setUp(startTestSimulator);

const resultOf = async (operation: OperationRequest, key: string = randomUUID()): Promise<string> => {
  const answer = await bench.processor.execute(operation, key);
  return typeof answer === 'string' ? answer : answer.result;
};

test('rules 17.1: eight at once with one key: one row, requests 8, one answer', async () => {
  const charge = await bench.charge('approved');
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => bench.processor.execute(charge, charge.transaction_id)),
  );
  for (const answer of answers) expect(answer).toEqual(answers[0]);
  expect(await bench.ledger(`?order_id=${charge.order_id}`)).toEqual([
    {
      operation: 'sale',
      idempotency_key: charge.transaction_id,
      order_id: charge.order_id,
      transaction_id: charge.transaction_id,
      amount: 1_000,
      currency: 'EUR',
      result: 'approved',
      response_code: '00',
      occurred: expect.stringMatching(/Z$/),
      requests: 8,
    },
  ]);
});

test('a key that belongs to another request is refused and leaves the first as it was', async () => {
  const charge = await bench.charge('approved');
  const key = charge.transaction_id;
  await resultOf(charge, key);
  expect(await post({ ...charge, amount: 2 }, key)).toEqual({
    status: 409,
    body: { error: expect.any(String), field: 'Idempotency-Key' },
  });
  expect(await bench.ledger(`?transaction_id=${key}`)).toMatchObject([{ amount: 1_000, requests: 1 }]);
});

/** Steps on a payment of 100: what is asked, and the answer. */
test.each<[title: string, card: CardName, first: 'sale' | 'authorize', steps: string]>([
  [
    'captures until nothing is left',
    'approved',
    'authorize',
    'capture 60 approved, capture 41 refused, capture 40 approved, capture 1 refused',
  ],
  [
    'what is voided is not captured',
    'approved',
    'authorize',
    'void 30 approved, capture 71 refused, capture 70 approved, void 1 refused',
  ],
  [
    'only what is captured is refunded',
    'approved',
    'authorize',
    'refund 1 refused, capture 50 approved, refund 51 refused, refund 50 approved',
  ],
  [
    'a sale is not captured or voided',
    'approved',
    'sale',
    'capture 1 refused, void 1 refused, refund 100 approved, refund 1 refused',
  ],
  [
    'a late approval is reversed once',
    'approved',
    'sale',
    'reversal 100 approved, reversal 100 refused, refund 1 refused',
  ],
  ['a reversed authorization is over', 'approved', 'authorize', 'reversal 100 approved, capture 1 refused'],
  ['nothing is no amount', 'approved', 'authorize', 'capture 0 refused, void 0 refused'],
  ['the card whose captures are refused', 'capture_refused', 'authorize', 'capture 10 refused, void 100 approved'],
  ['the card whose refunds are refused', 'refund_refused', 'sale', 'refund 10 refused'],
  [
    'a refund that is processing counts',
    'refund_processing',
    'sale',
    'refund 60 processing, refund 60 refused, refund 40 processing',
  ],
  ['nothing follows a declined charge', 'do_not_honor', 'authorize', 'capture 1 refused'],
])('%s', async (_, card, operation, steps) => {
  const charge = await bench.charge(card, { operation, amount: 100 });
  await resultOf(charge);
  const answered: string[] = [];
  for (const step of steps.split(', ')) {
    const [asked, amount] = step.split(' ') as [Parameters<typeof followUpOperation>[1], string];
    answered.push(`${asked} ${amount} ${await resultOf(followUpOperation(charge, asked, Number(amount)))}`);
  }
  expect(answered.join(', ')).toBe(steps);
});

test('of ten captures and voids of 30 of 100 at once three win', async () => {
  const charge = await bench.charge('approved', { operation: 'authorize', amount: 100 });
  await resultOf(charge);
  const results = await Promise.all(
    Array.from({ length: 10 }, (_, i) => resultOf(followUpOperation(charge, i % 2 ? 'capture' : 'void', 30))),
  );
  expect(results.filter((result) => result === 'approved')).toHaveLength(3);
  expect(results.filter((result) => result === 'refused')).toHaveLength(7);
});

test('a vault token of another project charges nothing', async () => {
  expect(await resultOf(await bench.charge('approved', { project_id: randomUUID() }))).toBe('error');
});

describe('the receiver of account funding', () => {
  const anAccount = async (project_id = bench.project_id): Promise<string> => {
    const vaulted = await bench.processor.vaultAccount({ project_id, number: 'DE89 3704 0044 0532 0130 00' });
    return (vaulted as { account_token: string }).account_token;
  };

  test.each(['sale', 'authorize'] as const)(
    '%s: an account of the project is paid, the second time with the first answer',
    async (operation) => {
      const charge = await bench.charge('approved', { operation, receiver_account_token: await anAccount() });
      for (const time of [1, 2]) {
        expect([time, await resultOf(charge, charge.transaction_id)]).toEqual([time, 'approved']);
      }
      expect(await bench.ledger(`?transaction_id=${charge.transaction_id}`)).toMatchObject([
        { operation, result: 'approved', requests: 2 },
      ]);
    },
  );

  test.each<[string, () => Promise<string>]>([
    ['of another project', () => anAccount(randomUUID())],
    ['that never was', () => Promise.resolve('at_nobody')],
    ['that is none', () => Promise.resolve('')],
    ['that is a card', () => bench.token('approved')],
  ])('an account %s: error, without a response code, and nothing follows', async (_title, token) => {
    const charge = await bench.charge('approved', { operation: 'authorize', receiver_account_token: await token() });
    const answer = await bench.processor.execute(charge, charge.transaction_id);
    expect(answer).toMatchObject({ result: 'error' });
    expect(answer).not.toHaveProperty('response_code');
    expect(await resultOf(followUpOperation(charge, 'capture', 1))).toBe('refused');
  });

  test('a key that was used for one account is refused for another', async () => {
    const charge = await bench.charge('approved', { receiver_account_token: await anAccount() });
    await resultOf(charge, charge.transaction_id);
    expect(await post({ ...charge, receiver_account_token: await anAccount() }, charge.transaction_id)).toMatchObject({
      status: 409,
    });
  });
});

test('another currency or another order is refused', async () => {
  const charge = await bench.charge('approved');
  await resultOf(charge);
  expect(await resultOf({ ...followUpOperation(charge, 'refund', 1), currency: 'USD' })).toBe('refused');
  expect(await resultOf({ ...followUpOperation(charge, 'refund', 1), order_id: randomUUID() })).toBe('refused');
});

test.each([
  ['a malformed body', '{"operation":', 400],
  ['no operation', '{}', 400],
  ['an amount below zero', JSON.stringify({ operation: 'sale', amount: -1 }), 400],
  ['a NUL', JSON.stringify({ operation: 'sale', vault_token: 'vt_\u0000' }), 400],
  ['a body that is too large', JSON.stringify({ operation: 'x'.repeat(70_000) }), 413],
])('%s is refused with error and status', async (_, body, status) => {
  const answer = await post(body, randomUUID());
  expect(answer).toEqual({ status, body: expect.objectContaining({ error: expect.any(String) }) });
});

test('a forged key gets 401, a missing idempotency key 400', async () => {
  const charge = await bench.charge('approved');
  expect(await post(charge, charge.transaction_id, 'forged')).toMatchObject({ status: 401 });
  expect(await post(charge, '')).toMatchObject({ status: 400, body: { field: 'Idempotency-Key' } });
  expect(await bench.ledger(`?transaction_id=${charge.transaction_id}`)).toEqual([]);
});

async function post(
  body: unknown,
  key: string,
  authorization = 'Bearer sk_of_the_simulator_tests',
): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(`${bench.simulator.url}/v1/operations/`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', ...(key && { 'idempotency-key': key }) },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: answer.status, body: await answer.json() };
}
