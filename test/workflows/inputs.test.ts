import { parseDuration, MAX_DURATION } from '../../src/domain/duration';
import * as workflows from '../../workflows';
import { LONGEST_MS, STARTS, UPDATES, requireSame, requireStart } from '../../workflows/inputs';
import * as messages from '../../workflows/messages';

const ID = '0b1b8c1e-54a4-4b7c-9a8e-0f4f2f7f3c11';
const OTHER = '5d3b8f0a-7b7e-4a63-8a8f-2f5b7f1c9d22';
const FOLLOW_UP = {
  id: ID,
  project_id: OTHER,
  kind: 'refund',
  requested_by: 'merchant',
  original_order_id: OTHER,
  original_transaction_id: OTHER,
};
const DAY_MS = 24 * 3_600_000;
const ORDER = {
  id: ID,
  project_id: OTHER,
  currency: 'EUR',
  amount: 500,
  attempts_max: 5,
  charged_by: 'customer',
  expiration_period: 'PT30M',
};
const REQUEST = {
  request_id: ID,
  deadline_at: 1_800_000_000_000,
  has_idempotency_key: true,
  is_repeat: false,
  first_received_at: 1_800_000_000_000,
};
const CREATE = { request: REQUEST, order: ORDER, period: 1_800_000, is_test: true };
const CHARGE = {
  id: ID,
  attempt: 1,
  payment_method: 'credit-card',
  payment_method_details: { vault_token: 'v', masked_pan: '411111******1111' },
  expiration_period: 'PT30M',
  period: 1_800_000,
};
const LINK = {
  id: ID,
  project_id: OTHER,
  merchant_order_id: 'L',
  amount: 1,
  currency: 'EUR',
  expiration_period: 'P1D',
};

test('periods are limited as those of requests', () => {
  const { link, sandbox_clock } = MAX_DURATION;
  expect(LONGEST_MS).toEqual({ link: parseDuration(link), sandbox_clock: parseDuration(sandbox_clock) });
});

test.each<[keyof typeof UPDATES, object, [object, string][]]>([
  [
    'createOrder',
    CREATE,
    [
      [{ period: Number.NaN }, 'period'],
      [{ period: 366 * DAY_MS }, 'period'],
      [{ is_test: 'yes' }, 'is_test'],
      [{ request: undefined }, 'request'],
      [{ request: { ...REQUEST, begin_before: '2030' } }, 'request.begin_before'],
      [{ request: { ...REQUEST, has_idempotency_key: undefined } }, 'request.has_idempotency_key'],
      [{ order: { ...ORDER, amount: -1 } }, 'order.amount'],
      [{ order: { ...ORDER, amount: 2 ** 53 } }, 'order.amount'],
      [{ order: { ...ORDER, description: 'x'.repeat(4_097) } }, 'order.description'],
      [{ transaction: { ...CHARGE, capture_mode: 'never' } }, 'transaction.capture_mode'],
      [{ payment_link: { id: ID, expires_at: 1, clock_offset_ms: 'x' } }, 'payment_link.clock_offset_ms'],
      [{ payment_link: { id: ID, expires_at: 1, clock_offset_ms: 401 * DAY_MS } }, 'payment_link.clock_offset_ms'],
    ],
  ],
  [
    'submitPayment',
    { request: REQUEST, project_id: ID, is_test: false, transaction: CHARGE },
    [
      [{ transaction: { ...CHARGE, attempt: 0 } }, 'transaction.attempt'],
      [{ transaction: { ...CHARGE, payment_method_details: undefined } }, 'transaction.payment_method_details'],
      [
        { transaction: { ...CHARGE, payment_method_details: { vault_token: 1 } } },
        'transaction.payment_method_details.vault_token',
      ],
    ],
  ],
  [
    'cancelOrder',
    { source: 'merchant', request: REQUEST },
    [
      [{ source: 'nobody' }, 'source'],
      [{ request: { ...REQUEST, versions: ['1'] } }, 'request.versions.0'],
    ],
  ],
  [
    'captureOrVoid',
    { ...FOLLOW_UP, request: REQUEST, kind: 'capture' },
    [
      [{ kind: 'refund' }, 'kind'],
      [{ amount: 1.5 }, 'amount'],
      [{ clock_offset_ms: -1 }, 'clock_offset_ms'],
    ],
  ],
  [
    'setOutcome',
    { outcome: 'approved', reason: 'told so', operator: 'ada', transaction_id: ID },
    [
      [{ outcome: 'maybe' }, 'outcome'],
      [{ reason: ' ' }, 'reason'],
      [{ reason: 'x'.repeat(501) }, 'reason'],
      [{ operator: '' }, 'operator'],
      [{ transaction_id: 'x' }, 'transaction_id'],
    ],
  ],
  [
    'advanceClock',
    { request_id: 'r', advance: { advance_ms: 1_000 } },
    [
      [{ advance: null }, 'advance'],
      [{ advance: {} }, 'advance.advance_ms'],
      [{ advance: { advance_ms: 401 * DAY_MS } }, 'advance.advance_ms'],
      [{ advance: { to: 1e308 } }, 'advance.to'],
      [{ versions: ['1'] }, 'versions.0'],
    ],
  ],
  [
    'createPaymentLink',
    { request: REQUEST, payment_link: LINK, period: DAY_MS },
    [[{ payment_link: { ...LINK, id: 1 } }, 'payment_link.id']],
  ],
  ['endPaymentLink', { request: REQUEST }, [[{ request: { ...REQUEST, versions: 1 } }, 'request.versions']]],
])('rules 24.10: the input of %s', (name, right, wrong) => {
  expect(UPDATES[name](right)).toBeUndefined();
  for (const [fields, path] of wrong) expect(UPDATES[name]({ ...right, ...fields })).toMatchObject({ path });
  for (const value of [undefined, null, 'x', 1, []]) expect(UPDATES[name](value)).toMatchObject({ path: '' });
});

const ERASURE = { erasure_id: ID, project_id: OTHER, subject: `order_id:${OTHER}` };

test.each<[keyof typeof workflows, object, object[]]>([
  [
    'order',
    { order_id: ID },
    [{}, { order_id: ID, resumed: { polls: -1, poll_requested: false } }, { order_id: OTHER }],
  ],
  [
    'followUp',
    FOLLOW_UP,
    [
      { ...FOLLOW_UP, poll_after_ms: 1e308 },
      { ...FOLLOW_UP, id: OTHER },
    ],
  ],
  ['paymentLink', { payment_link_id: ID }, [{ payment_link_id: ID, continued: 'x' }, { payment_link_id: OTHER }]],
  [
    'webhookDelivery',
    { order_id: ID, n: 1 },
    [
      { order_id: ID, n: 0 },
      { order_id: ID, n: 2 },
    ],
  ],
  ['incident', { incident_id: ID }, [{}, { incident_id: OTHER }]],
  ['webhookRecovery', { recovery_id: ID }, [{}, { recovery_id: OTHER }]],
  ['erasure', ERASURE, [{ erasure_id: ID }, { ...ERASURE, erasure_id: OTHER }]],
  ['receiverCheck', { check_id: ID }, [{}, { check_id: OTHER }]],
  ['sandboxClock', { clock_id: ID, project_id: OTHER }, [{ clock_id: ID }, { clock_id: OTHER, project_id: OTHER }]],
])('rules 24.10: a start of %s', (workflowType, right, wrong) => {
  const { orderWorkflowId, paymentLinkWorkflowId, deliveryWorkflowId, sandboxClockWorkflowId, incidentWorkflowId } =
    messages;
  const workflowId = {
    order: orderWorkflowId(ID),
    followUp: orderWorkflowId(ID),
    paymentLink: paymentLinkWorkflowId(ID),
    webhookDelivery: deliveryWorkflowId({ order_id: ID, n: 1 }),
    sandboxClock: sandboxClockWorkflowId(ID),
    incident: incidentWorkflowId(ID),
    webhookRecovery: messages.webhookRecoveryWorkflowId(ID),
    erasure: messages.erasureWorkflowId(ID),
    receiverCheck: messages.receiverCheckWorkflowId(ID),
    searchIndexCheck: '',
    settlements: '',
    audit: '',
  }[workflowType];
  const info = { workflowType, workflowId };
  expect(() => requireStart(info, right)).not.toThrow();
  for (const input of [...wrong, undefined, null, 'x', []]) {
    expect(() => requireStart(info, input)).toThrow(
      expect.objectContaining({ type: 'ValidationError', nonRetryable: true }),
    );
  }
});

test('rules 24.10: every workflow that has an input has its check', () => {
  const with_input = Object.entries<(...args: never[]) => unknown>(workflows).filter(
    ([, workflow]) => workflow.length > 0,
  );
  expect(Object.keys(STARTS).toSorted()).toEqual(with_input.map(([name]) => name).toSorted());
});

test('a workflow without input starts with any', () => {
  expect(() => requireStart({ workflowType: 'settlements', workflowId: 'settlements' }, 'x')).not.toThrow();
});

test('a message about another object is refused', () => {
  expect(() => requireSame('order.id', ID, ID)).not.toThrow();
  expect(() => requireSame('order.id', ID, OTHER)).toThrow('order.id: Belongs to another workflow.');
});
