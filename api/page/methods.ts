import type { OrderView } from '../../src/db/order-view';

export const CREDIT_CARD = 'credit-card';

/**
 * Whether the order can be paid by card here: by the method its merchant chose with a transaction, else by one of those
 * the order names and the project has active (specification, Order, payment_methods).
 */
export function paysByCard(order: Pick<OrderView, 'payment_methods' | 'project_payment_methods' | 'transactions'>): boolean {
  const [first] = order.transactions;
  const wanted = first === undefined ? (order.payment_methods ?? order.project_payment_methods) : [first.payment_method];
  return wanted.includes(CREDIT_CARD) && order.project_payment_methods.includes(CREDIT_CARD);
}
