import type { StoredOrder } from '../../src/db/orders/stored-order';
import type { SandboxRows, TransactionRow } from './rows';
import type { Statement } from './statement';
import { statementsOf } from './statements';
import type { Sandbox } from './sandbox';

export type Bindings = Record<string, unknown>;

/**
 * The record in memory. It carries out the statements of `src/db/orders`, each at once and whole, and a SQL transaction
 * as if it held a lock on everything. Before and after a statement anything may happen; its answer may be lost.
 */
export class MemoryRecord {
  rows: SandboxRows = { orders: {}, transactions: {}, events: [], deliveries: [], watches: {}, claims: {} };
  private locked: Promise<unknown> = Promise.resolve();
  private readonly statements = statementsOf(() => this.rows);

  constructor(readonly sandbox: Sandbox) {}

  /** One statement, as `queryRows` and what is built on it send it. */
  async raw(statement: string, bindings: Bindings): Promise<{ rows: unknown[] }> {
    return { rows: await this.execute(statement, bindings) };
  }

  /** One statement, by its name or its text. */
  async execute(statement: string, bindings: Bindings, in_transaction = false): Promise<unknown[]> {
    const found = this.statements.find(({ is }) => is.test(statement.trimStart()));
    if (found === undefined) throw new Error(`the record does not know: ${statement.slice(0, 80)}`);
    if (in_transaction) return this.carryOut(found, bindings);
    await this.sandbox.turn(`SQL ${found.name}`);
    const rows = await this.exclusively(async () => this.carryOut(found, bindings));
    await this.sandbox.turn(`SQL ${found.name} answers`);
    if (this.sandbox.isLost()) throw new Error('Connection terminated unexpectedly');
    return rows;
  }

  /** A SQL transaction: all of it or nothing. */
  async transaction<T>(work: (trx: TransactionHandle) => Promise<T>): Promise<T> {
    await this.sandbox.turn('SQL transaction');
    const result = await this.exclusively(async () => {
      const before = structuredClone(this.rows);
      try {
        return await work(new TransactionHandle(this));
      } catch (error) {
        this.rows = before;
        throw error;
      }
    });
    await this.sandbox.turn('SQL transaction answers');
    if (this.sandbox.isLost()) throw new Error('Connection terminated unexpectedly');
    return result;
  }

  /** A webhook is delivered. */
  async received(order_id: string, n: number): Promise<void> {
    await this.exclusively(async () => {
      const delivery = this.rows.deliveries.find((one) => one.order_id === order_id && one.n === n);
      if (delivery === undefined) this.sandbox.violations.push(`webhook ${n} was sent and is not due`);
      else delivery.status = 'delivered';
      return await Promise.resolve();
    });
  }

  /** The fields of a stored order that calls of workflows read. */
  view(id: string): StoredOrder | undefined {
    const { orders, transactions, events } = this.rows;
    const order = orders[id];
    if (order === undefined) return undefined;
    const own = Object.values(transactions).filter(({ order_id }) => order_id === id);
    const view = {
      ...order,
      transactions: own.map((one) => ({ ...one, events: events.filter((event) => event.transaction_id === one.id) })),
      follow_ups: Object.values(orders).filter(({ related_order_id }) => related_order_id === id),
    };
    return view as unknown as StoredOrder;
  }

  private async exclusively<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.locked.then(work, work);
    this.locked = turn.catch(() => undefined);
    return await turn;
  }

  private carryOut({ name, run }: Statement, bindings: Bindings): unknown[] {
    const rows = run(bindings as never);
    for (const transaction of Object.values(this.rows.transactions)) {
      if (!isAllowed(transaction)) {
        this.sandbox.violations.push(`${name} breaks a CHECK: ${JSON.stringify(transaction)}`);
        throw new Error('a CHECK is violated');
      }
    }
    return rows;
  }
}

/** What is in a SQL transaction: no other statement comes between. */
export class TransactionHandle {
  constructor(private readonly record: MemoryRecord) {}

  async raw(statement: string, bindings: Bindings): Promise<{ rows: unknown[] }> {
    return { rows: await this.execute(statement, bindings) };
  }

  async execute(statement: string, bindings: Bindings): Promise<unknown[]> {
    return await this.record.execute(statement, bindings, true);
  }

  /** A SQL transaction in it; none of them fails by itself. */
  async transaction<T>(work: (trx: TransactionHandle) => Promise<T>): Promise<T> {
    return await work(this);
  }
}

/** The CHECKs on the amounts of a transaction. */
function isAllowed(row: TransactionRow): boolean {
  const asked = row.capture_pending_amount + row.void_pending_amount;
  const amounts = [row.captured_amount, row.voided_amount, row.refunded_amount, row.refund_pending_amount, asked];
  return (
    amounts.every((amount) => amount >= 0) &&
    row.captured_amount + row.voided_amount + asked <= row.amount &&
    row.refunded_amount + row.refund_pending_amount <= row.captured_amount &&
    (row.captured_amount === 0 || row.status === 'accepted') &&
    (row.capture_mode !== null || row.voided_amount + asked === 0)
  );
}
