import { setTimeout as sleep } from 'node:timers/promises';
import { request, type Dispatcher } from 'undici';
import { createProcessorClient } from '../processor/client';
import { TEST_CARDS } from '../simulator/cards';
import { deliveryWorkflowId, orderWorkflowId, paymentLinkWorkflowId } from '../../workflows/messages';
import { FLOOR_PATH } from './floor-route';
import { floorWorkflowId } from './floor';
import { createApiClient } from './merchant';
import type { WebhookReceiver } from './receiver';
import type { BenchStack } from './stack';

/** One measured kind of work. */
export interface BenchRow {
  name: string;
  /** Measured at every concurrency; the others only at those of a machine that idles and of one that is busy. */
  is_main?: boolean;
  /** The processes that serve it, by the names in the report: what others use meanwhile does not count. */
  processes?: Readonly<Record<string, string>>;
  /** What has to be there before the clock starts: the id of an order, where one is paid that exists already. */
  prepare?: () => Promise<string>;
  /**
   * Does it once, up to its outcome, and answers its ids, separated by a space, the prepared one first. Throws
   * `UnexpectedAnswer` when the answer is not the expected one.
   */
  once(prepared: string | undefined): Promise<string>;
  /** The workflows of one such operation, by its ids. */
  workflows(ids: string): string[];
}

export interface Rows {
  /** The floor on our worker and api first. */
  rows: BenchRow[];
  /** Creates an order that waits for its payment for a week. */
  createOpenOrder: () => Promise<unknown>;
  /** Creates a payment link that is open for a week. */
  createOpenLink: () => Promise<unknown>;
  close: () => Promise<void>;
}

const named = (...names: string[]) => Object.fromEntries(names.map((name) => [name, name]));
const ALL_PROCESSES = named('temporal', 'worker', 'api', 'postgres', 'simulator', 'meilisearch', 'bench');

/** The processes of a row, by the names in the report. */
export const processesOf = ({ processes = ALL_PROCESSES }: BenchRow): Readonly<Record<string, string>> => processes;

/** The rows that have an aim. */
export const CREATE_ORDER = 'create order';
export const PAID_ORDER = 'paid order';
export const PAID_ORDER_WITH_WEBHOOK = 'paid order, webhook delivered';
export const PAGE_PAYMENT = 'payment on the hosted page';
export const LINK_PAYMENT = 'payment through a link';

const CARD = {
  number: TEST_CARDS.approved.number,
  card_expiry: '122034',
  security_code: '123',
  cardholder_name: 'Ada Lovelace',
};
const RETURN_URL = 'https://shop.example/thanks/';
const ORDER = { currency: 'EUR', amount: 1_250 };
const LINK = { ...ORDER, merchant_order_id: 'bench', return_url: RETURN_URL };

/** How often an order or link that is to stay open is requested, and the pause in between in milliseconds. */
const OPEN_TRIES = 10;
const OPEN_PAUSE_MS = 1_000;

/** An answer that a row cannot use. */
class UnexpectedAnswer extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

/** Whether the request came too late on a busy machine: nothing was stored or charged then. */
export const isRefusedAsLate = (error: unknown) => error instanceof UnexpectedAnswer && error.status === 503;

/** A merchant and a customer of a stack. */
function createShop(stack: BenchStack) {
  const { facts, variables } = stack;
  const { agent, send, close } = createApiClient(stack);
  const api_key = facts.test_api_key;

  /** A merchant's request; answers the object, which has the expected status then. */
  async function call(method: 'GET' | 'POST', path: string, expected: string, body?: object): Promise<Answered> {
    const { statusCode: status, body: answer } = await send(method, path, { api_key, body });
    const text = await answer.text();
    const object = JSON.parse(text) as Answered;
    if (status >= 300 || object.status !== expected) {
      throw new UnexpectedAnswer(`${method} ${path} was to answer ${expected}: ${status} ${text}`, status);
    }
    return object;
  }

  const createOrder = (fields: Record<string, unknown>, expected: string) =>
    call('POST', '/v1/orders/', expected, { ...ORDER, ...fields });

  /**
   * A customer: opens the page, sends the form with its token and cookies, and is sent back to the merchant. Returns
   * the id of the order that is paid.
   */
  async function payOnPage(path: string): Promise<string> {
    const page = await send('GET', path);
    const html = await page.body.text();
    const cookie = [page.headers['set-cookie'] ?? []]
      .flat()
      .map((line) => line.split(';', 1)[0])
      .join('; ');
    const form = new URLSearchParams({
      ...CARD,
      token: hidden(html, 'token'),
      attempt: hidden(html, 'attempt'),
    });
    const headers = { cookie, 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await send('POST', path, { headers, body: form.toString() });
    await answer.body.dump();
    const [status, location] = [answer.statusCode, String(answer.headers['location'])];
    if (status !== 303 || !location.startsWith(RETURN_URL)) {
      throw new UnexpectedAnswer(`a payment was to be accepted: ${status}`, status);
    }
    return new URL(location).searchParams.get('order_id')!;
  }

  /** A token of the demo project, as an earlier payment leaves one. */
  async function vaultToken(): Promise<string> {
    const { body } = await send('GET', '/v1/merchants/self/projects/self/', { api_key });
    const { id: project_id } = (await body.json()) as { id: string };
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

  return { agent, call, createOrder, payOnPage, vaultToken, close };
}

/** The floor at an api of this address. */
export function floorRow(name: string, api_url: string, dispatcher: Dispatcher): BenchRow {
  return {
    name,
    async once() {
      const { statusCode, body } = await request(api_url + FLOOR_PATH, { dispatcher, method: 'POST' });
      const text = await body.text();
      if (statusCode !== 200) throw new Error(`the floor answers ${statusCode} ${text}`);
      return (JSON.parse(text) as { id: string }).id;
    },
    workflows: (id) => [floorWorkflowId(id)],
  };
}

/** The rows against a stack. */
export async function createRows(stack: BenchStack, receiver: WebhookReceiver): Promise<Rows> {
  const { agent, call, createOrder, payOnPage, vaultToken, close } = createShop(stack);
  const charge = { payment_method: 'credit-card', payment_method_details: { vault_token: await vaultToken() } };
  const paid = { transactions: [charge] };
  const authorized = { transactions: [{ ...charge, capture_mode: 'manual' }] };
  const createPaidOrder = async () => (await createOrder(paid, 'completed')).id;
  const onOrders = (ids: string) => ids.split(' ').map(orderWorkflowId);
  const read_order = await createPaidOrder();

  const rows: BenchRow[] = [
    {
      ...floorRow('floor, our worker and api', stack.facts.api_url, agent),
      processes: named('temporal', 'worker', 'api', 'bench'),
    },
    {
      name: CREATE_ORDER,
      is_main: true,
      once: async () => (await createOrder({}, 'new')).id,
      workflows: onOrders,
    },
    { name: PAID_ORDER, is_main: true, once: createPaidOrder, workflows: onOrders },
    {
      name: PAID_ORDER_WITH_WEBHOOK,
      is_main: true,
      async once() {
        const { id } = await createOrder({ ...paid, webhook_url: receiver.url }, 'completed');
        await receiver.received(id);
        return id;
      },
      workflows: (id) => [orderWorkflowId(id), deliveryWorkflowId({ order_id: id, n: 1 })],
    },
    {
      name: PAGE_PAYMENT,
      async prepare() {
        const urls = { return_url: RETURN_URL, failure_url: RETURN_URL.replace('thanks', 'sorry') };
        return (await createOrder(urls, 'new')).id;
      },
      once: (id) => payOnPage(`/pay/${id}/`),
      workflows: onOrders,
    },
    {
      // The link's workflow, from the events before the payment on, and the order's.
      name: LINK_PAYMENT,
      async prepare() {
        return (await call('POST', '/v1/paymentlinks/', 'new', LINK)).id;
      },
      once: async (id) => `${id} ${await payOnPage(`/paymentlinks/${id}/`)}`,
      workflows(ids) {
        const [link_id = '', ...order_ids] = ids.split(' ');
        return [paymentLinkWorkflowId(link_id), ...order_ids.map(orderWorkflowId)];
      },
    },
    {
      name: 'authorize, then capture',
      async once() {
        const { id, transactions } = await createOrder(authorized, 'completed');
        const capture = await call(
          'POST',
          `/v1/orders/${id}/transactions/${transactions[0]?.id}/captures/`,
          'completed',
        );
        return `${id} ${capture.id}`;
      },
      workflows: onOrders,
    },
    {
      name: 'refund',
      prepare: createPaidOrder,
      async once(id) {
        const refund = await call('POST', `/v1/orders/${id}/refunds/`, 'completed', { amount: ORDER.amount });
        return `${id} ${refund.id}`;
      },
      workflows: onOrders,
    },
    {
      name: 'retrieve an order',
      processes: named('api', 'postgres', 'bench'),
      once: async () => (await call('GET', `/v1/orders/${read_order}/`, 'completed')).id,
      workflows: () => [],
    },
  ];
  const open = { expiration_period: 'P7D' };
  return {
    rows,
    createOpenOrder: () => untilOpen(() => createOrder(open, 'new')),
    createOpenLink: () => untilOpen(() => call('POST', '/v1/paymentlinks/', 'new', { ...LINK, ...open })),
    close,
  };
}

/**
 * Of many thousands of requests a few may be too slow, while another program uses the machine: nothing was stored then.
 */
async function untilOpen(create: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await create();
      return;
    } catch (error) {
      if (!isRefusedAsLate(error) || tries === OPEN_TRIES) throw error;
      await sleep(OPEN_PAUSE_MS);
    }
  }
}

/** What the benchmark reads of an order or payment link. */
interface Answered {
  id: string;
  status: string;
  transactions: { id: string }[];
}

function hidden(html: string, name: string): string {
  return new RegExp(`<input type="hidden" name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';
}
