import {
  TIMELINE_START,
  pageOfTimeline,
  timelineEntries,
  type TimelineOrder,
  type TimelinePlace,
  type TimelineTransaction,
} from '../../../src/domain/timeline';
import { ORDER_STATUSES, type TransactionStatus } from '../../../src/domain/transitions';

type Event = TimelineTransaction['events'][number];
const iso = (second: number) => new Date(second * 1_000).toISOString();
const inWords = (amount: number, currency: string) => `${amount} ${currency}`;

const event = (
  second: number,
  to: TransactionStatus,
  source: Event['source'],
  result: Event['result'] = null,
): Event => ({
  event: to,
  source,
  result,
  noticed: iso(second),
});

const attempt = (n: number, events: Event[], over: Partial<TimelineTransaction> = {}): TimelineTransaction => ({
  id: `t${n}`,
  attempt: n,
  capture_mode: null,
  payment_method_details: null,
  response_code: null,
  response_code_description: null,
  received_3ds_result: null,
  polls: 0,
  polled_at: null,
  events,
  ...over,
});

const order = (
  status: TimelineOrder['status'],
  transactions: TimelineTransaction[] = [],
  over: Partial<TimelineOrder> = {},
): TimelineOrder => ({
  id: 'o',
  kind: 'payment',
  status,
  amount: 500,
  currency: 'EUR',
  attempts_max: 5,
  related_payment_link_id: null,
  requested_by: null,
  ended_by: null,
  ended_at: null,
  created: iso(0),
  modified: iso(900),
  transactions,
  ...over,
});

const entriesOf = (one: TimelineOrder, follow_ups: TimelineOrder[] = []) =>
  timelineEntries({ order: one, follow_ups, attempts: [], clock_advances: [] }, inWords);
const read = (one: TimelineOrder) =>
  entriesOf(one).map(({ at, event: name, text, by }) => `${at / 1_000} ${name} ${by}: ${text}`);

const CREATED = '0 order.new merchant: Order of 500 EUR created';
const APPROVED = { response_code: '00', response_code_description: 'Approved' };
const DECLINED = { response_code: '05', response_code_description: 'Do not honor' };

test.each<[string, TimelineOrder, string[]]>([
  ['a new order', order('new'), [CREATED]],
  [
    'paid at once',
    order('completed', [
      attempt(1, [event(0, 'new', 'merchant'), event(1, 'accepted', 'processor', 'approved')], {
        ...APPROVED,
        payment_method_details: { truncated_pan: '411111******1111', cardholder_name: 'Ada' },
      }),
    ]),
    [
      CREATED,
      '0 transaction.new merchant: Attempt 1 of 5',
      '1 transaction.accepted processor: Payment approved with 411111******1111: 00 Approved',
      '1 order.completed processor: Order completed',
    ],
  ],
  [
    'declined, then in 3-D Secure, then not heard of, then paid',
    order('completed', [
      attempt(1, [event(1, 'new', 'customer'), event(2, 'error', 'processor', 'declined')], DECLINED),
      attempt(2, [
        event(3, 'new', 'customer'),
        event(4, 'pending', 'processor'),
        event(5, 'processing', 'service'),
        event(6, 'accepted', 'processor', 'approved'),
      ]),
    ]),
    [
      CREATED,
      '1 transaction.new customer: Attempt 1 of 5',
      '2 transaction.error processor: Declined by the issuer: 05 Do not honor',
      '2 order.processing processor: Order is processing',
      '3 transaction.new customer: Attempt 2 of 5',
      '4 transaction.pending processor: The customer is sent to 3-D Secure',
      '4 order.see-transactions processor: Order has a failed transaction and an open one',
      '5 transaction.processing service: The processor did not answer: outcome unknown',
      '6 transaction.accepted processor: Payment approved',
      '6 order.completed processor: Order completed',
    ],
  ],
  [
    'asked about until now',
    order('processing', [
      attempt(1, [event(0, 'new', 'merchant'), event(1, 'processing', 'processor')], { polls: 2, polled_at: iso(8) }),
    ]),
    [
      CREATED,
      '0 transaction.new merchant: Attempt 1 of 5',
      '1 transaction.processing processor: The processor has no outcome yet',
      '1 order.processing processor: Order is processing',
      '8 processor.asked service: The processor was asked for the outcome, 2 times so far: not known yet',
    ],
  ],
  [
    'expired in 3-D Secure',
    order('expired', [
      attempt(1, [event(1, 'new', 'customer'), event(2, 'pending', 'processor'), event(900, 'expired', 'service')]),
    ]),
    [
      CREATED,
      '1 transaction.new customer: Attempt 1 of 5',
      '2 transaction.pending processor: The customer is sent to 3-D Secure',
      '2 order.processing processor: Order is processing',
      '900 transaction.expired service: Expired',
      '900 order.expired service: Order expired',
    ],
  ],
  [
    'cancelled before anybody paid: no transaction says so',
    order('cancelled', [], { ended_by: 'customer' }),
    [CREATED, '900 order.cancelled customer: Order cancelled'],
  ],
  [
    'cancelled, and changed later',
    order('cancelled', [], { ended_by: 'merchant', ended_at: iso(300) }),
    [CREATED, '300 order.cancelled merchant: Order cancelled'],
  ],
  [
    'expired after a decline',
    order('expired', [attempt(1, [event(1, 'new', 'customer'), event(2, 'error', 'processor', 'failed')])], {
      ended_by: 'service',
    }),
    [
      CREATED,
      '1 transaction.new customer: Attempt 1 of 5',
      '2 transaction.error processor: Failed',
      '2 order.processing processor: Order is processing',
      '900 order.expired service: Order expired',
    ],
  ],
  [
    'expired, when the last attempt fails after its end',
    order('expired', [attempt(1, [event(1, 'new', 'customer'), event(2, 'error', 'processor', 'failed')])], {
      attempts_max: 1,
      ended_by: 'service',
    }),
    [
      CREATED,
      '1 transaction.new customer: Attempt 1 of 1',
      '2 transaction.error processor: Failed',
      '2 order.expired processor: Order expired',
    ],
  ],
  [
    'declined by hand',
    order('error', [attempt(1, [event(1, 'new', 'customer'), event(2, 'error', 'operator', 'declined')])], {
      attempts_max: 1,
    }),
    [
      CREATED,
      '1 transaction.new customer: Attempt 1 of 1',
      '2 transaction.error operator: Set to declined by an operator',
      '2 order.error operator: Order failed',
    ],
  ],
  [
    'an authorization that was voided stays completed',
    order('completed', [
      attempt(
        1,
        [event(0, 'new', 'merchant'), event(1, 'accepted', 'processor', 'approved'), event(5, 'cancelled', 'merchant')],
        { capture_mode: 'manual' },
      ),
    ]),
    [
      CREATED,
      '0 transaction.new merchant: Attempt 1 of 5',
      '1 transaction.accepted processor: Authorization approved',
      '1 order.completed processor: Order completed',
      '5 transaction.cancelled merchant: Cancelled',
    ],
  ],
  [
    'an order of a payment link, whose customer failed 3-D Secure',
    order(
      'error',
      [
        attempt(1, [event(0, 'new', 'customer'), event(3, 'error', 'processor', 'failed')], {
          received_3ds_result: 'failed',
        }),
      ],
      { related_payment_link_id: 'l', attempts_max: 1 },
    ),
    [
      '0 order.new customer: Order of 500 EUR created',
      '0 transaction.new customer: Attempt 1 of 1',
      '3 transaction.error processor: 3-D Secure failed',
      '3 order.error processor: Order failed',
    ],
  ],
])('%s', (_title, one, expected) => {
  expect(read(one)).toEqual(expected);
});

test('follow-up orders and webhooks stand in between, with their order and number', () => {
  const payment = order('completed', [
    attempt(1, [event(0, 'new', 'merchant'), event(1, 'accepted', 'processor', 'approved')]),
  ]);
  const refund = order(
    'completed',
    [attempt(1, [event(5, 'new', 'merchant'), event(7, 'accepted', 'processor', 'approved')])],
    {
      id: 'f',
      kind: 'refund',
      requested_by: 'merchant',
      created: iso(5),
      attempts_max: 1,
    },
  );
  const webhook = { order_id: 'o', n: 1, attempt: 2, started: iso(6), status_code: 200, failure: null };
  const failed = { order_id: 'f', n: 1, attempt: 1, started: iso(8), status_code: 500, failure: 'answered 500' };
  const entries = timelineEntries(
    { order: payment, follow_ups: [refund], attempts: [webhook, failed], clock_advances: [] },
    inWords,
  );
  expect(entries.slice(4)).toEqual([
    { at: 5_000, event: 'order.new', text: 'Refund of 500 EUR requested', by: 'merchant', order_id: 'f' },
    {
      at: 5_000,
      event: 'transaction.new',
      text: 'Transaction created',
      by: 'merchant',
      order_id: 'f',
      transaction_id: 't1',
    },
    {
      at: 6_000,
      event: 'webhook.attempt',
      text: 'Webhook attempt 2 of 10: received, answered 200',
      by: 'service',
      delivery: 1,
    },
    {
      at: 7_000,
      event: 'transaction.accepted',
      text: 'Approved',
      by: 'processor',
      order_id: 'f',
      transaction_id: 't1',
    },
    { at: 7_000, event: 'order.completed', text: 'Refund completed', by: 'processor', order_id: 'f' },
    {
      at: 8_000,
      event: 'webhook.attempt',
      text: 'Webhook attempt 1 of 10: answered 500',
      by: 'service',
      order_id: 'f',
      delivery: 1,
    },
  ]);
});

test.each(ORDER_STATUSES.filter((status) => status !== 'new'))(
  'it always ends with the recorded status: %s',
  (status) => {
    expect(entriesOf(order(status)).at(-1)?.event).toBe(`order.${status}`);
  },
);

test('advances of its clock, not those before a payment link made it', () => {
  const one = order('new', [], { created: iso(100) });
  const clock_advances = [
    { started: iso(50), from_offset_ms: 0, to_offset_ms: 60_000 },
    { started: iso(200), from_offset_ms: 60_000, to_offset_ms: 3_660_000 },
  ];
  expect(timelineEntries({ order: one, follow_ups: [], attempts: [], clock_advances }, inWords).slice(1)).toEqual([
    {
      at: 200_000,
      event: 'clock.moved',
      text: 'The sandbox clock is moved to 1970-01-01T01:03:20.000Z',
      by: 'merchant',
    },
  ]);
});

test('pages of entries: each begins where the one before ended, also within an instant', () => {
  const entries = [1, 2, 2, 2, 2, 3].map((at, n) => ({ at, event: String(n), text: '', by: 'service' as const }));
  const texts = (limit: number) => {
    const pages = [];
    for (let from: TimelinePlace | undefined = TIMELINE_START; from !== undefined;) {
      const page: ReturnType<typeof pageOfTimeline> = pageOfTimeline(entries, { limit, from });
      pages.push(page.entries.map(({ event }) => event).join(''));
      from = page.next;
    }
    return pages;
  };
  expect(texts(1)).toEqual(['0', '1', '2', '3', '4', '5']);
  expect(texts(2)).toEqual(['01', '23', '45']);
  expect(texts(3)).toEqual(['012', '345']);
  expect(texts(4)).toEqual(['0123', '45']);
  expect(texts(6)).toEqual(['012345']);
  expect(pageOfTimeline([], { limit: 1, from: TIMELINE_START })).toEqual({ entries: [] });
});
