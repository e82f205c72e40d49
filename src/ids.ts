import { v5 as uuidv5, v7 as uuidv7 } from 'uuid';

/** Ids are derived, never rolled: whoever asks for the same thing again asks for it by the same name, and it is done once. */

/**
 * The id of an order: with an Idempotency-Key the same for every repeat, and a secret of the project in it, as whoever has an
 * order's id can open its payment page. `what`: order, capture, void or refund.
 */
export function orderId(what: string, { idempotency_key, id_namespace }: { idempotency_key: string | undefined; id_namespace: string }): string {
  return idempotency_key === undefined ? uuidv7() : uuidv5(`${what}:${idempotency_key}`, id_namespace);
}

/** Attempt n of an order has one name, whoever makes it and however often. */
export function transactionId(order_id: string, attempt: number): string {
  return uuidv5(`transaction:${attempt}`, order_id);
}

/** A payment that was approved after its end is given back once. */
export function reversalOrderId(transaction_id: string): string {
  return uuidv5('reversal', transaction_id);
}

/** What the processor has done of itself is recorded once per key of its own. */
export function processorOrderId(transaction_id: string, processor_key: string): string {
  return uuidv5(`processor:${processor_key}`, transaction_id);
}

/** The nth capture or void that the service makes because the capture window is over. */
export function closingOrderId(transaction_id: string, n: number): string {
  return uuidv5(`closing:${n}`, transaction_id);
}
