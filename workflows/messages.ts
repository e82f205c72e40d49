import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { AcceptedRequest } from '../src/domain/accepted-request';
import type { DeliveryKey } from '../src/domain/delivery';
import type { ManualOutcome } from '../src/domain/outcome';
import type { NewFollowUp } from '../src/domain/follow-up';
import type { NewOrder, NewTransaction, PaymentMethodDetails } from '../src/domain/new-order';
import type { NewPaymentLink } from '../src/domain/payment-link';
import type { ClockAdvance, StartedClock } from '../src/domain/sandbox-clock';

/**
 * Ids, inputs, updates, signals and search attributes of the workflows: the only file of theirs that the API and
 * activities import.
 */
export * from './search-attributes';
export * as SEARCH_ATTRIBUTES from './search-attributes';

/** Runs all workflows except webhook deliveries, receiver checks and sandbox clocks. */
export const TASK_QUEUE = 'payments';
/**
 * Runs webhook deliveries and receiver checks, apart from payments: a receiver that does not answer occupies a slot for
 * seconds.
 */
export const WEBHOOK_TASK_QUEUE = 'webhooks';
/** Runs sandbox clocks, apart from payments: an advance polls the record until all due actions are done. */
export const SANDBOX_CLOCK_TASK_QUEUE = 'sandbox-clocks';

/** Workflow id of an order, whatever its kind. */
export const orderWorkflowId = (order_id: string) => `order:${order_id}`;
/** Workflow id of a payment link. */
export const paymentLinkWorkflowId = (payment_link_id: string) => `link:${payment_link_id}`;
/** Workflow id of a sandbox clock, by the payment order or payment link that it belongs to. */
export const sandboxClockWorkflowId = (clock_id: string) => `clock:${clock_id}`;
/** Workflow id of an order's n-th webhook delivery, redeliveries included. */
export const deliveryWorkflowId = ({ order_id, n }: DeliveryKey) => `webhook:${order_id}:${n}`;

/** Workflow id of an incident. */
export const incidentWorkflowId = (incident_id: string) => `incident:${incident_id}`;

/** Workflow id of a recovery of webhooks. */
export const webhookRecoveryWorkflowId = (recovery_id: string) => `webhook-recovery:${recovery_id}`;
/** Workflow id of an erasure of a customer's data. */
export const erasureWorkflowId = (erasure_id: string) => `erasure:${erasure_id}`;
/** Workflow id of a receiver check. */
export const receiverCheckWorkflowId = (check_id: string) => `receiver-check:${check_id}`;
/** The id of the order or payment link whose workflow has this id. */
export const objectIdOf = (workflow_id: string) => workflow_id.slice(workflow_id.indexOf(':') + 1);

/** The encodings with which the codec marks a payload that it rejects, and one that an operator sent. */
export const REFUSED_PAYLOAD = 'payments/refused';
export const OPERATOR_PAYLOAD = 'payments/operator';
/** The failure type with which a worker rejects such a payload; nothing was carried out. */
export const PAYLOAD_REFUSED = 'PayloadRefused';

/** Headers of messages and activities: the W3C `traceparent`, and the id of the request that caused an activity. */
export const TRACE_HEADER = 'traceparent';
export const REQUEST_HEADER = 'request-id';

/** Names under which the worker registers the workflows. */
export const ORDER_WORKFLOW = 'order';
export const FOLLOW_UP_WORKFLOW = 'followUp';
export const PAYMENT_LINK_WORKFLOW = 'paymentLink';
export const DELIVERY_WORKFLOW = 'webhookDelivery';
export const SANDBOX_CLOCK_WORKFLOW = 'sandboxClock';
/** Started by schedules. */
export const SEARCH_INDEX_CHECK_WORKFLOW = 'searchIndexCheck';
export const SETTLEMENTS_WORKFLOW = 'settlements';
export const AUDIT_WORKFLOW = 'audit';
/** Started by the audit. */
export const INCIDENT_WORKFLOW = 'incident';
/** Started by requests. */
export const WEBHOOK_RECOVERY_WORKFLOW = 'webhookRecovery';
export const ERASURE_WORKFLOW = 'erasure';
export const RECEIVER_CHECK_WORKFLOW = 'receiverCheck';

/** The inputs of the workflows that have one; each has its check in inputs.ts. */
export interface StartInputs {
  [ORDER_WORKFLOW]: OrderInput;
  [FOLLOW_UP_WORKFLOW]: FollowUpInput;
  [PAYMENT_LINK_WORKFLOW]: PaymentLinkInput;
  [DELIVERY_WORKFLOW]: DeliveryKey;
  [SANDBOX_CLOCK_WORKFLOW]: StartedClock;
  [INCIDENT_WORKFLOW]: IncidentInput;
  [WEBHOOK_RECOVERY_WORKFLOW]: WebhookRecoveryInput;
  [ERASURE_WORKFLOW]: ErasureInput;
  [RECEIVER_CHECK_WORKFLOW]: ReceiverCheckInput;
}

/** The workflow id that belongs to an input. */
export const WORKFLOW_IDS: { readonly [Name in keyof StartInputs]: (input: StartInputs[Name]) => string } = {
  [ORDER_WORKFLOW]: ({ order_id }) => orderWorkflowId(order_id),
  [FOLLOW_UP_WORKFLOW]: ({ id }) => orderWorkflowId(id),
  [PAYMENT_LINK_WORKFLOW]: ({ payment_link_id }) => paymentLinkWorkflowId(payment_link_id),
  [DELIVERY_WORKFLOW]: deliveryWorkflowId,
  [SANDBOX_CLOCK_WORKFLOW]: ({ clock_id }) => sandboxClockWorkflowId(clock_id),
  [INCIDENT_WORKFLOW]: ({ incident_id }) => incidentWorkflowId(incident_id),
  [WEBHOOK_RECOVERY_WORKFLOW]: ({ recovery_id }) => webhookRecoveryWorkflowId(recovery_id),
  [ERASURE_WORKFLOW]: ({ erasure_id }) => erasureWorkflowId(erasure_id),
  [RECEIVER_CHECK_WORKFLOW]: ({ check_id }) => receiverCheckWorkflowId(check_id),
};

/** Input of the workflow of a recovery of webhooks. */
export interface WebhookRecoveryInput {
  recovery_id: string;
}

/** Input of the workflow of an erasure: enough to write its row again after a restore (rules 29.6). */
export interface ErasureInput {
  erasure_id: string;
  project_id: string;
  /** The customer without its data, as in the table `erasures`. */
  subject: string;
}

/** Input of a receiver check's workflow. */
export interface ReceiverCheckInput {
  check_id: string;
}

/** Input of an incident's workflow. */
export interface IncidentInput {
  incident_id: string;
}

/** Input of advanceClockUpdate. */
export interface AdvanceClockInput {
  /** Identical in every repeat of the request. */
  request_id: string;
  advance: ClockAdvance;
  /** The versions of the object that the header If-Match allows; absent: any (rules 11.9). */
  versions?: readonly number[] | undefined;
}

/** Input of a follow-up order's workflow. Absent fields are taken from the payment order. */
export interface FollowUpInput extends Omit<NewFollowUp, 'transaction_id' | 'now'> {
  project_id: string;
  /** Only for a chargeback or a won chargeback: the processor's key of the operation. */
  processor_key?: string | undefined;
  /** Only for a possible late approval: time before the poll, unless one is requested earlier. Milliseconds. */
  poll_after_ms?: number | undefined;
  /**
   * How far the clock of its payment order is ahead of real time, in milliseconds; absent: 0. A value above 0 makes the
   * workflow read the offset from the record (rules 23.11).
   */
  clock_offset_ms?: number | undefined;
  /** Only when continued as a new run: the number of scheduled polls so far. */
  polls?: number | undefined;
  /** Only when continued as a new run: a poll is requested now. */
  poll_requested?: boolean | undefined;
}

/** Input of a follow-up order's workflow that a merchant requested. */
export type RequestedFollowUpInput = FollowUpInput & { request: AcceptedRequest };

/** A capture or void as the payment's workflow receives it. */
export type CaptureOrVoidInput = RequestedFollowUpInput & { kind: 'capture' | 'void' };

/** The type of the failure of an activity whose record does not exist any more (rules 10.19). */
export const RECORD_MISSING = 'RecordMissing';

/** The type of the failure of a local activity that has to run as a task of its own (rules 10.20). */
export const NO_FREE_SLOT = 'NoFreeSlot';

/** Added to the arguments of a local activity that runs again after a timer of the workflow. */
export interface LocalRetry {
  /** How long ago it was first scheduled, in milliseconds. */
  waited_ms: number;
}

/** Input of an order's workflow. */
export interface OrderInput {
  order_id: string;
  /** Only when continued as a new run: state that the record does not hold. */
  resumed?:
    | {
        /** The number of scheduled polls so far. */
        polls: number;
        poll_requested: boolean;
      }
    | undefined;
}

/** A transaction as a merchant or customer requests it; with `vault_token` in its details it is charged at once. */
export interface TransactionInput extends NewTransaction {
  /** Time for paying it, in milliseconds; it ends with its order at the latest. */
  period: number;
}

/** Input of createOrderUpdate. */
export interface CreateOrderInput {
  request: AcceptedRequest;
  order: NewOrder;
  /** Milliseconds from the creation to the order's end. */
  period: number;
  is_test: boolean;
  transaction?: TransactionInput | undefined;
  /**
   * The payment link that the order pays; its expires_at in epoch milliseconds, its clock as in PaymentLinkSnapshot.
   */
  payment_link?: { id: string; expires_at: number; clock_offset_ms: number } | undefined;
}

/** Input of submitPaymentUpdate: one payment attempt. */
export interface SubmitPaymentInput {
  request: AcceptedRequest;
  project_id: string;
  is_test: boolean;
  transaction: TransactionInput & { payment_method_details: PaymentMethodDetails };
}

/** Input of cancelOrderUpdate. */
export interface CancelOrderInput {
  source: 'customer' | 'merchant';
  request: AcceptedRequest;
}

/** Input of setOutcomeUpdate. */
export interface SetOutcomeInput extends ManualOutcome {
  /**
   * The operator's name for the audit trail: set by the codec server or the command line, never by the operator (rules
   * 24.9).
   */
  operator: string;
  /** The transaction whose outcome is set: a message about one transaction never applies to another. */
  transaction_id: string;
  /** Only from the command line, whose client holds the payload keys. */
  command_line?: { request_id: string } | undefined;
}

/** Input of a payment link's workflow; all else is in the record. */
export interface PaymentLinkInput {
  payment_link_id: string;
  /** Only when continued as a new run. */
  continued?: true | undefined;
}

/** Input of createPaymentLinkUpdate. */
export interface CreatePaymentLinkInput {
  request: AcceptedRequest;
  payment_link: NewPaymentLink;
  /** Milliseconds from the creation to expires_at. */
  period: number;
}

/**
 * Every update with an input has its check in inputs.ts. Signals carry no input: they only request a new read of the
 * record or a poll.
 */

/** Completes once the order is written and, with a card token, the charge has its first answer. */
export const createOrderUpdate = defineUpdate<void, [CreateOrderInput]>('createOrder');
/** Charges one attempt. A repeated submission joins the first. */
export const submitPaymentUpdate = defineUpdate<void, [SubmitPaymentInput]>('submitPayment');
/** Cancels an unpaid order. Refused with CanNotCancelTransaction, PreconditionFailed or ServiceUnavailable. */
export const cancelOrderUpdate = defineUpdate<void, [CancelOrderInput]>('cancelOrder');
/** Sets the amount of a capture or void aside and starts its workflow; completes once its order is written. */
export const captureOrVoidUpdate = defineUpdate<void, [CaptureOrVoidInput]>('captureOrVoid');
/** Completes when the follow-up order has its first outcome: done, refused or unknown. */
export const firstAnswerUpdate = defineUpdate<void, []>('firstAnswer');
/** Polls the processor now, for an operator. Returns in words what the order waits for afterwards. */
export const pollNowUpdate = defineUpdate<string>('pollNow');
/**
 * An operator sets an outcome that the processor will never give (rules 10.14). Refused with Conflict or
 * ValidationError.
 */
export const setOutcomeUpdate = defineUpdate<string, [SetOutcomeInput]>('setOutcome');
/**
 * The record is newer than the workflow's copy: a capture or void has its outcome, a webhook was paused, resumed or
 * requested at once, or an update was lost.
 */
export const recordChanged = defineSignal<[]>('recordChanged');
/** The object's clock was advanced (rules 23.4); the offset is in the record. */
export const clockAdvanced = defineSignal<[]>('clockAdvanced');
/**
 * Advances a sandbox clock. Completes when all due actions are done, or after 9.5 seconds, before the request's
 * deadline; remaining actions continue. Advances run one after the other. Refused with ValidationError.
 */
export const advanceClockUpdate = defineUpdate<void, [AdvanceClockInput]>('advanceClock');
/** The processor has an outcome, or the customer returned from the issuer: polls the processor now. */
export const processorAnswered = defineSignal<[]>('processorAnswered');

/** Update id of a creation with an Idempotency-Key: identical in every repeat. */
export const CREATE_UPDATE_ID = 'create';
/**
 * Update id of a creation. Temporal stores the result of an update id, also a refusal whose reason no longer holds. So
 * each request without an Idempotency-Key has its own id; the unique row prevents a second object.
 */
export const createUpdateId = ({ has_idempotency_key, request_id }: AcceptedRequest) =>
  has_idempotency_key ? CREATE_UPDATE_ID : `${CREATE_UPDATE_ID}:${request_id}`;
/**
 * Update id of a submission of the payment form. Each submission has its own; the unique row prevents a second charge.
 */
export const paymentUpdateId = ({ request, transaction }: Pick<SubmitPaymentInput, 'request' | 'transaction'>) =>
  `pay:${transaction.attempt}:${request.request_id}`;

/** Completes once the payment link is written. */
export const createPaymentLinkUpdate = defineUpdate<void, [CreatePaymentLinkInput]>('createPaymentLink');
/** Ends a payment link for its merchant. Refused with Conflict while a payment is in progress, and once it is paid. */
export const endPaymentLinkUpdate = defineUpdate<void, [{ request: AcceptedRequest }]>('endPaymentLink');
