import {
  RECEIVER_CASES,
  RECEIVER_CHECK_ROUNDS,
  judgeCase,
  judgeReceiver,
  unreadOrders,
  worstResult,
  type OrderRead,
  type ReceiverCase,
  type SentWebhook,
} from '../../../src/domain/receiver-check';

const sent = (over: Partial<SentWebhook> = {}): SentWebhook => ({
  order_id: 'o',
  webhook_id: 'webhook:o:1',
  expected: 'accepted',
  sent_at: 1_000,
  answered_at: 1_100,
  duration_ms: 100,
  status_code: 200,
  ...over,
});
const read = (over: Partial<OrderRead> = {}): OrderRead => ({
  request_id: 'r',
  order_id: 'o',
  api_key_id: 'k',
  received: 1_050,
  status: 200,
  ...over,
});
const none = { status_code: undefined };
const refused = { expected: 'refused' as const };

test('rules 27.2: every case is in one round', () => {
  expect(RECEIVER_CHECK_ROUNDS.flat().toSorted()).toEqual(RECEIVER_CASES.toSorted());
});

test.each<[string, ReceiverCase, SentWebhook[], OrderRead[], string, RegExp]>([
  ['retrieved before the answer', 'once', [sent()], [read()], 'passed', /accepted/],
  ['retrieved at the instant of the answer', 'once', [sent()], [read({ received: 1_100 })], 'passed', /accepted/],
  [
    'retrieved within the millisecond of a rounded duration',
    'once',
    [sent({ duration_ms: 49 })],
    [read({ received: 1_100 })],
    'passed',
    /accepted/,
  ],
  ['a 304 is an answer', 'once', [sent()], [read({ status: 304 })], 'passed', /accepted/],
  [
    'retrieved after the answer',
    'once',
    [sent()],
    [read({ received: 1_101 })],
    'warning',
    /before it retrieved the order.* the change is lost/,
  ],
  ['never retrieved', 'late', [sent()], [], 'failed', /never retrieved the order.* declined, cancelled or refunded/],
  ['another order was retrieved', 'once', [sent()], [read({ order_id: 'p' })], 'failed', /never retrieved/],
  ['refused by the API', 'once', [sent()], [read({ status: 401 })], 'failed', /API key k got 401/],
  ['cut by the receiver', 'once', [sent()], [read({ status: null })], 'failed', /no whole answer/],
  ['a right one answered 400', 'once', [sent({ status_code: 400 })], [read()], 'failed', /^It answered 400/],
  ['a redirect', 'once', [sent({ status_code: 302 })], [read()], 'failed', /^It answered 302/],
  [
    'the second answered 409',
    'cut_after_answer',
    [sent(), sent({ status_code: 409 })],
    [read()],
    'failed',
    /^One of 2 webhooks .* 409/,
  ],
  [
    'the second was answered before the order was stored',
    'twice_at_once',
    [sent(), sent({ answered_at: 1_010 })],
    [read()],
    'warning',
    /before it retrieved/,
  ],
  ['no answer', 'once', [sent({ ...none, failure: 'reading took too long' })], [], 'failed', /reading took too long/],
  ['slow', 'once', [sent({ duration_ms: 2_000 })], [read()], 'warning', /2\.0 s/],
  ['slow because the body was', 'slow_body', [sent({ duration_ms: 2_900 })], [read()], 'passed', /second half/],
  [
    'refused, then accepted',
    'wrong_signature',
    [sent({ ...refused, status_code: 401 }), sent()],
    [],
    'passed',
    /refused/,
  ],
  ['refused with 500', 'old_timestamp', [sent({ ...refused, status_code: 500 }), sent()], [], 'passed', /refused/],
  [
    'refused by closing the connection',
    'wrong_signature',
    [sent({ ...refused, ...none, failure: 'the connection broke' }), sent()],
    [],
    'passed',
    /refused/,
  ],
  [
    'no answer to a wrong one',
    'wrong_signature',
    [sent({ ...refused, ...none, failure: 'reading took too long' }), sent()],
    [],
    'failed',
    /took too long/,
  ],
  ['a wrong one accepted', 'wrong_signature', [sent(refused), sent()], [read()], 'failed', /wrong signature/],
  ['an old one accepted', 'old_timestamp', [sent(refused), sent()], [read()], 'failed', /ten minutes ago/],
  [
    'the right one after it refused',
    'old_timestamp',
    [sent({ ...refused, status_code: 401 }), sent({ status_code: 401 })],
    [],
    'failed',
    /answered 401/,
  ],
])('rules 27.6: %s', (_title, name, webhooks, reads, result, words) => {
  const verdict = judgeCase({ case: name, webhooks }, reads);
  expect([verdict.result, verdict.mend === undefined]).toEqual([result, result === 'passed']);
  expect(verdict.text).toMatch(words);
});

test('rules 27.4: cases that were not played are in the report', () => {
  const report = judgeReceiver([{ case: 'once', webhooks: [sent()] }], [read(), read({ order_id: 'p' })]);
  expect(report.map(({ case: name }) => name)).toEqual(RECEIVER_CASES);
  expect(report.map(({ result }) => result)).toEqual(['passed', ...RECEIVER_CASES.slice(1).map(() => 'not_played')]);
  expect(report[0]!.reads).toEqual([read()]);
});

test('rules 27.5: the orders that the receiver accepted and has not retrieved', () => {
  const webhooks = [
    sent(),
    sent({ order_id: 'p' }),
    sent({ order_id: 'q', status_code: 500 }),
    sent({ order_id: 'p' }),
  ];
  expect(unreadOrders([{ case: 'ten_at_once', webhooks }], [read()])).toEqual(['p']);
});

test.each([
  [['passed', 'passed'], 'passed'],
  [['passed', 'warning'], 'warning'],
  [['not_played', 'warning'], 'not_played'],
  [['warning', 'failed', 'not_played'], 'failed'],
] as const)('rules 27.7: the worst of %j is %s', (results, worst) => {
  expect(worstResult(results.map((result) => ({ result })))).toBe(worst);
});
