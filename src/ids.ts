import { v5 as uuidv5, v7 as uuidv7 } from 'uuid';

/** Ids are derived, so that a repeat asks for the same id and the work is done once. */

/**
 * The id of what a request creates. With an Idempotency-Key it is the same for every repeat, and derived with a secret
 * of the project, because an order's id gives access to its payment page. `what`: the kind of object, so that one key
 * names one of each.
 */
export function requestedId(
  what: string,
  { idempotency_key, id_namespace }: { idempotency_key: string | undefined; id_namespace: string },
): string {
  return idempotency_key === undefined ? uuidv7() : uuidv5(`${what}:${idempotency_key}`, id_namespace);
}

/** The order of a payment attempt through a link: `attempt` is the payer's cookie and attempt number (rules 19.13). */
export function linkOrderId(payment_link_id: string, attempt: string): string {
  return uuidv5(`attempt:${attempt}`, payment_link_id);
}

/** Attempt n of an order always has the same id, so that no repeat makes another. */
export function transactionId(order_id: string, attempt: number): string {
  return uuidv5(`transaction:${attempt}`, order_id);
}

/** A payment that was approved after its end is reversed once. */
export function reversalOrderId(transaction_id: string): string {
  return uuidv5('reversal', transaction_id);
}

/** The order that records an operation of the processor: one for each key of the processor. */
export function processorOrderId(transaction_id: string, processor_key: string): string {
  return uuidv5(`processor:${processor_key}`, transaction_id);
}

/** The nth order that a receiver check makes for one of its cases. */
export function receiverCheckOrderId(check_id: string, receiver_case: string, n: number): string {
  return uuidv5(`${receiver_case}:${n}`, check_id);
}

/** The nth capture or void that the service makes because the capture window is over. */
export function closingOrderId(transaction_id: string, n: number): string {
  return uuidv5(`closing:${n}`, transaction_id);
}
