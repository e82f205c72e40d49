import { PageCustomer } from '../../src/cli/page-customer';
import type { Order } from '../../src/client';
export { hidden } from '../../src/cli/page-customer';
import { Merchant, statusesOf } from './merchant';
import { postControl, stack } from './stack';
import { until } from './waits';

/** A customer on the hosted page, in a browser or without one. */

/** An order of the run's test project, or of the one with this key, that waits for its customer. */
export const createPageOrder = async (
  fields: Record<string, unknown> = {},
  api_key = stack().test_api_key,
): Promise<Order & { order_url: string }> => {
  const order = { amount: 2550, description: 'Two tickets', ...fields };
  return (await new Merchant(stack(), api_key).createOrder(order)) as Order & { order_url: string };
};

/** The order of the run's test project as its merchant reads it. */
export const orderAsMerchant = (id: string): Promise<Order> => new Merchant().getOrder(id);
export const readStatuses = async (id: string) => statusesOf(await orderAsMerchant(id));

/** The processor answers now what it keeps open of the order for later. */
export async function makeOrderDue(order_id: string): Promise<void> {
  const transaction_id = (await orderAsMerchant(order_id)).transactions?.at(-1)?.id;
  await postControl(stack(), 'due', { transaction_id });
}

export const CARD = {
  number: '4111111111111111',
  card_expiry: '12 / 34',
  security_code: '123',
  cardholder_name: 'Ada Lovelace',
};

/** The waiting page loads itself again; the one that leads to the issuer does so at once. */
const WAITING = /http-equiv="refresh" content="[1-9]/;

/** A customer without a browser, on the run's stack or at another address. */
export class Client extends PageCustomer {
  constructor(base: string = stack().api_url) {
    super(base);
  }

  /**
   * Submits the form of a payment and answers what follows its outcome. While a busy machine has not heard the outcome,
   * the form is submitted again, which joins the payment (rules 10.6).
   */
  async payWithForm(...submission: Parameters<PageCustomer['postForm']>): Promise<Response> {
    return await until('the outcome is known', async () => {
      const answer = await this.postForm(...submission);
      const is_waiting = answer.status === 503 || WAITING.test(await answer.clone().text());
      return !is_waiting && answer;
    });
  }
}
