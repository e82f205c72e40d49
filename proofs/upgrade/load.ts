import { setTimeout as sleep } from 'node:timers/promises';
import { severalAtOnce } from '../../src/domain/several-at-once';
import { Merchant, newIdempotencyKey, type RestAnswer } from '../../test/support/merchant';
import { capturePart, createAuthorization, part, refund, voidAll } from '../../test/support/merchant-payments';
import type { RunningStack } from '../../test/support/stack';
import type { Order } from '../../src/contract/order';

/** What is open while the releases change. */
export interface OpenObjects {
  unpaid: string[];
  /** Orders with a reserved amount. */
  held: Order[];
  /** Paid orders whose webhooks the receiver refuses. */
  undelivered: string[];
  links: string[];
}

/** Open orders, links and webhooks together. */
export const OPEN = { ci: 100, full: 2_000 };

/** Requests at once. */
const AT_ONCE = 8;

/** Makes so many open objects: orders without payment, authorizations, payments with refused webhooks, and links. */
export async function openObjects(stack: RunningStack, count: number, webhook_url: string): Promise<OpenObjects> {
  const merchant = new Merchant(stack);
  const open: OpenObjects = { unpaid: [], held: [], undelivered: [], links: [] };
  const makers = [
    async () => void open.unpaid.push((await merchant.createOrder({ expiration_period: 'P1D' })).id),
    async () => void open.held.push(await createAuthorization(merchant)),
    async () => void open.undelivered.push((await merchant.paidOrder('approved', { webhook_url })).id),
    async () => void open.links.push((await merchant.createPaymentLink()).id),
  ];
  await severalAtOnce(AT_ONCE, Array.from({ length: count }), (_, n) => makers[n % makers.length]!());
  return open;
}

/** Merchants who pay, capture, void, refund and read all the time, and count what they are answered. */
export class UpgradeLoad {
  /** Answers by status, such as `200`, and `refused` for connections that the API does not take. */
  readonly answers: Record<string, number> = {};
  /** Answers of 500 and above, in words. */
  readonly failures: string[] = [];
  private stopping = false;
  private readonly running: Promise<unknown>;

  constructor(
    stack: RunningStack,
    private readonly phase: () => string,
    workers = 4,
  ) {
    this.running = Promise.all(Array.from({ length: workers }, (_, n) => this.work(new Merchant(stack), n)));
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.running;
  }

  private async work(merchant: Merchant, n: number): Promise<void> {
    const card = await merchant.cardTransaction('approved');
    while (!this.stopping) {
      const transactions = [n % 2 === 0 ? card : { ...card, capture_mode: 'manual' }];
      const body = { currency: 'EUR', amount: 1_000, transactions };
      const order = await this.send(() =>
        merchant.send<Order>('POST', '/v1/orders/', { body, headers: { 'idempotency-key': newIdempotencyKey() } }),
      );
      if (order?.status !== 200 || order.body.status !== 'completed') continue;
      const paid = order.body;
      if (n % 2 === 0) {
        await this.send(() => refund(merchant, paid, { amount: 400 }));
      } else {
        await this.send(() => capturePart(merchant, paid, part(300)));
        await this.send(() => voidAll(merchant, paid));
      }
      await this.send(() => merchant.send('GET', `/v1/orders/${paid.id}/`));
    }
  }

  private async send<Body>(call: () => Promise<RestAnswer<Body>>): Promise<RestAnswer<Body> | undefined> {
    try {
      const answer = await call();
      this.count(String(answer.status));
      if (answer.status >= 500) {
        this.failures.push(`${answer.status} during ${this.phase()}: ${JSON.stringify(answer.body)}`);
      }
      return answer;
    } catch {
      // The API does not listen, or its process has ended before the answer.
      this.count(`no connection during ${this.phase()}`);
      await sleep(100);
      return undefined;
    }
  }

  private count(what: string): void {
    this.answers[what] = (this.answers[what] ?? 0) + 1;
  }
}

const ORDERS_PER_SECOND = 5;

/** Orders at a steady pace, five a second: paid, declined and refunded ones. */
export class SteadyOrders {
  /** Answers by status. A declined card is answered with 200. */
  readonly answers: Record<string, number> = {};
  /** Answers other than 2xx, in words. */
  readonly wrong: string[] = [];
  private stopping = false;
  private readonly sent: Promise<void>[] = [];
  private readonly running: Promise<void>;

  constructor(
    private readonly merchant: Merchant,
    private readonly phase = () => 'the load',
  ) {
    this.running = this.run();
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.running;
    await Promise.all(this.sent);
  }

  private async run(): Promise<void> {
    const cards = await Promise.all(
      (['approved', 'insufficient_funds'] as const).map((c) => this.merchant.cardTransaction(c)),
    );
    for (let n = 0; !this.stopping; n += 1) {
      this.sent.push(this.order(cards[n % 4 === 3 ? 1 : 0]!, n % 4 === 0));
      await sleep(1_000 / ORDERS_PER_SECOND);
    }
  }

  private async order(transaction: object, refunds: boolean): Promise<void> {
    const order = await this.send('/v1/orders/', { currency: 'EUR', amount: 900, transactions: [transaction] });
    if (refunds && order?.status === 'completed') await this.send(`/v1/orders/${order.id}/refunds/`, { amount: 400 });
  }

  private async send(url: string, body: object): Promise<Order | undefined> {
    try {
      const headers = { 'idempotency-key': newIdempotencyKey() };
      const answer = await this.merchant.send<Order>('POST', url, { body, headers });
      this.answers[answer.status] = (this.answers[answer.status] ?? 0) + 1;
      if (answer.status < 300) return answer.body;
      this.wrong.push(`${answer.status} during ${this.phase()}: ${JSON.stringify(answer.body)}`);
    } catch (error) {
      this.wrong.push(`during ${this.phase()}: ${String(error)}`);
    }
    return undefined;
  }
}
