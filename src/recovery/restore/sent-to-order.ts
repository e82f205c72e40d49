import {
  cancelOrderUpdate,
  createOrderUpdate,
  setOutcomeUpdate,
  submitPaymentUpdate,
  type CancelOrderInput,
  type CreateOrderInput,
  type SetOutcomeInput,
  type SubmitPaymentInput,
} from '../../../workflows/messages';
import type { Ending } from '../../domain/order';
import type { TransactionSnapshot } from '../../domain/order-snapshot';
import { chargeIdempotencyKey, type EventSource } from '../../domain/transaction';
import { transactionId } from '../../ids';
import type { SentInputs, SentUpdate } from '../../temporal/sent-inputs';
import type { KnownOperations } from './known-operations';

/** An attempt that was approved after its end. `ended`: how its order ended with it; absent: it did not. */
export interface LateAttempt {
  transaction_id: string;
  ended: Ending | undefined;
  source: EventSource;
}

/** How an attempt of the record had ended. `is_last`: no later attempt is known. */
export type KnownEnd = LateAttempt & { is_last: boolean };

/** What was sent to an order and is to be written again. */
export interface SentToOrder {
  creation: CreateOrderInput | undefined;
  cancellation: CancelOrderInput | undefined;
  /** Payments that were submitted on its page, in their order. */
  submitted: readonly SubmitPaymentInput[];
  /** The transaction that its creation charges, if it has a token. */
  by_token: string | undefined;
  /** Outcomes that an operator set, by their transactions. */
  by_hand: ReadonlyMap<string | undefined, SetOutcomeInput>;
  /** How it ended. */
  result: SentInputs['result'];
  /**
   * An attempt that was approved after its end, or given back (rules 10.11): sent again, or polled by its workflow, it
   * would count as paid. `undefined`: it was not.
   */
  lateAttempt: (transaction_id: string | undefined) => LateAttempt | undefined;
  /** How an attempt of the record had ended, if its order, or a later attempt, says that it had. */
  endOf: (attempt: TransactionSnapshot) => KnownEnd | undefined;
}

export function sentToOrder(id: string, { updates, result }: SentInputs, operations: KnownOperations): SentToOrder {
  const sent = updates.filter((update) => update.result === 'done' || wasCharged(id, update, updates, operations));
  const creation = inputIn<CreateOrderInput>(sent, createOrderUpdate.name);
  const cancellation = doneIn<CancelOrderInput>(updates, cancelOrderUpdate.name);
  const submitted = sent
    .filter(({ name }) => name === submitPaymentUpdate.name)
    .map(({ input }) => input as SubmitPaymentInput);
  const by_token = creation?.order.charged_by === 'token' ? transactionId(id, 1) : undefined;
  const by_hand = new Map(
    allDoneIn<SetOutcomeInput>(updates, setOutcomeUpdate.name).map((one): [string | undefined, SetOutcomeInput] => [
      one.transaction_id,
      one,
    ]),
  );
  const attempts = [by_token, ...submitted.map(({ transaction }) => transaction.id)];
  const source = cancellation?.source ?? 'service';
  const ended = result === 'cancelled' || result === 'expired' ? result : undefined;
  const lateAttempt: SentToOrder['lateAttempt'] = (transaction_id) => {
    if (transaction_id === undefined || !attempts.includes(transaction_id)) return undefined;
    const is_last = attempts.at(-1) === transaction_id;
    const had_ended = !is_last || ended !== undefined || result === 'error';
    const charge = operations.since(chargeIdempotencyKey(transaction_id));
    const is_late = operations.wasGivenBack(transaction_id) || (had_ended && charge?.result === 'approved');
    if (!is_late) return undefined;
    return { transaction_id, ended: is_last ? ended : undefined, source };
  };
  const endOf: SentToOrder['endOf'] = ({ id: transaction_id, attempt }) => {
    const is_last = !submitted.some(({ transaction }) => transaction.attempt > attempt);
    if (is_last && ended === undefined && result !== 'error') return undefined;
    return { transaction_id, ended: is_last ? ended : undefined, source, is_last };
  };
  return { creation, cancellation, submitted, by_token, by_hand, result, lateAttempt, endOf };
}

/**
 * The processor has carried out the charge of an update that was not answered, or that was refused when the record
 * had been lost meanwhile. Of several for one attempt, refused ones are repeats.
 */
function wasCharged(
  order_id: string,
  update: SentUpdate,
  updates: readonly SentUpdate[],
  operations: KnownOperations,
): boolean {
  const transaction_id = chargedBy(order_id, update);
  if (transaction_id === undefined) return false;
  if (operations.since(chargeIdempotencyKey(transaction_id)) === undefined) return false;
  if (update.result === 'unanswered') return true;
  const of_attempt = updates.filter(
    (other) => other.name === update.name && chargedBy(order_id, other) === transaction_id,
  );
  return (of_attempt.find(({ result }) => result !== 'refused') ?? of_attempt[0]) === update;
}

/** The transaction that an update may charge. */
function chargedBy(order_id: string, { name, input }: SentUpdate): string | undefined {
  if (name === submitPaymentUpdate.name) return (input as SubmitPaymentInput).transaction.id;
  return name === createOrderUpdate.name ? transactionId(order_id, 1) : undefined;
}

/** The input of the first update of a name. */
export const inputIn = <Input>(updates: readonly SentUpdate[], name: string) =>
  updates.find((update) => update.name === name)?.input as Input | undefined;

const allDoneIn = <Input>(updates: readonly SentUpdate[], name: string) =>
  updates.filter((update) => update.result === 'done' && update.name === name).map(({ input }) => input as Input);

/** The input of the first update of a name that was carried out. */
export const doneIn = <Input>(updates: readonly SentUpdate[], name: string) => allDoneIn<Input>(updates, name)[0];
