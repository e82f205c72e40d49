import { Agent, request, type Dispatcher } from 'undici';
import { createProcessorClient } from '../processor/client';
import { TEST_CARDS } from '../simulator/cards';
import { deliveryWorkflowId, orderWorkflowId, paymentLinkWorkflowId } from '../../workflows/messages';
import { FLOOR_PATH } from './floor-route';
import { floorWorkflowId } from './floor';
import type { WebhookReceiver } from './receiver';
import type { BenchStack } from './stack';

/** One measured kind of work. */
export interface BenchRow {
  name: string;
  /** What has to be there before the clock starts: the id of an order, where one is paid that exists already. */
  prepare?: () => Promise<string>;
  /** Does it once, up to its outcome, and answers the id. Throws when the outcome is not the expected one. */
  once(prepared: string | undefined): Promise<string>;
  /** The workflows of one such operation. */
  workflows(id: string): string[];
}

export interface Rows {
  /** The floor first. */
  rows: BenchRow[];
  close: () => Promise<void>;
}

/** The rows that have an aim. */
export const PAID_ORDER = 'paid order';
export const PAID_ORDER_WITH_WEBHOOK = 'paid order, webhook delivered';

const CARD = {
  number: TEST_CARDS.approved.number,
  card_expiry: '122034',
  security_code: '123',
  cardholder_name: 'Ada Lovelace',
};
const RETURN_URL = 'https://shop.example/thanks/';
const ORDER = { currency: 'EUR', amount: 1_250 };

/** A merchant and a customer of a stack, over kept-alive connections as a merchant's server has them. */
function createShop({ facts, variables }: BenchStack) {
  const agent = new Agent({ keepAliveTimeout: 60_000 });
  const authorization = `Basic ${Buffer.from(`${facts.test_api_key}:`).toString('base64')}`;

  async function send(
    method: 'GET' | 'POST',
    path: string,
    headers: Record<string, string> = {},
    body?: string,
  ): Promise<Reply> {
    const answer = await request(facts.api_url + path, {
      dispatcher: agent,
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
  }

  async function createOrder(fields: Record<string, unknown>, expected: string): Promise<string> {
    const headers = { authorization, 'content-type': 'application/json' };
    const { status, text } = await send('POST', '/v1/orders/', headers, JSON.stringify({ ...ORDER, ...fields }));
    const order = JSON.parse(text) as { id: string; status: string };
    if (status !== 200 || order.status !== expected) {
      throw new Error(`an order was to be ${expected}: ${status} ${text}`);
    }
    return order.id;
  }

  async function createLink(): Promise<string> {
    const headers = { authorization, 'content-type': 'application/json' };
    const link = { ...ORDER, merchant_order_id: 'bench', return_url: RETURN_URL };
    const { text } = await send('POST', '/v1/paymentlinks/', headers, JSON.stringify(link));
    return (JSON.parse(text) as { id: string }).id;
  }

  /**
   * A customer: opens the page, sends the form with its token and cookies, and is sent back to the merchant. Returns
   * the id of the order that is paid.
   */
  async function payOnPage(path: string): Promise<string> {
    const page = await send('GET', path);
    const cookie = [page.headers['set-cookie'] ?? []]
      .flat()
      .map((line) => line.split(';', 1)[0])
      .join('; ');
    const form = new URLSearchParams({
      ...CARD,
      token: hidden(page.text, 'token'),
      attempt: hidden(page.text, 'attempt'),
    });
    const headers = { cookie, 'content-type': 'application/x-www-form-urlencoded' };
    const { status, headers: answered } = await send('POST', path, headers, form.toString());
    const location = String(answered['location']);
    if (status !== 303 || !location.startsWith(RETURN_URL)) {
      throw new Error(`a payment was to be accepted: ${status}`);
    }
    return new URL(location).searchParams.get('order_id')!;
  }

  /** A token of the demo project, as an earlier payment leaves one. */
  async function vaultToken(): Promise<string> {
    const { text } = await send('GET', '/v1/merchants/self/projects/self/', { authorization });
    const { id: project_id } = JSON.parse(text) as { id: string };
    const processor = createProcessorClient({
      url: facts.simulator_url,
      key: variables['PROCESSOR_KEY'] ?? '',
      timeout_ms: 5_000,
    });
    try {
      const card = await processor.vaultCard({ project_id, is_test: true, ...CARD });
      if (!card.usable) throw new Error(card.reason);
      return card.vault_token;
    } finally {
      await processor.close();
    }
  }

  return { send, createOrder, createLink, payOnPage, vaultToken, close: () => agent.destroy() };
}

/** The rows against a stack. */
export async function createRows(stack: BenchStack, receiver: WebhookReceiver): Promise<Rows> {
  const { send, createOrder, createLink, payOnPage, vaultToken, close } = createShop(stack);
  const paid = {
    transactions: [{ payment_method: 'credit-card', payment_method_details: { vault_token: await vaultToken() } }],
  };

  const rows: BenchRow[] = [
    {
      name: 'floor',
      async once() {
        const { status, text } = await send('POST', FLOOR_PATH);
        if (status !== 200) throw new Error(`the floor answers ${status} ${text}`);
        return (JSON.parse(text) as { id: string }).id;
      },
      workflows: (id) => [floorWorkflowId(id)],
    },
    { name: 'create order', once: () => createOrder({}, 'new'), workflows: (id) => [orderWorkflowId(id)] },
    { name: PAID_ORDER, once: () => createOrder(paid, 'completed'), workflows: (id) => [orderWorkflowId(id)] },
    {
      name: PAID_ORDER_WITH_WEBHOOK,
      async once() {
        const id = await createOrder({ ...paid, webhook_url: receiver.url }, 'completed');
        await receiver.received(id);
        return id;
      },
      workflows: (id) => [orderWorkflowId(id), deliveryWorkflowId({ order_id: id, n: 1 })],
    },
    {
      name: 'payment on the hosted page',
      prepare: () => createOrder({ return_url: RETURN_URL, failure_url: RETURN_URL.replace('thanks', 'sorry') }, 'new'),
      once: (id) => payOnPage(`/pay/${id}/`),
      workflows: (id) => [orderWorkflowId(id)],
    },
    {
      // The link's workflow, from the events before the payment on, and the order's.
      name: 'payment through a link',
      prepare: createLink,
      once: async (id) => `${id} ${await payOnPage(`/paymentlinks/${id}/`)}`,
      workflows(ids) {
        const [link_id = '', ...order_ids] = ids.split(' ');
        return [paymentLinkWorkflowId(link_id), ...order_ids.map(orderWorkflowId)];
      },
    },
  ];
  return { rows, close };
}

interface Reply {
  status: number;
  headers: Dispatcher.ResponseData['headers'];
  text: string;
}

function hidden(html: string, name: string): string {
  return new RegExp(`<input type="hidden" name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';
}
