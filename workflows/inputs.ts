import type { UpdateDefinition } from '@temporalio/common';
import { setHandler } from '@temporalio/workflow';
import { CAPTURE_MODES } from '../src/domain/amounts';
import type { AcceptedRequest } from '../src/domain/accepted-request';
import { FOLLOW_UP_KINDS, type RequestedBy } from '../src/domain/follow-up';
import type { NewOrder, PaymentMethodDetails } from '../src/domain/new-order';
import type { NewPaymentLink } from '../src/domain/payment-link';
import type { ClockAdvance } from '../src/domain/sandbox-clock';
import {
  anything,
  flag,
  integer,
  listOf,
  number,
  object,
  oneOf,
  optional,
  text,
  uuidText,
  type ShapeCheck,
} from '../src/domain/shape';
import { REASON_LENGTH_MAX, MANUAL_OUTCOMES } from '../src/domain/transaction';
import { validationError } from '../src/errors';
import {
  WORKFLOW_IDS,
  type CreateOrderInput,
  type CreatePaymentLinkInput,
  type FollowUpInput,
  type OrderInput,
  type StartInputs,
  type SubmitPaymentInput,
  type TransactionInput,
} from './messages';
import { refusal } from './refusal';
import { DAY_MS } from '../src/domain/period';

/**
 * Checks the shape and range of every workflow input (rules 24.10). The API, operators and other workflows send inputs,
 * and some senders run older code. A start or update without a row here does not compile. Signals and queries carry no
 * input. An invalid update is rejected before it is accepted, so it leaves no event; a workflow started with an invalid
 * input fails at once.
 */

type Messages = typeof import('./messages');
type UpdateInputs = {
  [
    Name in keyof Messages as Messages[Name] extends UpdateDefinition<infer _Result, [infer _Input]>
      ? Name extends `${infer Short}Update`
        ? Short
        : never
      : never
  ]: Messages[Name] extends UpdateDefinition<infer _Result, [infer Input]> ? Input : never;
};

/**
 * The longest periods of a request, in milliseconds; equal to MAX_DURATION, whose texts are too expensive to parse
 * here.
 */
export const LONGEST_MS = { link: 365 * DAY_MS, sandbox_clock: 400 * DAY_MS } as const;
/** More than any If-Match holds. */
const VERSIONS_MAX = 10_000;
const ATTEMPT_NUMBER_MAX = 25;

/** Lengths of the API's texts. */
const reference = text(255);
const longText = text(4_096);
const amount = integer(0);
/** Epoch milliseconds. */
const instant = number(0, Date.UTC(9999, 0));
const period = number(0, LONGEST_MS.link);
const count = integer(0);
const clockOffset = integer(0, LONGEST_MS.sandbox_clock);
const versions = optional(listOf(count, VERSIONS_MAX));
const request = object<AcceptedRequest>({
  request_id: reference,
  deadline_at: instant,
  has_idempotency_key: flag,
  is_repeat: flag,
  first_received_at: instant,
  begin_before: optional(instant),
  versions,
});

const newOrder = object<NewOrder>({
  id: uuidText,
  project_id: uuidText,
  merchant_order_id: optional(reference),
  description: optional(longText),
  currency: text(3, 3),
  amount,
  attempts_max: integer(1, ATTEMPT_NUMBER_MAX),
  charged_by: oneOf(['token', 'customer']),
  expiration_period: reference,
  payment_methods: anything,
  return_url: optional(longText),
  failure_url: optional(longText),
  webhook_url: optional(longText),
  locale: optional(reference),
  customer: anything,
  client: anything,
  extra: anything,
  order_lines: anything,
});

const transactionFields = {
  id: uuidText,
  attempt: integer(1, ATTEMPT_NUMBER_MAX),
  payment_method: reference,
  payment_method_brand: optional(reference),
  expiration_period: reference,
  transaction_type: optional(oneOf(['authorization', 'aft'])),
  capture_mode: optional(oneOf(CAPTURE_MODES)),
  capture_period: optional(reference),
  receiver_account_token: optional(reference),
  period,
} as const;
const details = object<Pick<PaymentMethodDetails, 'vault_token'>>({
  vault_token: optional(reference),
}) as ShapeCheck<PaymentMethodDetails>;
const transaction = object<TransactionInput>({ ...transactionFields, payment_method_details: optional(details) });
const charge = object<SubmitPaymentInput['transaction']>({ ...transactionFields, payment_method_details: details });

const newPaymentLink = object<NewPaymentLink>({
  id: uuidText,
  project_id: uuidText,
  merchant_order_id: reference,
  amount,
  currency: text(3, 3),
  description: optional(longText),
  payment_methods: optional(listOf(reference, 50)),
  expiration_period: reference,
  return_url: optional(longText),
  webhook_url: optional(longText),
});

const followUpFields = {
  id: uuidText,
  project_id: uuidText,
  requested_by: oneOf<RequestedBy>(['merchant', 'service', 'processor']),
  amount: optional(amount),
  original_order_id: uuidText,
  original_transaction_id: uuidText,
  merchant_order_id: optional(reference),
  description: optional(longText),
  extra: anything,
  processor_key: optional(longText),
  poll_after_ms: optional(number(0, 2 * LONGEST_MS.sandbox_clock)),
  clock_offset_ms: optional(clockOffset),
  polls: optional(count),
  poll_requested: optional(flag),
} as const;

const advanceBy = object<{ advance_ms: number }>({ advance_ms: integer(1, LONGEST_MS.sandbox_clock) });
const advanceTo = object<{ to: number }>({ to: instant });
const clockAdvance: ShapeCheck<ClockAdvance> = (value) =>
  (value as Partial<ClockAdvance> | null | undefined)?.to === undefined ? advanceBy(value) : advanceTo(value);

/** The input of each workflow that has one. */
export const STARTS: { [Name in keyof StartInputs]: ShapeCheck<StartInputs[Name]> } = {
  order: object<OrderInput>({
    order_id: uuidText,
    resumed: optional(
      object<NonNullable<OrderInput['resumed']>>({
        polls: count,
        poll_requested: flag,
      }),
    ),
  }),
  followUp: object<FollowUpInput>({ ...followUpFields, request: optional(request), kind: oneOf(FOLLOW_UP_KINDS) }),
  paymentLink: object({ payment_link_id: uuidText, continued: optional(oneOf([true])) }),
  webhookDelivery: object({ order_id: uuidText, n: integer(1) }),
  sandboxClock: object({ clock_id: uuidText, project_id: uuidText }),
  incident: object({ incident_id: uuidText }),
  webhookRecovery: object({ recovery_id: uuidText }),
  erasure: object({ erasure_id: uuidText, project_id: uuidText, subject: longText }),
  receiverCheck: object({ check_id: uuidText }),
};

/** The input of each update that has one. */
export const UPDATES: { [Name in keyof UpdateInputs]: ShapeCheck<UpdateInputs[Name]> } = {
  createOrder: object<CreateOrderInput>({
    request,
    order: newOrder,
    period,
    is_test: flag,
    transaction: optional(transaction),
    payment_link: optional(object({ id: uuidText, expires_at: instant, clock_offset_ms: clockOffset })),
  }),
  submitPayment: object({ request, project_id: uuidText, is_test: flag, transaction: charge }),
  cancelOrder: object({ source: oneOf(['customer', 'merchant']), request }),
  captureOrVoid: object({ ...followUpFields, request, kind: oneOf(['capture', 'void']) }),
  setOutcome: object({
    outcome: oneOf(MANUAL_OUTCOMES),
    reason: text(REASON_LENGTH_MAX, 1),
    operator: text(255, 1),
    transaction_id: uuidText,
    command_line: optional(object({ request_id: reference })),
  }),
  advanceClock: object({ request_id: text(255, 1), advance: clockAdvance, versions }),
  createPaymentLink: object<CreatePaymentLinkInput>({ request, payment_link: newPaymentLink, period }),
  endPaymentLink: object({ request }),
};

/**
 * Throws ValidationError when a workflow is started with an invalid input, or under the id of another object: two
 * workflows must never write one order.
 */
export function requireStart(
  { workflowType, workflowId }: { workflowType: string; workflowId: string },
  input: unknown,
) {
  if (!Object.hasOwn(STARTS, workflowType)) return;
  const type = workflowType as keyof StartInputs;
  requireInput(STARTS[type], input);
  requireSame('workflow id', workflowId, WORKFLOW_IDS[type](input as never));
}

function requireInput(check: ShapeCheck<unknown>, input: unknown): void {
  const wrong = check(input);
  if (wrong !== undefined) throw refusal(validationError(wrong.path || 'input', wrong.text));
}

/** Throws ValidationError when a message names another object than its workflow's. */
export function requireSame(path: string, id: string, expected: string): void {
  if (id !== expected) throw refusal(validationError(path, 'Belongs to another workflow.'));
}

/**
 * Sets the handler of an update that has an input. `refuse` throws when a well-formed input is not allowed now. Both
 * checks run before the update is accepted.
 */
export function setUpdateHandler<Result, Input>(
  definition: UpdateDefinition<Result, [Input]>,
  handler: (input: Input) => Promise<Result>,
  { refuse, description }: { refuse?: (input: Input) => void; description?: string } = {},
): void {
  const check = UPDATES[definition.name as keyof typeof UPDATES];
  setHandler(definition, handler, {
    validator: (input: Input) => {
      requireInput(check, input);
      refuse?.(input);
    },
    ...(description !== undefined && { description }),
  });
}
