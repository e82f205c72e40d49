import type { SearchAttributePair } from '@temporalio/common';
import type { Database } from '../db/query';
import { findFollowUps } from '../db/orders/follow-ups';
import { findStoredOrder, type StoredOrder } from '../db/orders/stored-order';
import { findStoredPaymentLink, type StoredPaymentLink } from '../db/payment-links';
import type { DeliveryKey } from '../domain/delivery';
import type { StartedClock } from '../domain/sandbox-clock';
import { ORDER_MOVES, PAYMENT_LINK_MOVES, isFinal } from '../domain/transitions';
import type { LabelsOf } from '../metrics/catalogue';
import {
  DELIVERY_WORKFLOW,
  FOLLOW_UP_WORKFLOW,
  ORDER_STATUS,
  ORDER_WORKFLOW,
  PAYMENT_LINK_STATUS,
  PAYMENT_LINK_WORKFLOW,
  INCIDENT_WORKFLOW,
  PROJECT_ID,
  RECEIVER_CHECK_WORKFLOW,
  RELATED_ORDER_ID,
  SANDBOX_CLOCK_TASK_QUEUE,
  SANDBOX_CLOCK_WORKFLOW,
  TASK_QUEUE,
  ERASURE_WORKFLOW,
  WEBHOOK_RECOVERY_WORKFLOW,
  WEBHOOK_TASK_QUEUE,
  WORKFLOW_IDS,
  orderWorkflowId,
  paymentLinkWorkflowId,
  type FollowUpInput,
  type IncidentInput,
  type ErasureInput,
  type WebhookRecoveryInput,
  type ReceiverCheckInput,
  type StartInputs,
} from '../../workflows/messages';

/** How the workflow of an object is started. `Started` holds the fields of the object that this needs. */
export interface Kind<Started> {
  /** The name of the workflow. */
  readonly type: keyof StartInputs;
  /** Its start options without the id; operators find it by its search attributes. */
  readonly start: (object: Started) => {
    taskQueue: string;
    /** Milliseconds; Temporal's default is ten seconds. */
    workflowTaskTimeout?: number;
    args: [StartInputs[keyof StartInputs]];
    typedSearchAttributes: SearchAttributePair[];
    staticSummary: string;
    /** Temporal dispatches tasks round-robin by project: hundreds of one project do not delay another's. */
    priority?: { fairnessKey: string };
  };
}

/** The options with which the workflow of an object starts. */
export function startOptions<Started>({ type, start }: Kind<Started>, object: Started) {
  const options = start(object);
  return { ...options, workflowId: WORKFLOW_IDS[type](options.args[0] as never) };
}

/** A kind of object that can be read from the record. */
export interface ReadableKind<Stored> {
  /** The object as errors name it. */
  readonly noun: string;
  /** As metrics name it. */
  readonly metric_label: LabelsOf<'payments_temporal_updates_total'>['object'];
  readonly find: (db: Database, id: string) => Promise<Stored | undefined>;
}

/** An object whose workflow receives updates, and can be lost. */
export interface RecordedKind<Started, Stored> extends Kind<Started>, ReadableKind<Stored> {
  readonly workflowId: (id: string) => string;
  /** Whether the object can no longer change, so that its workflow is closed. */
  readonly isFinal: (view: Stored) => boolean;
  /** The fields with which a lost workflow restarts. */
  readonly startedOf: (view: Stored, db: Database) => Started | Promise<Started>;
}

/** An order whose workflow is started. */
export interface StartedOrder {
  order_id: string;
  project_id: string;
}

export type StartedLink = Pick<StoredPaymentLink, 'id' | 'project_id'>;

/** A recovery of webhooks whose workflow is started. */
export type StartedWebhookRecovery = WebhookRecoveryInput & { project_id: string };

export type StartedDelivery = DeliveryKey & { project_id: string };

/** A receiver check whose workflow is started. */
export type StartedCheck = ReceiverCheckInput & { project_id: string };

interface Kinds {
  order: RecordedKind<StartedOrder, StoredOrder>;
  follow_up: RecordedKind<FollowUpInput, StoredOrder>;
  payment_link: RecordedKind<StartedLink, StoredPaymentLink>;
  delivery: Kind<StartedDelivery>;
  sandbox_clock: Kind<StartedClock>;
  incident: Kind<IncidentInput>;
  webhook_recovery: Kind<StartedWebhookRecovery>;
  erasure: Kind<ErasureInput>;
  receiver_check: Kind<StartedCheck>;
}

/**
 * Temporal gives a workflow task to another worker after this time, if the first was killed, or stopped just when it got
 * the task (rules 24.25). After Temporal's default of ten seconds a request that waits would be too late to begin
 * anything. A charge that takes longer than four fifths of it prolongs its task, which writes three more events.
 * Milliseconds.
 */
const LOST_TASK_MS = 6_000;

const AN_ORDER = {
  noun: 'Order',
  metric_label: 'order' as const,
  workflowId: orderWorkflowId,
  find: findStoredOrder,
  isFinal: ({ status }: StoredOrder) => isFinal(ORDER_MOVES, status),
};

/** The kinds of objects that have a workflow, each with its own start options. */
export const KINDS: Kinds = {
  order: {
    ...AN_ORDER,
    type: ORDER_WORKFLOW,
    start: ({ order_id, project_id }) => ({
      taskQueue: TASK_QUEUE,
      workflowTaskTimeout: LOST_TASK_MS,
      args: [{ order_id }],
      typedSearchAttributes: [
        { key: ORDER_STATUS, value: 'new' },
        { key: PROJECT_ID, value: project_id },
      ],
      staticSummary: `Order of project ${project_id}`,
    }),
    startedOf: ({ id: order_id, project_id }) => ({ order_id, project_id }),
  },
  follow_up: {
    ...AN_ORDER,
    type: FOLLOW_UP_WORKFLOW,
    start: (input) => ({
      taskQueue: TASK_QUEUE,
      workflowTaskTimeout: LOST_TASK_MS,
      args: [input],
      typedSearchAttributes: [
        { key: ORDER_STATUS, value: 'new' },
        { key: PROJECT_ID, value: input.project_id },
        { key: RELATED_ORDER_ID, value: input.original_order_id },
      ],
      staticSummary: `${input.kind} of ${orderWorkflowId(input.original_order_id)}`,
    }),
    startedOf: async ({ id }, db) => (await findFollowUps(db, [id]))[0]!,
  },
  payment_link: {
    noun: 'Payment link',
    metric_label: 'payment_link',
    workflowId: paymentLinkWorkflowId,
    find: findStoredPaymentLink,
    isFinal: ({ status }) => isFinal(PAYMENT_LINK_MOVES, status),
    type: PAYMENT_LINK_WORKFLOW,
    start: ({ id, project_id }) => ({
      taskQueue: TASK_QUEUE,
      workflowTaskTimeout: LOST_TASK_MS,
      args: [{ payment_link_id: id }],
      typedSearchAttributes: [
        { key: PAYMENT_LINK_STATUS, value: 'new' },
        { key: PROJECT_ID, value: project_id },
      ],
      staticSummary: `Payment link of project ${project_id}`,
    }),
    startedOf: (link) => link,
  },
  delivery: {
    type: DELIVERY_WORKFLOW,
    start: ({ order_id, n, project_id }) => ({
      taskQueue: WEBHOOK_TASK_QUEUE,
      args: [{ order_id, n }],
      priority: { fairnessKey: project_id },
      typedSearchAttributes: [
        { key: PROJECT_ID, value: project_id },
        { key: RELATED_ORDER_ID, value: order_id },
      ],
      staticSummary: `Webhook ${n} of order ${order_id}`,
    }),
  },
  sandbox_clock: {
    type: SANDBOX_CLOCK_WORKFLOW,
    start: ({ clock_id, project_id }) => ({
      taskQueue: SANDBOX_CLOCK_TASK_QUEUE,
      args: [{ clock_id, project_id }],
      priority: { fairnessKey: project_id },
      typedSearchAttributes: [{ key: PROJECT_ID, value: project_id }],
      staticSummary: `Sandbox clock of ${clock_id}`,
    }),
  },
  incident: {
    type: INCIDENT_WORKFLOW,
    start: ({ incident_id }) => ({
      taskQueue: TASK_QUEUE,
      args: [{ incident_id }],
      typedSearchAttributes: [],
      staticSummary: `Incident ${incident_id}: the record and the processor differ`,
    }),
  },
  webhook_recovery: {
    type: WEBHOOK_RECOVERY_WORKFLOW,
    start: ({ recovery_id, project_id }) => ({
      taskQueue: TASK_QUEUE,
      args: [{ recovery_id }],
      typedSearchAttributes: [{ key: PROJECT_ID, value: project_id }],
      staticSummary: `Recovery of the webhooks of project ${project_id}`,
    }),
  },
  erasure: {
    type: ERASURE_WORKFLOW,
    start: ({ erasure_id, project_id, subject }) => ({
      taskQueue: TASK_QUEUE,
      args: [{ erasure_id, project_id, subject }],
      typedSearchAttributes: [{ key: PROJECT_ID, value: project_id }],
      staticSummary: `Erasure of a customer of project ${project_id}`,
    }),
  },
  receiver_check: {
    type: RECEIVER_CHECK_WORKFLOW,
    start: ({ check_id, project_id }) => ({
      taskQueue: WEBHOOK_TASK_QUEUE,
      args: [{ check_id }],
      priority: { fairnessKey: project_id },
      typedSearchAttributes: [{ key: PROJECT_ID, value: project_id }],
      staticSummary: `Receiver check of project ${project_id}`,
    }),
  },
};
