import type { Order, OrderRequest, PaymentLink } from '../../src/client';
import { queryRows, type Database } from '../../src/db/query';
import type { WALLETS } from '../../src/processor/wire';
import { CARD, Client } from '../../test/support/customer';
import { CARDS, type CardName } from '../../test/support/domain';
import type { Merchant } from '../../test/support/merchant';
import { answerIssuer } from '../../test/support/processor';
import { answerOfAdmin } from '../../test/support/admin';
import { callSimulator, postControl } from '../../test/support/stack';
import { sendUntilAnswered, until } from '../../test/support/waits';
import { FLOW_HEADER } from './messages';

/** What all actors of a proof share. */
export interface CrashWorld {
  merchant: Merchant;
  db: Database;
  /** Receives the webhooks; each flow has a path of its own below it. */
  webhook_url: string;
}

/** How long a step of a flow may take; some wait for recovery, which waits until no worker is killed. Milliseconds. */
const STEP_MS = 900_000;

const AMOUNT = 1_000;

/**
 * The merchant and the customer of one flow. What was not answered is sent again, with the same Idempotency-Key or the
 * same form. Every request names the flow, and so does the merchant_order_id of what it makes.
 */
export class CrashActor {
  /** The payment orders and links that it made. */
  readonly orders: string[] = [];
  readonly links: string[] = [];
  private keys = 0;

  constructor(
    readonly world: CrashWorld,
    readonly marker: string,
  ) {}

  /** Sends with a key of its own unless one is given; throws with a refusal. */
  async send<Body>(method: string, path: string, body?: unknown, key?: string): Promise<Body> {
    const headers = {
      [FLOW_HEADER]: this.marker,
      ...(method !== 'GET' && { 'idempotency-key': key ?? this.newKey() }),
    };
    const request = { headers, ...(body !== undefined && { body }) };
    const answer = await sendUntilAnswered<Body>(() => this.world.merchant.send(method, path, request), STEP_MS);
    // Moves of sandbox clocks wait for their turn (rules 23.9).
    if (answer.status === 429) return await this.send(method, path, body, request.headers['idempotency-key']);
    if (answer.status > 201) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  newKey(): string {
    this.keys += 1;
    return `${this.marker}-key-${this.keys}`;
  }

  async create(fields: Partial<OrderRequest> = {}, key?: string): Promise<Order> {
    const webhook_url = `${this.world.webhook_url}/${this.marker}`;
    const request = { currency: 'EUR', amount: AMOUNT, merchant_order_id: this.marker, webhook_url, ...fields };
    const order = await this.send<Order>('POST', '/v1/orders/', request, key);
    if (!this.orders.includes(order.id)) this.orders.push(order.id);
    return order;
  }

  /** An order that is charged at once with the token of a card. */
  async charge(card: CardName, transaction: Record<string, unknown> = {}, fields: Partial<OrderRequest> = {}) {
    const token = await this.world.merchant.cardTransaction(card);
    return await this.create({ ...fields, transactions: [{ ...token, ...transaction }] });
  }

  /** A charge whose approval is known. */
  async paid(transaction: Record<string, unknown> = {}, card: CardName = 'approved'): Promise<Order> {
    const order = await this.charge(card, transaction);
    await this.untilStatuses(order.id, 'completed: accepted');
    return order;
  }

  async refund({ id }: Order, amount = AMOUNT): Promise<Order> {
    return await this.send('POST', `/v1/orders/${id}/refunds/`, { amount });
  }

  /** Captures or voids a part, or all that is left. */
  async follow(what: 'captures' | 'voids', { id, transactions }: Order, amount?: number): Promise<Order> {
    const path = `/v1/orders/${id}/transactions/${transactions![0]!.id}/${what}/`;
    if (amount === undefined) return await this.send('POST', path);
    return await this.send('POST', `${path}amount/`, { amount, description: 'a parcel' });
  }

  /** Until the order is cancelled: one that does not answer in time is shown as it is. */
  async cancel({ id }: Order): Promise<void> {
    await until(
      `${id} is cancelled`,
      async () => (await this.send<Order>('DELETE', `/v1/orders/${id}/`)).status === 'cancelled',
      STEP_MS,
    );
  }

  async advance(id: string, advance: string, of: 'orders' | 'paymentlinks' = 'orders'): Promise<void> {
    const key = this.newKey();
    // An object that does not answer in time is shown as it is: the merchant sends the request again, with its key.
    await until(
      `the clock of ${id} is advanced`,
      async () => {
        const path = `/v1/${of}/${id}/test-clock/`;
        return (await this.send<{ test_clock?: string }>('POST', path, { advance }, key)).test_clock !== undefined;
      },
      STEP_MS,
    );
  }

  async createLink(fields: Record<string, unknown> = {}): Promise<PaymentLink> {
    const webhook_url = `${this.world.webhook_url}/${this.marker}`;
    const request = { currency: 'EUR', amount: AMOUNT, merchant_order_id: this.marker, webhook_url, ...fields };
    const link = await this.send<PaymentLink>('POST', '/v1/paymentlinks/', request);
    this.links.push(link.id);
    return link;
  }

  /** The customer opens the page and sends its form, again and again until it is answered. */
  async pay(path: string, card: CardName, customer = new Client(this.world.merchant.stack.api_url)): Promise<void> {
    await this.sendForm(customer, path, path, { ...CARD, number: CARDS[card].number });
  }

  async payByWallet(path: string, payment_method: (typeof WALLETS)[number]): Promise<void> {
    const customer = new Client(this.world.merchant.stack.api_url);
    await this.sendForm(customer, path, `${path}wallet/`, { payment_method });
  }

  async cancelOnPage(path: string): Promise<void> {
    await this.sendForm(new Client(this.world.merchant.stack.api_url), path, `${path}cancel/`, {});
  }

  private async sendForm(customer: Client, page: string, path: string, fields: Record<string, string>): Promise<void> {
    const form = await until(
      `the page ${page}`,
      async () => {
        const hidden = await customer.openPage({ id: '' }, page).catch(() => undefined);
        return hidden?.token ? hidden : undefined;
      },
      STEP_MS,
    );
    const headers = { [FLOW_HEADER]: this.marker };
    await sendUntilAnswered(() => customer.postForm(path, { ...form, ...fields }, headers), STEP_MS);
  }

  /** What the customer does on the issuer's page; then the browser goes back to ours. */
  async answerIssuer(order_id: string, form: Record<string, string>): Promise<void> {
    const challenge_url = await until(
      `a challenge of ${order_id}`,
      async () => {
        const [row] = await this.rows<{ challenge_url: string | null }>(
          'select challenge_url from transactions where order_id = :order_id order by attempt desc limit 1',
          { order_id },
        );
        return row?.challenge_url ?? undefined;
      },
      STEP_MS,
    );
    const answer = await answerIssuer(challenge_url, form);
    const back = answer.headers.get('location');
    if (back === null) throw new Error(`the issuer answers ${answer.status} without an address`);
    const { pathname, search } = new URL(back);
    const customer = new Client(this.world.merchant.stack.api_url);
    const headers = { [FLOW_HEADER]: this.marker };
    await sendUntilAnswered(() => customer.send(`${pathname}${search}`, { headers }), STEP_MS);
  }

  /** The processor has the outcome of what is open; chargebacks and news of an operation are made by it. */
  async control(what: 'due' | 'chargebacks' | 'faults', body: Record<string, unknown>): Promise<void> {
    await postControl(this.world.merchant.stack, what, body);
  }

  /** The faults of the processor about an order end. */
  async endFaults(order_id: string): Promise<void> {
    await callSimulator(this.world.merchant.stack, `/control/faults/?order_id=${order_id}`, { method: 'DELETE' });
  }

  /** An operator sets an outcome, with `npm run admin`, again until it is set. */
  async setOutcome(transaction_id: string): Promise<void> {
    const { data_dir } = this.world.merchant.stack;
    const command = ['outcome', 'set', transaction_id, '--outcome', 'approved', '--reason', 'Bank statement'];
    await until(
      'the outcome is set',
      async () => 'set' in (await answerOfAdmin(command, { data_dir }).catch(() => ({}))),
      STEP_MS,
    );
  }

  /** Waits by the record, which asks nothing of the killed process. */
  async untilStatuses(order_id: string, expected: string): Promise<void> {
    await until(`${order_id} is ${expected}`, async () => (await this.statusesOf(order_id)) === expected, STEP_MS);
  }

  async untilAttempts(order_id: string, count: number): Promise<void> {
    const sql = 'select n from webhook_attempts where order_id = :order_id';
    await until(`${count} attempts`, async () => (await this.rows(sql, { order_id })).length >= count, STEP_MS);
  }

  async untilDelivered(order_id: string): Promise<void> {
    const sql = `select n from webhook_deliveries where order_id = :order_id and status = 'delivered'`;
    await until(`a webhook of ${order_id}`, async () => (await this.rows(sql, { order_id })).length > 0, STEP_MS);
  }

  async isLink(id: string, status: string): Promise<boolean> {
    const [link] = await this.rows<{ status: string }>('select status from payment_links where id = :id', { id });
    return link?.status === status;
  }

  async statusesOf(order_id: string): Promise<string> {
    const [row] = await this.rows<{ statuses: string }>(
      `select concat_ws(' ', o.status || ':',
         (select string_agg(t.status, ' ' order by t.attempt) from transactions t where t.order_id = o.id)) as statuses
       from orders o where o.id = :order_id`,
      { order_id },
    );
    return row?.statuses ?? 'nothing';
  }

  private async rows<Row>(sql: string, bindings: Record<string, unknown>): Promise<Row[]> {
    return await queryRows<Row>(this.world.db, sql, bindings);
  }
}

/** The page of an order. */
export const pagePathOf = ({ id }: { id: string }) => `/pay/${id}/`;
/** The page of a link. */
export const linkPageOf = ({ id }: { id: string }) => `/paymentlinks/${id}/`;
