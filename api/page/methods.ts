import type { OrderView } from '../../src/db/order-view';
import { WALLETS, type Wallet } from '../../src/processor/wire';

/** The payment method of the card form. */
export const CREDIT_CARD = 'credit-card';

/** Every method the page can take, in the order it shows them: those that take one click come first. */
const PAGE_METHODS = [...WALLETS, CREDIT_CARD] as const;
export type PageMethod = (typeof PAGE_METHODS)[number];

/**
 * The methods an order can be paid with here: the one its merchant announced with a transaction, else those the order names
 * (rules 5.10), if the project has them active. An empty list counts as none: such an order could not be
 * paid. What a customer tried before does not matter.
 */
export function methodsOf(
  order: Pick<OrderView, 'payment_methods' | 'project_payment_methods' | 'transactions'>,
): PageMethod[] {
  const announced = announcedMethod(order);
  const named = order.payment_methods?.length ? order.payment_methods : order.project_payment_methods;
  const wanted = announced === undefined ? named : [announced];
  return PAGE_METHODS.filter((method) => wanted.includes(method) && order.project_payment_methods.includes(method));
}

/** Whether a method is one of the wallets. */
export function isWallet(method: string): method is Wallet {
  return WALLETS.some((wallet) => wallet === method);
}

/** The first event of a transaction shows who made it: the merchant with the order, or the customer with a form. */
function announcedMethod({ transactions: [first] }: Pick<OrderView, 'transactions'>): string | undefined {
  return first?.events[0]?.source === 'merchant' ? first.payment_method : undefined;
}
