import type { Order } from '../../src/contract/order';
import { CARD, Client } from '../../test/support/customer';
import { CARDS, type CardName } from '../../test/support/domain';
import { Merchant, newIdempotencyKey, type RestAnswer } from '../../test/support/merchant';
import type { RunningStack } from '../../test/support/stack';
import type { ObservedOperation, OperationKind } from './check';

/** Clients that act on the same order at the same time, each with a page of its own. */

const AMOUNT = 100;
const CLIENTS = 8;
const PAYING: readonly CardName[] = ['approved', 'approved', 'do_not_honor', 'capture_refused', 'refund_refused'];
/** Cards as the model names them. */
const MODEL_CARDS: Partial<Record<CardName, string>> = { do_not_honor: 'declined' };
const KINDS: readonly OperationKind[] = ['pay', 'capture', 'void', 'refund', 'refund', 'cancel', 'read', 'read'];

type Given = Pick<ObservedOperation, 'in' | 'out'>;
type Body = Order & { error?: { type: string; value: string } };

/** One order with its clients, whose operations are recorded. */
export class SharedOrder {
  readonly operations: ObservedOperation[] = [];
  private constructor(
    private readonly merchant: Merchant,
    private readonly manual: boolean,
    private readonly random: () => number,
    /** As it was last read by any client. */
    private latest: Order,
  ) {}

  static async create(stack: RunningStack, random: () => number): Promise<SharedOrder> {
    const merchant = new Merchant(stack);
    const manual = random() < 0.6;
    const transaction = { payment_method: 'credit-card', ...(manual && { capture_mode: 'manual' }) };
    const order = await merchant.createOrder({ amount: AMOUNT, transactions: [transaction] } as never);
    return new SharedOrder(merchant, manual, random, order as Order);
  }

  /** Lets all clients act at once, until so many operations are recorded. */
  async act(operations: number): Promise<void> {
    const lane = async (client: number) => {
      const customer = new Client(this.merchant.stack.api_url);
      let form: { token: string } | undefined;
      while (this.operations.length < operations) {
        form ??= await customer.openPage(this.latest).catch(() => undefined);
        const kind = this.pick(KINDS);
        if (kind === 'pay' && !form?.token) await this.record(client, () => this.read());
        else await this.record(client, () => this.operate(kind, customer, form?.token ?? ''));
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, (_, client) => lane(client)));
  }

  /** Reads the order after everything; throws if it cannot be read. */
  async readFinally(): Promise<void> {
    const before = this.operations.length;
    await this.record(CLIENTS, () => this.read());
    const last = this.operations.at(-1);
    if (this.operations.length === before || last === undefined) throw new Error(`order ${this.latest.id} is not read`);
    last.final = true;
  }

  private async record(client: number, operate: () => Promise<Given | undefined>): Promise<void> {
    const call = now();
    const given = await operate();
    // Nothing was done: a read without an answer, or a refusal that promises that nothing was stored.
    if (given === undefined) return;
    const end = given.out.result === 'unanswered' ? null : now();
    this.operations.push({
      order: this.latest.id,
      manual: this.manual,
      of: AMOUNT,
      client,
      ...given,
      call,
      return: end,
    });
  }

  private async operate(kind: OperationKind, customer: Client, token: string): Promise<Given | undefined> {
    const { id } = this.latest;
    if (kind === 'read') return await this.read();
    if (kind === 'pay') return await this.pay(customer, token);
    if (kind === 'cancel') {
      // Once in a while: a cancelled order takes nothing more.
      if (this.random() < 0.7) return await this.read();
      return { in: { kind }, out: cancelled(await this.send('DELETE', `/v1/orders/${id}/`)) };
    }
    const amount = kind !== 'refund' && this.random() < 0.2 ? 0 : 10 + Math.floor(this.random() * 60);
    const transaction = `/v1/orders/${id}/transactions/${this.latest.transactions!.at(-1)!.id}/${kind}s/`;
    const path = kind === 'refund' ? `/v1/orders/${id}/refunds/` : amount === 0 ? transaction : `${transaction}amount/`;
    const answer = await this.send('POST', path, amount === 0 ? undefined : { amount, description: 'a part' });
    const out = moved(answer);
    return out && { in: { kind, amount }, out };
  }

  /** A repeat under the same key is the same operation. Without a key a request is sent once. */
  private async send(method: string, path: string, body?: unknown): Promise<RestAnswer<Body> | undefined> {
    const key = this.random() < 0.5 ? newIdempotencyKey() : undefined;
    const request = {
      ...(body !== undefined && { body }),
      ...(key !== undefined && { headers: { 'idempotency-key': key } }),
    };
    for (let tries = 1; ; tries += 1) {
      const answer = await this.merchant.send<Body>(method, path, request).catch(() => undefined);
      if (key === undefined || tries >= 3 || (answer !== undefined && answer.status < 500)) return answer;
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }

  private async pay(customer: Client, token: string): Promise<Given | undefined> {
    const { id, transactions = [] } = this.latest;
    const attempt = transactions.at(-1)?.status === 'error' ? transactions.length + 1 : transactions.length;
    const name = this.pick(PAYING);
    const form = { ...CARD, number: CARDS[name].number, token, attempt: String(attempt) };
    const answer = await customer.postForm(`/pay/${id}/`, form, { accept: 'application/json' }).catch(() => undefined);
    const of = { kind: 'pay' as const, attempt, card: MODEL_CARDS[name] ?? name };
    if (answer === undefined || answer.status === 500 || answer.status === 503) return { in: of, out: UNANSWERED };
    if (answer.status === 303) return { in: of, out: { result: 'done' } };
    // The vault did not answer: nothing was charged (rules 10.7).
    if (answer.status > 500) return undefined;
    const { error } = (await answer.json()) as { error: { type: string; value: string } };
    if (error.type === 'TransactionAlreadyStarted') return { in: of, out: { result: error.type } };
    throw new Error(`order ${id}: the form of attempt ${attempt} is answered ${error.type}: ${error.value}`);
  }

  private async read(): Promise<Given | undefined> {
    const path = `/v1/orders/${this.latest.id}/?fields[]=amount_details`;
    const answer = await this.merchant.send<Order>('GET', path).catch(() => undefined);
    if (answer?.status !== 200) return undefined;
    const { status, amount_details } = (this.latest = answer.body);
    return { in: { kind: 'read' }, out: { result: 'done', status, ...amount_details } };
  }

  private pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.random() * from.length)]!;
  }
}

const UNANSWERED = { result: 'unanswered' };
const now = () => Number(process.hrtime.bigint());

/** What became of a capture, void or refund; undefined when the answer says that nothing was stored (rules 10.5). */
function moved(answer: RestAnswer<Body> | undefined): Given['out'] | undefined {
  if (answer === undefined) return UNANSWERED;
  const { status, body } = answer;
  if (status === 200) {
    const results: Record<string, string> = { completed: 'done', error: 'refused by the processor' };
    return { result: results[body.status] ?? 'processing', amount: body.amount };
  }
  if (status < 500) return { result: body.error?.type ?? '' };
  return body.error !== undefined && /nothing was stored/.test(body.error.value) ? undefined : UNANSWERED;
}

function cancelled(answer: RestAnswer<Body> | undefined): Given['out'] {
  if (answer === undefined || answer.status >= 500) return UNANSWERED;
  if (answer.status === 200) return answer.body.status === 'cancelled' ? { result: 'done' } : UNANSWERED;
  return { result: answer.body.error?.type ?? '' };
}
