import type { ErrorAnswer } from '../../src/contract/error';
import type { Order } from '../../src/contract/order';
import type { Webhook } from '../../src/contract/webhook';
import { createProcessor } from '../../src/processor/client';
import type { LedgerEntry } from '../../src/processor/wire';
import type { Fault } from '../../src/simulator/faults';
import { CARDS, type CardName } from './cards';
import { stack, type RunningStack } from './stack';
import { until } from './until';

export interface Answer<Body = unknown> {
  status: number;
  headers: Headers;
  body: Body;
}

export interface Request {
  body?: unknown;
  headers?: Record<string, string>;
}

/** A merchant: the API over HTTP with the key of one project, and what a test may look at beside it. */
export class Merchant {
  constructor(
    readonly place: RunningStack = stack(),
    readonly api_key: string = place.test_api_key,
  ) {}

  /** The answer as it came; refusals are answers. */
  async send<Body = unknown>(method: string, path: string, { body, headers = {} }: Request = {}): Promise<Answer<Body>> {
    const authorization = `Basic ${Buffer.from(`${this.api_key}:`).toString('base64')}`;
    const response = await fetch(this.place.api_url + path, {
      method,
      redirect: 'manual',
      headers: { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
  }

  /** Throws when it is refused. */
  async createOrder(fields: Record<string, unknown> = {}): Promise<Order> {
    return accepted(await this.send('POST', '/v1/orders/', { body: { currency: 'EUR', amount: 1_250, ...fields } }));
  }

  /** Creates an order that is charged at once with a test card. */
  async paidOrder(card: CardName, fields: Record<string, unknown> = {}): Promise<Order> {
    return await this.createOrder({ ...fields, transactions: [await this.cardTransaction(card)] });
  }

  async getOrder(id: string): Promise<Order> {
    return accepted(await this.send('GET', `/v1/orders/${id}/`));
  }

  async cancelOrder(id: string): Promise<Order> {
    return accepted(await this.send('DELETE', `/v1/orders/${id}/`));
  }

  /** The order once it has the status. */
  async untilStatus(id: string, status: Order['status'], within_ms?: number): Promise<Order> {
    return await until(`order ${id} is ${status}`, async () => {
      const order = await this.getOrder(id);
      return order.status === status && order;
    }, within_ms);
  }

  async cardTransaction(card: CardName): Promise<{ payment_method: string; payment_method_details: { vault_token: string } }> {
    return { payment_method: 'credit-card', payment_method_details: { vault_token: await this.vaultToken(CARDS[card].number) } };
  }

  /** A token of the card in this project, as an earlier payment on the hosted page leaves one. */
  async vaultToken(number: string): Promise<string> {
    const { body: project } = await this.send<{ id: string; is_test: boolean }>('GET', '/v1/merchants/self/projects/self/');
    const processor = createProcessor({ url: this.place.simulator_url, key: this.place.processor_key, timeout_ms: 5_000 });
    try {
      const card = await processor.vaultCard({ project_id: project.id, is_test: project.is_test, number, card_expiry: '122034', security_code: '123', cardholder_name: 'Ada Lovelace' });
      if (!card.usable) throw new Error(card.reason);
      return card.vault_token;
    } finally {
      await processor.close();
    }
  }

  /** Everything the processor did for the order, or for anybody. */
  async ledger(order_id?: string): Promise<LedgerEntry[]> {
    const response = await fetch(`${this.place.simulator_url}/ledger/?limit=10000${order_id === undefined ? '' : `&order_id=${order_id}`}`);
    return (await response.json()) as LedgerEntry[];
  }

  /** Trouble at the processor; answers a promise that resolves once all of its `times` have hit. */
  async trouble(fault: Fault): Promise<{ hit: Promise<void> }> {
    const faults = `${this.place.simulator_url}/control/faults/`;
    await fetch(faults, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(fault) });
    const isOver = async () => {
      const left = (await (await fetch(faults)).json()) as Fault[];
      return !left.some((one) => one.vault_token === fault.vault_token && one.order_id === fault.order_id);
    };
    return { hit: until(`the processor's trouble hits: ${fault.kind}`, async () => await isOver()).then(() => undefined) };
  }
}

/** The body of a 2xx; throws with what was said otherwise. */
function accepted({ status, body }: Answer): Order {
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body as Order;
}

/** Statuses of the order and its transactions, as `completed: error accepted`. */
export function story({ status, transactions = [] }: Order): string {
  return [`${status}:`, ...transactions.map((transaction) => transaction.status)].join(' ');
}

export type Refusal = ErrorAnswer['error'];
export const webhookOf = (body: string) => JSON.parse(body) as Webhook;
