import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { NewOrder, NewTransaction, PaymentMethodDetails } from '../src/db/orders';
import type { DeliveryId } from '../src/db/deliveries';

/** Ids, inputs, updates, signals and search attributes of the workflows: all that the API and activities may know of them. */
export { ORDER_STATUS, PROJECT_ID } from './search-attributes';

export const TASK_QUEUE = 'payments';

export const orderWorkflowId = (order_id: string) => `order:${order_id}`;
export const deliveryWorkflowId = ({ order_id, n }: DeliveryId) => `webhook:${order_id}:${n}`;

/** The names under which the worker registers the workflows. */
export const ORDER_WORKFLOW = 'order';
export const DELIVERY_WORKFLOW = 'webhookDelivery';
export const REVERSAL_WORKFLOW = 'reversal';

/** One per payment transaction: it can be given back once. */
export const reversalWorkflowId = (transaction_id: string) => `reversal:${transaction_id}`;

export interface ReversalInput {
  /** The payment transaction that was approved too late. */
  transaction_id: string;
}

export interface OrderInput {
  order_id: string;
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
}

/** Writes the order and answers once it is there and, when it came with a card token, the first answer to the charge is. */
export const createOrder = defineUpdate<void, [CreateOrderInput]>('createOrder');
/** Charges one attempt; the update id `pay:<attempt>` makes a second click the same payment. */
export const submitPayment = defineUpdate<void, [SubmitPaymentInput]>('submitPayment');
export const cancelOrder = defineUpdate<void, [CancelOrderInput]>('cancelOrder');
/** The processor told an outcome, or the customer came back from the issuer: ask now instead of later. */
export const processorAnswered = defineSignal<[]>('processorAnswered');

export const paymentUpdateId = (attempt: number) => `pay:${attempt}`;
export const CREATE_UPDATE_ID = 'create';
