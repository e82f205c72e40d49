import { randomUUID } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { createProcessorClient, type Processor } from '../../../src/processor/client';
import { ServiceError } from '../../../src/errors';
import { recordWith } from '../../../src/metrics/recorder';
import { OPERATIONS, SETTLEMENTS_LIMIT } from '../../../src/processor/wire';
import { CARDS } from '../../support/domain';
import { setUp } from '../../support/set-up';
import { until } from '../../support/waits';
import { A_CARD, KEY, startTestSimulator } from '../simulator/support';

/** Twice as long as a busy machine may stand still. */
const TIMEOUT_MS = 2_000;
const bench = setUp(() => startTestSimulator({}, TIMEOUT_MS));
/** A processor that answers what a test wants. */
let odd: Server;
let answer: (res: ServerResponse) => void;
let stranger: Processor;
/** What it logs. */
const lines: string[] = [];
const log = pino({}, { write: (line) => void lines.push(line) });
/** The results of calls in its metrics. */
const counted = new Set<string | undefined>();
recordWith({ count: (_name, { result }) => void counted.add(result), measure: () => undefined });

beforeAll(async () => {
  odd = createServer((_req, res) => answer(res));
  await new Promise<void>((resolve) => odd.listen(0, '127.0.0.1', resolve));
  stranger = createProcessorClient({
    url: `http://127.0.0.1:${(odd.address() as AddressInfo).port}/`,
    key: KEY,
    timeout_ms: TIMEOUT_MS,
    log,
  });
});
afterEach(async () => void (await bench.call('/control/faults/', { method: 'DELETE' })));
afterAll(async () => {
  await stranger.close();
  odd.closeAllConnections();
  await new Promise((resolve) => odd.close(resolve));
});

const json = (status: number, body: unknown) => (res: ServerResponse) => {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};
const OPERATION = {
  operation: 'sale',
  order_id: randomUUID(),
  transaction_id: randomUUID(),
  project_id: randomUUID(),
  is_test: true,
  amount: 1,
  currency: 'EUR',
} as const;
const DECLINED = { ...OPERATION, idempotency_key: 'another', result: 'declined', occurred: '2026-01-15T12:00:00Z' };

/** Whatever is not the processor's own valid answer about this very key is no answer; how metrics count it. */
const NO_ANSWERS: [string, (res: ServerResponse) => void, counted: string][] = [
  ['no answer in time', () => undefined, 'timeout'],
  ['a connection that breaks', (res) => res.socket?.destroy(), 'unreachable'],
  [
    'half an answer',
    (res) => {
      res.writeHead(200, { 'content-length': '100' }).write('{');
      res.socket?.end();
    },
    'unreachable',
  ],
  ['500', json(500, { error: 'x' }), 'unusable'],
  ['503 with a result', json(503, { ...DECLINED, idempotency_key: 'key' }), 'unusable'],
  ['401', json(401, { error: 'x' }), 'unauthorized'],
  ['404 of somebody else', (res) => res.writeHead(404).end('<h1>Not found</h1>'), 'unusable'],
  ['404 about something else', json(404, { error: 'No such path.' }), 'refused'],
  ['a page', (res) => res.end('<html>'), 'unusable'],
  ['an empty object', json(200, {}), 'answered'],
  ['a result that is no result', json(200, { ...DECLINED, idempotency_key: 'key', result: 'maybe' }), 'answered'],
  ['a redirect', (res) => res.writeHead(302, { location: bench.simulator.url }).end(), 'unusable'],
  ['the outcome of another key', json(200, DECLINED), 'answered'],
  [
    'an answer without end',
    (res) => {
      res.writeHead(200);
      for (let i = 0; i < 20; i += 1) res.write('x'.repeat(65_536));
    },
    'unusable',
  ],
];

const SILENT = ['no answer in time', 'a connection that breaks', 'half an answer'];

test.each(NO_ANSWERS)('%s: the outcome is unknown, a look-up fails', async (what, give, result) => {
  answer = give;
  counted.clear();
  const { project_id } = OPERATION;
  // All at once: each waits for as long as the client does.
  const outcomes = Promise.all([stranger.execute(OPERATION, 'key'), stranger.findOperation('key', {})]);
  const looks = Promise.all(
    [
      stranger.getVaultedCard('t', project_id),
      stranger.vaultCard({ ...A_CARD, project_id, is_test: true, number: CARDS.approved.number }),
      stranger.vaultWallet({ project_id, is_test: true, payment_method: 'apple-pay' }),
    ].map((look) =>
      look.then(
        () => 'an answer',
        (error: unknown) => error,
      ),
    ),
  );
  expect(await outcomes).toEqual(['unknown', 'unknown']);
  for (const error of await looks) {
    expect(error).toBeInstanceOf(ServiceError);
    // Nothing came back, or nothing of use did (rules 10.7).
    expect((error as ServiceError).error).toBe(
      SILENT.includes(what) ? 'GatewayTimeout' : 'FailedToFetchTransactionInformation',
    );
  }
  expect([...counted]).toEqual([result]);
});

test('rules 22.5: a problem of the processor is an answer that it would not give about an unknown key', async () => {
  expect(await bench.processor.findProblem()).toBeUndefined();
  const problemOf = (give: typeof answer) => {
    answer = give;
    return stranger.findProblem();
  };
  expect(await problemOf(json(401, { error: 'x' }))).toBe('PROCESSOR_KEY is refused: status 401.');
  for (const [status, body] of [
    [500, { error: 'x' }],
    [404, { error: 'Not found.' }],
    [200, DECLINED],
  ] as const) {
    expect(await problemOf(json(status, body))).toBe(`It does not answer as the processor does: status ${status}.`);
  }
});

test('rules 15.3: what it logs of a call without an answer is the reason, and nothing of the card', async () => {
  const card = { ...A_CARD, project_id: OPERATION.project_id, is_test: true, number: CARDS.approved.number };
  for (const [, give] of NO_ANSWERS.slice(1)) {
    answer = give;
    lines.length = 0;
    await expect(stranger.vaultCard(card)).rejects.toBeInstanceOf(ServiceError);
    expect(lines).toHaveLength(1);
    const line = JSON.parse(lines[0]!) as object;
    expect(line).toMatchObject({ what: '/v1/vault/cards', why: expect.any(String) as string });
    // The numbers of process and instant may have the digits of a security code.
    expect(JSON.stringify({ ...line, pid: 0, time: 0 })).not.toMatch(
      new RegExp(`${card.number}|${card.security_code}|vault_token|card_expiry`),
    );
  }
});

test.each([
  ['another amount', { amount: 2 }, { result: 'mismatch', amount: 2, currency: 'EUR' }],
  ['another currency', { currency: 'JPY' }, { result: 'mismatch', amount: 1, currency: 'JPY' }],
  ['another transaction', { transaction_id: randomUUID() }, 'unknown'],
  ['another operation', { operation: 'refund' }, 'unknown'],
])(
  'rules 10.17: an approval of %s is no approval of this one, also when it is asked for',
  async (_what, other, expected) => {
    const approved = { ...OPERATION, idempotency_key: 'key', result: 'approved', occurred: '2026-01-15T12:00:00Z' };
    answer = json(200, approved);
    expect(await stranger.execute(OPERATION, 'key')).toMatchObject({ result: 'approved' });
    answer = json(200, { ...approved, ...other });
    expect(await stranger.execute(OPERATION, 'key')).toEqual(expected);
    expect(await stranger.findOperation('key', OPERATION)).toEqual(expected);
  },
);

test('rules 10.17: a 3-D Secure challenge of another operation than a charge is no answer', async () => {
  const challenge = { ...OPERATION, idempotency_key: 'key', result: 'challenge', occurred: '2026-01-15T12:00:00Z' };
  for (const operation of OPERATIONS) {
    answer = json(200, { ...challenge, operation });
    const outcomes = [
      await stranger.execute({ ...OPERATION, operation }, 'key'),
      await stranger.findOperation('key', {}),
    ];
    expect(outcomes.map(word)).toEqual(
      Array(2).fill(['sale', 'authorize'].includes(operation) ? 'challenge' : 'unknown'),
    );
  }
});

test('rules 15.8: a card number that the processor repeats is in no outcome, nor what Postgres cannot store', async () => {
  const { number } = CARDS.approved;
  const approved = { ...OPERATION, idempotency_key: 'key', result: 'approved', occurred: '2026-01-15T12:00:00Z' };
  answer = json(200, { ...approved, response_code: number, response_code_description: `Card ${number} is fine` });
  const texts = { response_code: '[card number]', response_code_description: 'Card [card number] is fine' };
  expect(await stranger.execute(OPERATION, 'key')).toMatchObject(texts);
  expect(await stranger.findOperation('key', OPERATION)).toMatchObject(texts);
  answer = json(200, { ...approved, response_code: '00\u0000', response_code_description: 'Fine\u0000 \ud83d' });
  expect(await stranger.execute(OPERATION, 'key')).toMatchObject({
    response_code: '00',
    response_code_description: 'Fine \ufffd',
  });
  answer = json(200, { ...approved, result: 'challenge', challenge_url: `https://issuer.example/${number}` });
  expect(await stranger.execute(OPERATION, 'key')).toBe('unknown');
});

test('rules 15.8: an answer of the vault with a card number is of no use, and one cut within a character is mended', async () => {
  const { number } = CARDS.approved;
  const { project_id } = OPERATION;
  const card = { vault_token: number, truncated_pan: '411111******1111', card_expiry: '122034', brand: 'visa' };
  answer = json(200, card);
  expect(await stranger.getVaultedCard('t', project_id)).toEqual(card);
  answer = json(200, { ...card, cardholder_name: 'Ada\u0000 \ude00' });
  expect(await stranger.getVaultedCard('t', project_id)).toEqual({ ...card, cardholder_name: 'Ada \ufffd' });
  for (const wrong of [{ truncated_pan: number }, { cardholder_name: `Ada ${number}` }, { brand: number }]) {
    answer = json(200, { ...card, ...wrong });
    await expect(stranger.getVaultedCard('t', project_id)).rejects.toMatchObject({
      error: 'FailedToFetchTransactionInformation',
    });
  }
});

test('a key that came with another request: told apart from no answer, and only by the processor itself', async () => {
  answer = json(409, { error: 'This Idempotency-Key belongs to another request.', field: 'Idempotency-Key' });
  expect([await stranger.execute(OPERATION, 'key'), await stranger.findOperation('key', {})]).toEqual([
    'key_used_for_other_request',
    'unknown',
  ]);
  answer = json(409, { error: 'Conflict' });
  expect(await stranger.execute(OPERATION, 'key')).toBe('unknown');
});

test.each([
  ['latency within the limit', { kind: 'latency', milliseconds: 50 }, 'approved', 'approved', 1],
  ['latency beyond it', { kind: 'latency', milliseconds: TIMEOUT_MS + 1_000 }, 'unknown', 'approved', 1],
  ['an error', { kind: 'error' }, 'unknown', 'not_found', 0],
  ['no answer', { kind: 'no_answer' }, 'unknown', 'not_found', 0],
  ['a lost answer', { kind: 'lost_answer' }, 'unknown', 'approved', 1],
  ['an outage', { kind: 'outage' }, 'unknown', 'not_found', 0],
  ['garbage', { kind: 'garbage' }, 'unknown', 'approved', 1],
])('rules 17.3: the control API: %s', async (_, fault, first, afterwards, rows) => {
  const charge = await bench.charge('approved');
  await bench.control('faults', { ...fault, operation: 'sale', order_id: charge.order_id, times: 1 });
  expect(word(await bench.processor.execute(charge, charge.transaction_id))).toBe(first);
  const written = async () => (await bench.ledger(`?order_id=${charge.order_id}`)).length;
  // What answers late happens late.
  if (rows > 0) await until('the processor has it', async () => (await written()) > 0 || undefined);
  expect(await written()).toBe(rows);
  expect(word(await bench.processor.findOperation(charge.transaction_id, {}))).toBe(afterwards);
  expect(word(await bench.processor.execute(charge, charge.transaction_id))).toBe('approved');
  expect(await bench.ledger(`?order_id=${charge.order_id}`)).toHaveLength(1);
});

test('a fault that is ended leaves those about others as they are', async () => {
  const [ended, stays] = [await bench.charge('approved'), await bench.charge('approved')];
  for (const { order_id } of [ended, stays]) await bench.control('faults', { kind: 'error', order_id });
  await bench.call(`/control/faults/?order_id=${ended.order_id}`, { method: 'DELETE' });
  expect(word(await bench.processor.execute(ended, ended.transaction_id))).toBe('approved');
  expect(word(await bench.processor.execute(stays, stays.transaction_id))).toBe('unknown');
});

test('a fault hits only what it is about', async () => {
  const [hit, spared] = [await bench.charge('approved'), await bench.charge('approved')];
  await bench.control('faults', { kind: 'error', vault_token: hit.vault_token });
  await bench.control('faults', { kind: 'garbage', operation: 'ask', transaction_id: spared.transaction_id, times: 1 });
  expect(word(await bench.processor.execute(hit, hit.transaction_id))).toBe('unknown');
  expect(word(await bench.processor.execute(spared, spared.transaction_id))).toBe('approved');
  expect(word(await bench.processor.findOperation(spared.transaction_id, {}))).toBe('unknown');
  expect(word(await bench.processor.findOperation(spared.transaction_id, {}))).toBe('approved');
});

test('a vault token gives what may be known, in its own project only', async () => {
  const vaulted = await bench.processor.vaultCard({
    ...A_CARD,
    project_id: bench.project_id,
    is_test: true,
    number: CARDS.approved_mastercard.number,
    cardholder_name: 'A Customer',
  });
  const card = {
    vault_token: expect.stringMatching(/^vt_/),
    truncated_pan: '554433******0037',
    card_expiry: '122039',
    cardholder_name: 'A Customer',
    brand: 'mastercard',
  };
  expect(vaulted).toEqual({ usable: true, ...card });
  const { vault_token } = vaulted as { vault_token: string };
  expect(await bench.processor.getVaultedCard(vault_token, bench.project_id)).toEqual(card);
  expect(await bench.processor.getVaultedCard(vault_token, randomUUID())).toBeUndefined();
  for (const nobody of ['vt_nobody', '.', '..', '../accounts', '%2e']) {
    expect(await bench.processor.getVaultedCard(nobody, bench.project_id)).toBeUndefined();
  }
});

test.each([
  ['a wrong check digit', { number: '4111111111111112' }, 'number'],
  ['letters', { number: '4111 1111' }, 'number'],
  ['a past month', { card_expiry: '012020' }, 'card_expiry'],
  ['a month that is none', { card_expiry: '132039' }, 'card_expiry'],
  ['a short security code', { security_code: '12' }, 'security_code'],
  ['a security code of another brand', { security_code: '1234' }, 'security_code'],
])('an unusable card is a value: %s', async (_, over, field) => {
  const answered = await bench.processor.vaultCard({
    ...A_CARD,
    project_id: bench.project_id,
    is_test: true,
    number: CARDS.approved.number,
    ...over,
  });
  expect(answered).toEqual({ usable: false, field, reason: expect.any(String) });
});

test.each([
  ['4111111111111111', '411111******1111'],
  ['DE89 3704 0044 0532 0130 00', 'DE8937************3000'],
  ['12345', '***45'],
  ['😀', '*'],
  ['a😀😀😀', '**😀😀'],
  // The six characters, not the one that they name in JSON.
  ['\\u0000', '***000'],
])('a receiver account number %s is shown as %s', async (number, truncated_number) => {
  const vaulted = await bench.processor.vaultAccount({ project_id: bench.project_id, number });
  expect(vaulted).toEqual({ usable: true, account_token: expect.stringMatching(/^at_/), truncated_number });
});

function word(result: Awaited<ReturnType<Processor['findOperation' | 'execute']>>): string {
  return typeof result === 'string' ? result : result.result;
}

describe('rules 26.4: totals', () => {
  const of = { project_id: randomUUID(), operation: 'sale', currency: 'EUR' };
  const totalsOf = (amount: unknown) => {
    answer = json(200, [{ ...of, amount, settlement_amount: 0, fee_amount: 0 }]);
    return stranger.totals({ since: 0, until: 1 }, 0);
  };

  test.each([
    [0, 0n],
    [Number.MAX_SAFE_INTEGER, 9_007_199_254_740_991n],
    ['18014398509481983', 18_014_398_509_481_983n],
    ['9232379236109515775000', 9_232_379_236_109_515_775_000n],
  ])('%s is read exactly', async (sent, amount) => {
    expect(await totalsOf(sent)).toEqual([{ ...of, amount, settlement_amount: 0n, fee_amount: 0n }]);
  });

  test.each([-1, 0.5, 2 ** 53, '-1', '1.5', '1e3', '', null])('%s is no sum', async (sent) => {
    await expect(totalsOf(sent)).rejects.toMatchObject({ error: 'FailedToFetchTransactionInformation' });
  });
});

it('reads a full page of settlements, however long each is', async () => {
  const settlement = {
    operation: 'chargeback_reversal',
    idempotency_key: `${randomUUID()}:chargeback_reversal:${randomUUID()}`,
    order_id: randomUUID(),
    transaction_id: randomUUID(),
    follow_up_order_id: randomUUID(),
    settlement_currency: 'EUR',
    settlement_amount: Number.MAX_SAFE_INTEGER,
    fee_currency: 'EUR',
    fee_amount: Number.MAX_SAFE_INTEGER,
  };
  const from = Number.MAX_SAFE_INTEGER - SETTLEMENTS_LIMIT;
  const page = Array.from({ length: SETTLEMENTS_LIMIT }, (_, n) => ({ ...settlement, number: from + n + 1 }));
  answer = json(200, page);
  expect(await stranger.settlements(from)).toHaveLength(SETTLEMENTS_LIMIT);
  // Who reads page after page would never end.
  await expect(stranger.settlements(from + 1)).rejects.toMatchObject({ error: 'FailedToFetchTransactionInformation' });
});

test('a report that does not go on from the number that was asked for is of no use', async () => {
  const { is_test: _, ...operation } = DECLINED;
  const reported = (number: number) => ({ ...operation, number });
  answer = json(200, [reported(3), reported(4)]);
  expect(await stranger.operations({ order_ids: [operation.order_id] }, 2)).toHaveLength(2);
  const refused = { error: 'FailedToFetchTransactionInformation' };
  await expect(stranger.operations({ order_ids: [operation.order_id] }, 3)).rejects.toMatchObject(refused);
  answer = json(200, [reported(4), reported(4)]);
  await expect(stranger.operations({ order_ids: [operation.order_id] }, 2)).rejects.toMatchObject(refused);
});

test('rules 26.2: totals of an hour in which thousands of projects were paid are read whole', async () => {
  const sums = { amount: '1', settlement_amount: '1', fee_amount: '0' };
  const total = () => ({ project_id: randomUUID(), operation: 'sale', currency: 'EUR', ...sums });
  answer = json(200, Array.from({ length: 4_000 }, total));
  const totals = await stranger.totals({ since: 0, until: 3_600_000 }, 0);
  expect(totals).toHaveLength(4_000);
});
