import { createProcessorClient } from '../../../src/processor/client';
import { testCards } from '../../../src/simulator/server';
import { CARDS, type CardName } from '../../support/domain';
import { setUp } from '../../support/set-up';
import { A_CARD, KEY, startTestSimulator, type TestSimulator } from './support';

const bench = setUp(startTestSimulator);
/** A client that gives up after a second, for the call that is never answered. */
const impatient = setUp(() => createProcessorClient({ url: bench.simulator.url, key: KEY, timeout_ms: 1_000 }));

/** Card → what the first call, then asking, then the same call again answer: result and response code. */
const TABLE: [CardName, first: string, asked: string, again: string][] = [
  ['approved', 'approved 00', 'approved 00', 'approved 00'],
  ['approved_mastercard', 'approved 00', 'approved 00', 'approved 00'],
  ['do_not_honor', 'declined 05', 'declined 05', 'declined 05'],
  ['stolen', 'declined 43', 'declined 43', 'declined 43'],
  ['insufficient_funds', 'declined 51', 'declined 51', 'declined 51'],
  ['challenge', 'challenge', 'challenge', 'challenge'],
  ['frictionless', 'approved 00', 'approved 00', 'approved 00'],
  ['processing_approved', 'processing', 'processing', 'processing'],
  ['processing_declined', 'processing', 'processing', 'processing'],
  ['no_answer', 'unknown', 'not_found', 'approved 00'],
  ['lost_answer', 'unknown', 'approved 00', 'approved 00'],
  ['error_then_fine', 'unknown', 'not_found', 'approved 00'],
  ['chargeback', 'approved 00', 'approved 00', 'approved 00'],
  ['chargeback_won', 'approved 00', 'approved 00', 'approved 00'],
  ['capture_refused', 'approved 00', 'approved 00', 'approved 00'],
  ['refund_refused', 'approved 00', 'approved 00', 'approved 00'],
  ['refund_processing', 'approved 00', 'approved 00', 'approved 00'],
];

test.each(TABLE)('%s: %s, asked %s, again %s', async (card, first, asked, again) => {
  const charge = await bench.charge(card);
  const key = `${charge.transaction_id}:charge`;
  const processor = card === 'no_answer' ? impatient : bench.processor;
  expect(words(await processor.execute(charge, key))).toBe(first);
  expect(words(await bench.processor.findOperation(key, {}))).toBe(asked);
  expect(words(await bench.processor.execute(charge, key))).toBe(again);
  expect(await bench.ledger(`?transaction_id=${charge.transaction_id}`)).toEqual([
    expect.objectContaining({ idempotency_key: key, requests: 2 }),
  ]);
});

test('the table above is the whole table', () => {
  expect(TABLE.map(([card]) => card)).toEqual(Object.keys(CARDS));
  expect(new Set(testCards().map(({ number }) => number)).size).toBe(TABLE.length);
});

test('frictionless: authenticated, liability shifted', async () => {
  expect(await bench.processor.execute(await bench.charge('frictionless'), 'frictionless:1')).toMatchObject({
    three_ds: { result: 'authenticated', liability_shift: true },
  });
});

describe('rules 17.2: test and live cards', () => {
  test.each([
    ['a test card in a live project', CARDS.approved.number, false, 'declined 14'],
    ['another card in a live project', '4242424242424242', false, 'approved 00'],
    ['another card in a test project', '4242424242424242', true, 'declined 14'],
  ])('%s', async (_, number, is_test, answer) => {
    const card = await bench.processor.vaultCard({ ...A_CARD, number, is_test, project_id: bench.project_id });
    const charge = await bench.charge('approved', {
      is_test,
      vault_token: (card as { vault_token: string }).vault_token,
    });
    expect(words(await bench.processor.execute(charge, charge.transaction_id))).toBe(answer);
  });
});

function words(answer: Awaited<ReturnType<TestSimulator['processor']['findOperation' | 'execute']>>): string {
  if (typeof answer === 'string') return answer;
  return [answer.result, 'response_code' in answer && answer.response_code].filter(Boolean).join(' ');
}
