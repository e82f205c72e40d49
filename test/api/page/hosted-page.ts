import type { Page } from 'playwright-core';
import type { LedgerEntry, Wallet } from '../../../src/processor/wire';
import { newIdempotencyKey } from '../../support/client';
import { sendUntilAnswered } from '../../support/killing';
import { callSimulator, postControl } from '../../support/simulator';
import { stack } from '../../support/stack';

/** What the tests of the hosted page do as merchant, as customer in a browser, and as customer without one. */

export interface OrderAnswer {
  id: string;
  project_id: string;
  status: string;
  order_url: string;
  flags?: string[];
  transactions?: {
    id: string;
    status: string;
    payment_method: string;
    payment_method_brand?: string;
    payment_url?: string;
    payment_method_details?: Record<string, unknown>;
  }[];
}

const authorization = (api_key: string) => `Basic ${Buffer.from(`${api_key}:`).toString('base64')}`;

export async function createOrder(
  fields: Record<string, unknown> = {},
  api_key = stack().test_api_key,
): Promise<OrderAnswer> {
  const headers = {
    authorization: authorization(api_key),
    'content-type': 'application/json',
    'idempotency-key': newIdempotencyKey(),
  };
  const { status, body } = await sendUntilAnswered<OrderAnswer>(async () => {
    const response = await fetch(`${stack().api_url}/v1/orders/`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ currency: 'EUR', amount: 2550, description: 'Two tickets', ...fields }),
    });
    return { status: response.status, headers: response.headers, data: await response.json() };
  });
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
}

export async function getOrder(id: string): Promise<OrderAnswer> {
  const response = await fetch(`${stack().api_url}/v1/orders/${id}/`, {
    headers: { authorization: authorization(stack().test_api_key) },
  });
  return (await response.json()) as OrderAnswer;
}

/** Statuses of the order and its transactions, as `completed: error accepted`. */
export async function statusesOf(id: string): Promise<string> {
  const { status, transactions = [] } = await getOrder(id);
  return [`${status}:`, ...transactions.map((transaction) => transaction.status)].join(' ');
}

/** Every charge of the order that the processor has done. */
export async function charges(order_id: string): Promise<LedgerEntry[]> {
  const response = await callSimulator(stack(), `/ledger/?order_id=${order_id}`);
  return (await response.json()) as LedgerEntry[];
}

/** What the processor keeps open for later is answered now. */
export async function makeDue(order_id: string): Promise<void> {
  const transaction_id = (await getOrder(order_id)).transactions?.at(-1)?.id;
  await postControl(stack(), 'due', { transaction_id });
}

export const PAY = 'form:has([autocomplete="cc-number"]) button';
export const CANCEL = 'form[action$="/cancel/"] button';

export const walletButton = (wallet: Wallet) => `form:has([name="payment_method"][value="${wallet}"]) button`;

export const CARD = {
  number: '4111111111111111',
  card_expiry: '12 / 34',
  security_code: '123',
  cardholder_name: 'Ada Lovelace',
};

export async function fillIn(page: Page, card: Partial<typeof CARD> = {}): Promise<void> {
  const { number, card_expiry, security_code, cardholder_name } = { ...CARD, ...card };
  await page.fill('[autocomplete="cc-number"]', number);
  await page.fill('[autocomplete="cc-exp"]', card_expiry);
  await page.fill('[autocomplete="cc-csc"]', security_code);
  await page.fill('[autocomplete="cc-name"]', cardholder_name);
}

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
