import { randomUUID } from 'node:crypto';
import * as client from '../../src/client';
import type { ErrorAnswer } from '../../src/contract/error';
import type { Webhook } from '../../src/contract/order';
import type { LedgerEntry } from '../../src/processor/wire';
import type { Fault } from '../../src/simulator/faults';
import { CARDS, type CardName } from './domain';
import { readLedger } from './ledger';
import { callSimulator, postControl, stack as runningStack, type RunningStack } from './stack';
import { sendUntilAnswered, until } from './waits';

export interface RestAnswer<Body = unknown> {
  status: number;
  headers: Headers;
  body: Body;
}

export interface Request {
  body?: unknown;
  headers?: Record<string, string>;
}

type Fields = Partial<client.OrderRequest>;

/** Cards whose outcome comes late on purpose: that it is not known is their answer. */
const LATE_OUTCOMES: ReadonlySet<CardName> = new Set([
  'no_answer',
  'lost_answer',
  'error_then_fine',
  'processing_approved',
  'processing_declined',
]);

interface Payment {
  transactions?: { events?: { event: string; source: string }[] | undefined }[] | undefined;
}

/** Whether the processor was not heard in time: processing by the service's word, not the processor's. */
export function hasUnknownOutcome({ transactions = [] }: Payment): boolean {
  const last = transactions.at(-1)?.events?.at(-1);
  return last?.event === 'processing' && last.source === 'service';
}

/**
 * A merchant: the API over HTTP with the key of one project, and what a test may look at beside it. What the service
 * could not answer is sent again, as its machine may be busy; a test of such an answer uses `send` or the client
 * itself.
 */
export class Merchant {
  /** For the operations of the client. */
  readonly project: ReturnType<typeof client.project>;
  private readonly faults: Fault[] = [];
  /** What never changes of its project, asked for once. */
  private owner: Pick<client.Project, 'id' | 'is_test'> | undefined;

  constructor(
    readonly stack: RunningStack = runningStack(),
    readonly api_key: string = stack.test_api_key,
  ) {
    // The API never redirects: a client that would follow must not hide it.
    this.project = { ...client.project({ url: stack.api_url, api_key }), redirect: 'manual' };
  }

  /** What no client would send, as it stands; refusals are answers. */
  async send<Body = unknown>(
    method: string,
    path: string,
    { body, headers = {} }: Request = {},
  ): Promise<RestAnswer<Body>> {
    const authorization = `Basic ${Buffer.from(`${this.api_key}:`).toString('base64')}`;
    const response = await fetch(this.stack.api_url + path, {
      method,
      redirect: 'manual',
      headers: { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
  }

  /** Throws when it is refused. */
  async createOrder(fields: Fields = {}): Promise<client.Order> {
    const [idempotencyKey, orderRequest] = [newIdempotencyKey(), { currency: 'EUR', amount: 1_250, ...fields }];
    return await accepted(() => client.createOrder({ idempotencyKey, orderRequest }, this.project));
  }

  /**
   * Creates an order that is charged at once with a test card; one whose outcome a busy machine has not heard yet is
   * waited for.
   */
  async paidOrder(card: CardName, fields: Fields = {}): Promise<client.Order> {
    const order = await this.createOrder({ ...fields, transactions: [await this.cardTransaction(card)] });
    return LATE_OUTCOMES.has(card) ? order : await this.untilOutcomeKnown(order);
  }

  /** The order once the processor has told what became of its payment: as it is, unless it was answered before that. */
  async untilOutcomeKnown<Known extends Payment & { id: string }>(order: Known): Promise<Known> {
    if (!hasUnknownOutcome(order)) return order;
    return await until(
      `the processor tells of order ${order.id}`,
      async () => {
        const now = (await this.getOrder(order.id)) as Payment as Known;
        return !hasUnknownOutcome(now) && now;
      },
      120_000,
    );
  }

  async getOrder(id: string): Promise<client.Order> {
    return await accepted(() => client.getOrder({ orderId: id }, this.project));
  }

  /** Throws when it is refused. */
  async createPaymentLink(fields: Partial<client.PaymentLinkRequest> = {}): Promise<client.PaymentLink> {
    const [idempotencyKey, paymentLinkRequest] = [
      newIdempotencyKey(),
      { currency: 'EUR', amount: 1_250, merchant_order_id: 'L-1', ...fields },
    ];
    return await accepted(() => client.createPaymentLink({ idempotencyKey, paymentLinkRequest }, this.project));
  }

  async getPaymentLink(paymentLinkId: string): Promise<client.PaymentLink> {
    return await accepted(() => client.getPaymentLink({ paymentLinkId }, this.project));
  }

  async endPaymentLink(paymentLinkId: string): Promise<client.PaymentLink> {
    return await accepted(() => client.endPaymentLink({ paymentLinkId }, this.project));
  }

  async cancelOrder(id: string): Promise<client.Order> {
    return await accepted(() => client.cancelOrder({ orderId: id }, this.project));
  }

  async getProject(): Promise<client.Project> {
    return await accepted(() => client.getProject(this.project));
  }

  /** The order once it has the status. */
  async untilStatus(id: string, status: client.Order['status'], within_ms?: number): Promise<client.Order> {
    return await until(
      `order ${id} is ${status}`,
      async () => {
        const order = await this.getOrder(id);
        return order.status === status && order;
      },
      within_ms,
    );
  }

  async cardTransaction(card: CardName) {
    const vault_token = await this.vaultToken(CARDS[card].number);
    return { payment_method: 'credit-card' as const, payment_method_details: { vault_token } };
  }

  /** A token of the card in this project, as an earlier payment on the hosted page leaves one. */
  async vaultToken(number: string): Promise<string> {
    this.owner ??= await this.getProject();
    const { id, is_test } = this.owner;
    // Most test files vault no card; the client takes a sixth of a second to load.
    const { runProcessor } = require('./processor') as typeof import('./processor');
    const processor = runProcessor(30_000, this.stack);
    try {
      const card = await processor.vaultCard({
        project_id: id,
        is_test,
        number,
        card_expiry: '122034',
        security_code: '123',
        cardholder_name: 'Ada Lovelace',
      });
      if (!card.usable) throw new Error(card.reason);
      return card.vault_token;
    } finally {
      await processor.close();
    }
  }

  /** Everything the processor did for the order, or for anybody. */
  ledger(order_id?: string): Promise<LedgerEntry[]> {
    return readLedger(order_id, this.stack);
  }

  /**
   * Trouble at the processor; `hit` resolves once all of its `times` have hit. Nobody looks before it is asked for:
   * most tests never do.
   */
  async addFault(fault: Fault): Promise<{ hit: Promise<void> }> {
    await postControl(this.stack, 'faults', fault);
    const allHit = async () => {
      const left = (await (await callSimulator(this.stack, '/control/faults/')).json()) as Fault[];
      return !left.some((one) => FAULT_KEYS.every((fact) => one[fact] === fault[fact]));
    };
    this.faults.push(fault);
    return {
      get hit() {
        const hit = until(`the processor's fault hits: ${fault.kind}`, allHit).then(() => undefined);
        // Whoever has taken it may fail before it waits for it.
        hit.catch(() => undefined);
        return hit;
      },
    };
  }

  /** Ends the faults that addFault has begun, and leaves those of other tests alone. */
  async removeFaults(): Promise<void> {
    for (const { order_id, transaction_id, vault_token, project_id, idempotency_key } of this.faults.splice(0)) {
      const facts = Object.entries({ order_id, transaction_id, vault_token, project_id, idempotency_key }).flatMap(
        ([fact, value]): [string, string][] => (value === undefined ? [] : [[fact, value]]),
      );
      await callSimulator(this.stack, `/control/faults/?${new URLSearchParams(facts)}`, { method: 'DELETE' });
    }
  }
}

/** What tells one fault from another. */
const FAULT_KEYS = [
  'kind',
  'operation',
  'order_id',
  'transaction_id',
  'project_id',
  'vault_token',
  'idempotency_key',
] as const satisfies (keyof Fault)[];

/** A 304 has no data. */
type Called<Data = unknown> = { status: number; headers: Headers; data?: Data };

/** Sends until it is answered: the body of a 200 or 201; throws with what was said otherwise. */
async function accepted<Body>(call: () => Promise<Called>): Promise<Body> {
  const { status, body } = await sendUntilAnswered<Body>(call);
  if (status !== 200 && status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
}

/** An Idempotency-Key that nobody else uses. */
export const newIdempotencyKey = () => `test-${randomUUID()}`;

/** The answer of an operation, for tests that look at refusals too. */
export async function answerOf<Body = unknown>(call: Promise<Called>): Promise<RestAnswer<Body>> {
  const { status, headers, data } = await call;
  return { status, headers, body: data as Body };
}

/** Statuses of the order and its transactions, as `completed: error accepted`. */
export function statusesOf({
  status,
  transactions = [],
}: {
  status: string;
  transactions?: { status: string }[] | undefined;
}): string {
  return [`${status}:`, ...transactions.map((transaction) => transaction.status)].join(' ');
}

export type RefusalName = ErrorAnswer['error'];
export const webhookOf = (body: string) => JSON.parse(body) as Webhook;
