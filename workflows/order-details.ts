import { awaitsOutcome, lastTransaction, paymentEnd, type OrderRecord } from '../src/domain/move';
import { ORDER_MOVES, isFinal } from '../src/domain/transitions';

/** What an operator reads in the Web UI: status, amount, what the order waits for and until when, in words. */
export function describe(order: OrderRecord): string {
  const lines = [`**${order.status}**, ${order.amount} ${order.currency} (minor units)`, inWords(order)];
  for (const { attempt, status } of order.transactions) lines.push(`- attempt ${attempt} of ${order.attempts_max}: ${status}`);
  return lines.join('\n\n');
}

export function inWords(order: OrderRecord): string {
  if (isFinal(ORDER_MOVES, order.status)) return `Nothing is awaited: ${order.status} is final.`;
  const last = lastTransaction(order);
  const until = new Date(paymentEnd(order)).toISOString();
  if (last !== undefined && awaitsOutcome(order)) return `Waits for the processor's outcome of attempt ${last.attempt}; it is asked again and again.`;
  if (last?.status === 'pending') return `Waits for the customer to finish 3-D Secure, until ${until}.`;
  if (last?.status === 'error') return `Waits for the customer to try again, until ${until}.`;
  return `Waits for the customer to pay, until ${until}.`;
}
