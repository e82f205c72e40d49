import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { DeliveryId } from '../src/domain/delivery';
import type { DeliveryStatus } from '../src/domain/transitions';
import type { NewFollowUp } from '../src/domain/follow-up';
import type { NewOrder, NewTransaction, PaymentMethodDetails } from '../src/domain/new-order';
import { ATTENTION, ORDER_STATUS, PROJECT_ID, RELATED_ORDER_ID } from './search-attributes';

/** Ids, inputs, updates, signals and search attributes of the workflows: all that the API and activities may know of them. */
export { ATTENTION, ORDER_STATUS, PROJECT_ID, RELATED_ORDER_ID };

/** Where orders and follow-up orders run. */
export const TASK_QUEUE = 'payments';
/** Where webhooks run, apart from the money: a receiver that does not answer holds a slot for seconds. */
export const WEBHOOK_TASK_QUEUE = 'webhooks';

/** Of an order, whatever its kind. */
export const orderWorkflowId = (order_id: string) => `order:${order_id}`;
/** Of the webhook that tells of an order's n-th status change. */
export const deliveryWorkflowId = ({ order_id, n }: DeliveryId) => `webhook:${order_id}:${n}`;

/** The names under which the worker registers the workflows, and what they take. */
export const ORDER_WORKFLOW = 'order';
export type OrderWorkflow = (input: OrderInput) => Promise<string>;
export const FOLLOW_UP_WORKFLOW = 'followUp';
export type FollowUpWorkflow = (input: FollowUpInput) => Promise<string>;
export const DELIVERY_WORKFLOW = 'webhookDelivery';
export type DeliveryWorkflow = (id: DeliveryId) => Promise<DeliveryStatus>;

/**
 * A follow-up order as its workflow carries it out. What the processor has done already names the key it did it under; what
 * is absent is the original's.
 */
export interface FollowUpInput extends Omit<NewFollowUp, 'id' | 'transaction_id' | 'now'> {
  order_id: string;
  project_id: string;
  /** Only of a chargeback, or of one that was won back. */
  processor_key?: string | undefined;
  /** Only of a late approval: nobody has told of one yet, so the processor is asked after this long. Milliseconds. */
  ask_after_ms?: number | undefined;
  /** Only of one that goes on as a new run: how often the processor was asked. */
  asked?: number | undefined;
}

/** How an order's workflow is started, and found by operators. */
export function orderStart({ order_id, project_id }: { order_id: string; project_id: string }) {
  return {
    workflowId: orderWorkflowId(order_id),
    taskQueue: TASK_QUEUE,
    args: [{ order_id }] as [OrderInput],
    typedSearchAttributes: [
      { key: ORDER_STATUS, value: 'new' },
      { key: PROJECT_ID, value: project_id },
    ],
    staticSummary: `Order of project ${project_id}`,
  };
}

/** How a webhook's workflow is started, whoever starts it: operators find it by its order. */
export function deliveryStart(id: DeliveryId) {
  return {
    workflowId: deliveryWorkflowId(id),
    taskQueue: WEBHOOK_TASK_QUEUE,
    args: [id] as [DeliveryId],
    typedSearchAttributes: [{ key: RELATED_ORDER_ID, value: id.order_id }],
    staticSummary: `Webhook ${id.n} of order ${id.order_id}`,
  };
}

/** How a follow-up order's workflow is started, whoever starts it: operators find it by its payment. */
export function followUpStart(input: FollowUpInput) {
  return {
    workflowId: orderWorkflowId(input.order_id),
    taskQueue: TASK_QUEUE,
    args: [input] as [FollowUpInput],
    typedSearchAttributes: [
      { key: ORDER_STATUS, value: 'new' },
      { key: PROJECT_ID, value: input.project_id },
      { key: RELATED_ORDER_ID, value: input.original_order_id },
    ],
    staticSummary: `${input.kind} of ${orderWorkflowId(input.original_order_id)}`,
  };
}

/** A capture or void as the merchant asks its order for it. */
export type CaptureOrVoidInput = FollowUpInput & { kind: 'capture' | 'void' };

export interface OrderInput {
  order_id: string;
  /** Only of an order that goes on as a new run: what it knows beyond the record. */
  resumed?: { asked: number; toldToAsk: boolean; unsettled: string | undefined; mayHaveCharged: boolean } | undefined;
}

/** A transaction as a merchant or customer asks for it; with `vault_token` in its details it is charged at once. */
export interface TransactionInput extends NewTransaction {
  /** Time for paying it, in milliseconds; it never outlives its order. */
  period: number;
}

export interface CreateOrderInput {
  order: NewOrder;
  /** Milliseconds from the creation to the order's end. */
  period: number;
  is_test: boolean;
  transaction?: TransactionInput | undefined;
  /** Whether the transaction is charged at once: it came with a card token. */
  charge: boolean;
  /** Epoch milliseconds after which a row that is not there yet is not made any more (DECISIONS, HTTP surface 10). */
  not_after?: number | undefined;
}

export interface SubmitPaymentInput {
  project_id: string;
  is_test: boolean;
  transaction: TransactionInput & { payment_method_details: PaymentMethodDetails };
  not_after?: number | undefined;
}

export interface CancelOrderInput {
  source: 'customer' | 'merchant';
  /** The versions of the order that the sender allows; absent: any. */
  versions?: number[] | undefined;
}

/** Writes the order and answers once it is there and, when it came with a card token, the first answer to the charge is. */
export const createOrder = defineUpdate<void, [CreateOrderInput]>('createOrder');
/** Charges one attempt; the update id `pay:<attempt>` makes a second click the same payment. */
export const submitPayment = defineUpdate<void, [SubmitPaymentInput]>('submitPayment');
export const cancelOrder = defineUpdate<void, [CancelOrderInput]>('cancelOrder');
/** Sets aside what a capture or void is to move, and starts its workflow; answers once its order is there. */
export const captureOrVoid = defineUpdate<void, [CaptureOrVoidInput]>('captureOrVoid');
/** Answers a follow-up order's first answer of the processor: it is carried out, refused, or its outcome is awaited. */
export const firstAnswer = defineUpdate<void, []>('firstAnswer');
/** The record knows more than the workflow: a capture or void has its outcome, or a server has lost what it was told. */
export const recordChanged = defineSignal<[]>('recordChanged');
/** The processor told an outcome, or the customer came back from the issuer: ask now instead of later. */
export const processorAnswered = defineSignal<[]>('processorAnswered');

/**
 * How a follow-up order's workflow is told that there is news, and started unless it runs: one that waits asks now, one that found
 * nothing to do leaves room for news that come later, one that did it does nothing again.
 */
export function followUpNews(input: FollowUpInput) {
  return { ...followUpStart(input), workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const, signal: processorAnswered, signalArgs: [] as [] };
}

export const paymentUpdateId = (attempt: number) => `pay:${attempt}`;
export const CREATE_UPDATE_ID = 'create';
