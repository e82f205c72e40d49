import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../../src/simulator/faults';
import type { OrderRequest } from '../../src/client';
import type { Order } from '../../src/contract/order';
import { CARD, Client, hidden } from '../../test/support/customer';
import { CARDS, type CardName } from '../../test/support/domain';
import { newIdempotencyKey, statusesOf, type Merchant } from '../../test/support/merchant';
import { postControl, type RunningStack } from '../../test/support/stack';
import { WRONG_NOTIFICATIONS, type WrongNotification } from './notifications';

/** A merchant and its customers, who send again what is not answered; each request is recorded. */

/** One HTTP request. Instants are of performance.now(), in milliseconds. */
export interface SentRequest {
  what: string;
  order_id: string | undefined;
  began: number;
  ended: number;
  /** Undefined when the connection broke. */
  status: number | undefined;
  /** The fault of the processor that this request met or could have met. */
  processor_fault: string | undefined;
}

export interface LoadOptions {
  stack: RunningStack;
  seed: number;
  /** Orders, or links, to begin. */
  orders: number;
  per_second: number;
  /** While so many are under way no further one begins: a machine that is too slow would never end any. */
  under_way_max?: number;
  merchants: number;
  /** Address for the webhooks of all merchants. */
  webhook_url: string;
  /** The share of calls to the processor that meet a fault of it, 0 to 1. */
  processor_faults: number;
  /** How long a request is sent again that is not answered. Milliseconds; three minutes by default. */
  patience_ms?: number;
  /** Called when all orders are begun, while their stories go on. */
  onBegun?: () => Promise<void>;
  say?: (line: string) => void;
}

export interface Load {
  requests: SentRequest[];
  /** Faults of the processor that were asked for, and wrong notifications that were sent, by kind. */
  processor_faults: Record<string, number>;
  /** Orders and links that were begun, by story. */
  begun: Record<string, number>;
  /** Ids of all orders that merchants saw. */
  order_ids: string[];
  /** Stories that could not be played to their end, with the reason. */
  unfinished: string[];
}

/** Faults of the processor, each for one call. */
export const PROCESSOR_FAULTS: readonly Pick<Fault, 'kind' | 'milliseconds'>[] = [
  { kind: 'error' },
  { kind: 'latency', milliseconds: 2_000 },
  { kind: 'no_answer', milliseconds: 5_000 },
  { kind: 'outage' },
  { kind: 'lost_answer' },
  { kind: 'garbage' },
];

/** A story gives up a step after this long. Milliseconds. */
const PATIENCE_MS = 180_000;

type Answer = { status: number; body: Order & { error?: unknown } };

/** What a story of the load has: a merchant, its customers, and chances that follow from the seed. */
export class Shop {
  /** Set by a fault of the processor that hits this story. */
  processor_fault: string | undefined;
  private readonly asides: Promise<void>[] = [];

  constructor(
    readonly merchant: Merchant,
    readonly random: () => number,
    readonly amount: number,
    readonly currency: string,
    private readonly load: Load,
    private readonly options: LoadOptions,
  ) {}

  chance(of: number): boolean {
    return this.random() < of;
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.random() * from.length)]!;
  }

  /** Waits for something that is no request of a merchant, such as a token of a card. */
  async eventually<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
    const give_up = performance.now() + PATIENCE_MS;
    for (;;) {
      const answer = await ask().catch((error: unknown) => {
        if (performance.now() > give_up) throw new Error(`${what}: ${String(error)}`);
        return undefined;
      });
      if (answer !== undefined) return answer;
      if (performance.now() > give_up) throw new Error(`${what} never came`);
      await sleep(1_000);
    }
  }

  /** A transaction by card token; its charge may meet a fault of the processor. */
  async cardTransaction(card: CardName, fields: Record<string, unknown> = {}) {
    const vault_token = await this.eventually('a token', () => this.merchant.vaultToken(CARDS[card].number));
    await this.maybeFault({ vault_token, operation: fields['capture_mode'] === undefined ? 'sale' : 'authorize' });
    return { payment_method: 'credit-card', payment_method_details: { vault_token }, ...fields };
  }

  /** Lets the next such call to the processor meet a fault, by chance. */
  async maybeFault(of: Pick<Fault, 'vault_token' | 'order_id' | 'operation'>): Promise<void> {
    if (!this.chance(this.options.processor_faults)) return;
    const fault = { ...of, ...this.pick(PROCESSOR_FAULTS), times: 1 };
    const { stack } = this.options;
    await this.eventually('a fault of the processor', async () => await postControl(stack, 'faults', fault));
    this.processor_fault = fault.kind;
    countUp(this.load.processor_faults, fault.kind);
  }

  /**
   * Sends until it is answered, as a merchant does with an Idempotency-Key; each request is recorded. A refusal is an
   * answer.
   */
  async send(what: string, method: string, path: string, body?: unknown): Promise<Answer> {
    const headers = method === 'GET' ? {} : { 'idempotency-key': newIdempotencyKey() };
    const request = () => this.merchant.send<Order>(method, path, { ...(body === undefined ? {} : { body }), headers });
    return await this.recorded(what, /orders\/([\w-]{36})/.exec(path)?.[1], request, ({ status, body: { id } }) => {
      if (status === 200 && id !== undefined) this.load.order_ids.push(id);
    });
  }

  async createOrder(fields: Partial<OrderRequest> & Record<string, unknown> = {}): Promise<Order> {
    const request = { currency: this.currency, amount: this.amount, description: 'Two tickets', ...fields };
    const order = orderOf(await this.send('create', 'POST', '/v1/orders/', request));
    // What approves an order is sent before it can be paid.
    this.maybeNotify(order.id, fields.transactions === undefined ? ['early', 'forged'] : ['twice', 'late', 'garbage']);
    return order;
  }

  /** Lets the processor notify about the order as it should not, by chance, once `after` has resolved. */
  maybeNotify(order_id: string, ways: readonly WrongNotification[], after: Promise<unknown> = Promise.resolve()): void {
    if (!this.chance(this.options.processor_faults)) return;
    const way = this.pick(ways);
    const notified = after.then(() => WRONG_NOTIFICATIONS[way](this.options.stack, order_id));
    const note = (sent: number) => void (sent > 0 && countUp(this.load.processor_faults, `notification ${way}`));
    // The processor may be away; then this notification was never made.
    this.asides.push(notified.then(note, () => undefined));
  }

  /** Waits for the notifications that were sent beside the story. */
  async finishAsides(): Promise<void> {
    await Promise.all(this.asides);
  }

  /** The path of the page of a new payment link. */
  async createLink(): Promise<string> {
    const request = { currency: this.currency, amount: this.amount, merchant_order_id: 'L-1' };
    const headers = { 'idempotency-key': newIdempotencyKey() };
    const { status, body } = await this.recorded('link', undefined, () =>
      this.merchant.send<{ payment_url: string }>('POST', '/v1/paymentlinks/', { body: request, headers }),
    );
    if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
    return new URL(body.payment_url).pathname;
  }

  async getOrder(id: string): Promise<Order> {
    return orderOf(await this.send('read', 'GET', `/v1/orders/${id}/`));
  }

  /** The order once `is` holds. */
  async untilOrder(id: string, what: string, is: (order: Order) => boolean): Promise<Order> {
    const give_up = performance.now() + PATIENCE_MS;
    for (let pause = 250; ; pause = Math.min(4_000, pause * 2)) {
      const order = await this.getOrder(id);
      if (is(order)) return order;
      if (performance.now() > give_up) throw new Error(`order ${id} is ${statusesOf(order)}, not ${what}`);
      await sleep(pause);
    }
  }

  /** As a customer does: sends the form of the page, again while nothing was answered. */
  async payOnPage(path: string, card: CardName): Promise<void> {
    await this.submit(path, path, (form) => ({ ...CARD, ...form, number: CARDS[card].number }));
  }

  async payByWallet(order_id: string): Promise<void> {
    const page = `/pay/${order_id}/`;
    await this.submit(page, `${page}wallet/`, (form) => ({ ...form, payment_method: 'apple-pay' }));
  }

  private async submit(
    page: string,
    to: string,
    fields: (form: { token: string; attempt: string }) => Record<string, string>,
  ): Promise<void> {
    const customer = new Client(this.options.stack.api_url);
    const form = await this.eventually('the page', async () => {
      const answer = await customer.send(page);
      const html = await answer.text();
      return answer.status >= 500 ? undefined : { token: hidden(html, 'token'), attempt: hidden(html, 'attempt') };
    });
    // A page that cannot be paid any more has no form.
    if (form.token === '') return;
    await this.recorded('form', undefined, async () => {
      const answer = await customer.postForm(to, fields(form), { accept: 'application/json' });
      return { status: answer.status, headers: answer.headers, body: undefined };
    });
  }

  /** Sends again while the connection breaks or the service cannot answer. */
  private async recorded<Body>(
    what: string,
    order_id: string | undefined,
    request: () => Promise<{ status: number; headers: Headers; body: Body }>,
    onAnswer: (answer: { status: number; body: Body }) => void = () => undefined,
  ): Promise<{ status: number; body: Body }> {
    const give_up = performance.now() + (this.options.patience_ms ?? PATIENCE_MS);
    for (;;) {
      const began = performance.now();
      const answer = await request().catch(() => undefined);
      const sent = { what, order_id, began, ended: performance.now(), status: answer?.status };
      this.load.requests.push({ ...sent, processor_fault: this.processor_fault });
      if (answer !== undefined && answer.status < 500) {
        onAnswer(answer);
        return answer;
      }
      if (performance.now() > give_up) throw new Error(`${what} is not answered: ${answer?.status ?? 'no connection'}`);
      await sleep(1_000 * Number(answer?.headers.get('retry-after') ?? 1));
    }
  }
}

/** The order of an answer. Throws when it is a refusal. */
function orderOf({ status, body }: Answer): Order {
  if (status !== 200 && status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
}

export type ShopStory = (shop: Shop) => Promise<void>;

export function countUp(counts: Record<string, number>, what: string): void {
  counts[what] = (counts[what] ?? 0) + 1;
}
