import type { Client as TemporalClient } from '@temporalio/client';
import { orderWorkflowId } from '../../workflows/messages';
import type { PaymentLink } from '../../src/client';
import { queryRows, type Database } from '../../src/db/query';
import { CARD, Client } from '../../test/support/customer';
import { CARDS, type CardName } from '../../test/support/domain';
import { newIdempotencyKey, type Merchant } from '../../test/support/merchant';
import { answerIssuer } from '../../test/support/processor';
import { postControl, type RunningStack } from '../../test/support/stack';
import { WRONG_NOTIFICATIONS } from '../support/notifications';

/** What all lives share. */
export interface LivesWorld {
  stack: RunningStack;
  merchant: Merchant;
  db: Database;
  temporal: TemporalClient;
}

/** Cards of each outcome, those that come late or never by themselves included. */
const PAYING: readonly CardName[] = [
  ...(['approved', 'approved', 'do_not_honor', 'challenge', 'processing_approved', 'processing_declined'] as const),
  ...(['no_answer', 'lost_answer', 'capture_refused', 'refund_refused', 'refund_processing'] as const),
];

/** How far a clock is advanced: within and beyond the pauses between polls, webhooks and the ends of orders. */
const ADVANCES = ['PT1S', 'PT5S', 'PT20S', 'PT1M', 'PT3M', 'PT16M', 'PT35M', 'PT6H', 'P1D'];

/** Weights of the steps of an order. */
const STEPS = {
  ...{ pay: 5, capture: 4, void: 2, refund: 4, cancel: 1, 'answer the issuer': 3, 'outcome due': 2 },
  ...{ notification: 3, chargeback: 1, 'change fields': 1, read: 1, 'time passes': 4, 'workflow lost': 2 },
  'another order': 3,
} as const;
const LINK_STEPS = { 'pay the link': 6, 'end the link': 0.2, 'time passes': 1 } as const;
type Step = keyof typeof STEPS | keyof typeof LINK_STEPS;

/** How a step ended, such as a status and the type of an error. Undefined: there was nothing to do. */
type Outcome = string | undefined;

/** One life: an order or a link, and what merchant, customer, issuer, processor and operator do with it. */
export class Life {
  /** What was done, and how it was answered. */
  readonly steps: string[] = [];
  /** Answers that nothing explains. */
  readonly wrong: string[] = [];
  private order_id: string | undefined;
  private link: PaymentLink | undefined;

  constructor(
    private readonly world: LivesWorld,
    readonly number: number,
    private readonly random: () => number,
  ) {}

  /** Begins with a link, or with an order. */
  async begin(): Promise<void> {
    if (this.random() < 0.15) {
      this.steps.push('link');
      const expiration_period = this.pick(['PT20M', 'PT6H', 'P2D']);
      this.link = await this.world.merchant.createPaymentLink({ expiration_period });
    } else this.steps.push(await this.createOrder());
  }

  /** An order of the page, an order with a card token, or an authorization; the life goes on with it. */
  private async createOrder(): Promise<string> {
    const kind = this.pick(['page', 'token', 'authorization', 'authorization'] as const);
    const { merchant } = this.world;
    const capture_mode = kind === 'authorization' && { capture_mode: this.pick(['manual', 'delayed'] as const) };
    const transaction =
      kind === 'page'
        ? { payment_method: 'credit-card' as const }
        : { ...(await merchant.cardTransaction(this.pick(PAYING))), ...capture_mode };
    this.order_id = (await merchant.createOrder({ amount: 1_000, transactions: [transaction] })).id;
    return kind;
  }

  /** One step, or two at once. */
  async live(): Promise<void> {
    const count = this.random() < 0.3 ? 2 : 1;
    await Promise.all(Array.from({ length: count }, () => this.step()));
  }

  private async step(): Promise<void> {
    const isOfLink = this.link !== undefined && (this.order_id === undefined || this.random() < 0.4);
    const name = this.choose<Step>(isOfLink ? LINK_STEPS : STEPS);
    try {
      const outcome = await (isOfLink ? this.stepOfLink(name, this.link!) : this.stepOfOrder(name, this.order_id!));
      this.steps.push(outcome === undefined ? `(${name})` : `${name}: ${outcome}`);
    } catch (error) {
      this.steps.push(`${name}: failed`);
      this.wrong.push(`${name}: ${String(error)}`);
    }
  }

  private async stepOfLink(name: Step, { id, payment_url }: PaymentLink): Promise<Outcome> {
    if (name === 'time passes') return await this.advance(`/v1/paymentlinks/${id}/`);
    if (name === 'end the link') return await this.send('DELETE', `/v1/paymentlinks/${id}/`);
    const outcome = await this.pay(new URL(payment_url!).pathname);
    const [newest] = await queryRows<{ id: string }>(
      this.world.db,
      'select id from orders where related_payment_link_id = :id order by created desc limit 1',
      { id },
    );
    this.order_id = newest?.id ?? this.order_id;
    return outcome;
  }

  private async stepOfOrder(name: Step, id: string): Promise<Outcome> {
    const { stack, merchant, temporal } = this.world;
    const of_order = `/v1/orders/${id}/`;
    if (name === 'another order') return this.link === undefined ? await this.createOrder() : undefined;
    if (name === 'time passes') return await this.advance(of_order);
    if (name === 'pay') return await this.pay(`/pay/${id}/`);
    if (name === 'read') return await this.send('GET', of_order);
    if (name === 'cancel') return await this.send('DELETE', of_order);
    if (name === 'change fields') return await this.send('PUT', of_order, { description: `step ${this.steps.length}` });
    const ended = (error: unknown) => (error as Error).name;
    if (name === 'workflow lost') {
      return await temporal.workflow
        .getHandle(orderWorkflowId(id))
        .terminate('lost')
        .then(() => 'terminated', ended);
    }
    if (name === 'notification') {
      const [way, send] = this.pick(Object.entries(WRONG_NOTIFICATIONS).filter(([one]) => one !== 'late'));
      return (await send(stack, id)) > 0 ? way : undefined;
    }
    const { transactions = [], amount } = await merchant.getOrder(id);
    const last = transactions.at(-1);
    if (last === undefined) return undefined;
    if (name === 'answer the issuer') return await this.answerIssuer(id);
    if (name === 'outcome due') return await postControl(stack, 'due', { transaction_id: last.id }).then(() => 'made');
    if (name === 'chargeback') {
      // A late approval is given back before its cardholder sees it. Disputed at that instant, its reversal is refused,
      // and left for an operator (rules 9.11).
      if (last.status !== 'accepted') return undefined;
      const operation = this.pick(['chargeback', 'chargeback_reversal'] as const);
      // Refused unless there is a payment to take back, or one that was taken back.
      return await postControl(stack, 'chargebacks', { transaction_id: last.id, operation }).then(
        () => operation,
        ended,
      );
    }
    const part = this.pick([undefined, 1, 50, 100, 250, 400, amount]);
    const partly = part === undefined ? {} : { amount: part };
    if (name === 'refund') return await this.send('POST', `${of_order}refunds/`, partly);
    const path = `${of_order}transactions/${last.id}/${name}s/`;
    if (part === undefined) return await this.send('POST', path);
    return await this.send('POST', `${path}amount/`, { ...partly, description: 'a part' });
  }

  /** The clock of an order or a link goes on. */
  private async advance(path: string): Promise<Outcome> {
    return await this.send('POST', `${path}test-clock/`, { advance: this.pick(ADVANCES) });
  }

  /** The customer sends the form of a page, if it has one. */
  private async pay(page: string): Promise<Outcome> {
    const customer = new Client(this.world.stack.api_url);
    const form = await customer.openPage({ id: '' }, page);
    if (form.token === '') return undefined;
    const number = CARDS[this.pick(PAYING)].number;
    const answer = await customer.postForm(page, { ...CARD, ...form, number }, { accept: 'application/json' });
    return this.note('form', answer.status, await answer.text());
  }

  private async answerIssuer(order_id: string): Promise<Outcome> {
    const [row] = await queryRows<{ challenge_url: string | null }>(
      this.world.db,
      'select challenge_url from transactions where order_id = :order_id order by attempt desc limit 1',
      { order_id },
    );
    if (row?.challenge_url == null) return undefined;
    const form = this.pick<Record<string, string>>([{ code: '0101' }, { code: '3333' }, { action: 'cancel' }]);
    return String((await answerIssuer(row.challenge_url, form)).status);
  }

  /** With a key, and now and then twice: the second answer is the first. */
  private async send(method: string, path: string, body?: object): Promise<Outcome> {
    const headers = method === 'GET' ? {} : { 'idempotency-key': newIdempotencyKey() };
    const request = () => this.world.merchant.send(method, path, { ...(body && { body }), headers });
    const answers = await Promise.all(this.random() < 0.1 ? [request(), request()] : [request()]);
    return answers.map(({ status, body: text }) => this.note(path, status, JSON.stringify(text))).join(' and ');
  }

  /** 503 and 504 are the answers of a machine that is busy, and refusals are answers; another failure is none. */
  private note(what: string, status: number, body: string): string {
    if (status === 500 || status === 502) this.wrong.push(`${what} is answered ${status}: ${body.slice(0, 300)}`);
    return `${status}${/"type": ?"(\w+)"/.exec(body)?.[1] ?? ''}`;
  }

  private pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.random() * from.length)]!;
  }

  private choose<Name extends string>(weights: Partial<Record<Name, number>>): Name {
    const entries = Object.entries(weights) as [Name, number][];
    let at = this.random() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    return (entries.find(([, weight]) => (at -= weight) < 0) ?? entries[0]!)[0];
  }
}
