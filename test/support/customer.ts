import type { Order } from '../../src/client';
import { Merchant, statusesOf } from './merchant';
import { postControl, stack } from './stack';

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
export const readOrder = (id: string): Promise<Order> => new Merchant().getOrder(id);
export const readStatuses = async (id: string) => statusesOf(await readOrder(id));

/** The processor answers now what it keeps open of the order for later. */
export async function makeOrderDue(order_id: string): Promise<void> {
  const transaction_id = (await readOrder(order_id)).transactions?.at(-1)?.id;
  await postControl(stack(), 'due', { transaction_id });
}

export const CARD = {
  number: '4111111111111111',
  card_expiry: '12 / 34',
  security_code: '123',
  cardholder_name: 'Ada Lovelace',
};

/** A customer without a browser: fetch with cookies, redirects not followed. */
export class Client {
  /** By name and path, as browsers keep them. */
  private cookies = new Map<string, { name: string; path: string; value: string }>();

  constructor(private readonly base: string = stack().api_url) {}

  async send(path: string, init: RequestInit = {}): Promise<Response> {
    const cookie = [...this.cookies.values()]
      .filter((one) => path.toLowerCase().startsWith(one.path))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
    const headers = { ...(cookie === '' ? {} : { cookie }), ...(init.headers as Record<string, string>) };
    const response = await fetch(new URL(path, this.base), { redirect: 'manual', ...init, headers });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value, at] = /^([^=]+)=([^;]*); Path=([^;]+)/.exec(line) ?? [];
      if (name !== undefined && value !== undefined && at !== undefined) {
        this.cookies.set(`${name} ${at}`, { name, value, path: at });
      }
    }
    return response;
  }

  async postForm(
    path: string,
    fields: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return await this.send(path, { method: 'POST', body: new URLSearchParams(fields), headers });
  }

  /** Opens the page of an order, or the page at `path`, and answers the hidden fields that each of its forms has. */
  async openPage({ id }: { id: string }, path = `/pay/${id}/`): Promise<{ token: string; attempt: string }> {
    const html = await (await this.send(path)).text();
    return { token: hidden(html, 'token'), attempt: hidden(html, 'attempt') };
  }
}

export function hidden(html: string, name: string): string {
  return new RegExp(`<input type="hidden" name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';
}
