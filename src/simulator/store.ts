import { createHash, randomBytes } from 'node:crypto';
import { Pool, type PoolClient } from 'pg';
import type { OperationRequest } from '../processor/wire';
import type { Sums } from './amounts';
import type { ScenarioOutcome } from './scenarios';
import { Notifications } from './notifications';
import type { Next, OperationRow, RecordedOperation } from './operation';
import { Vault } from './vault';

/** Operations of one kind and amount. */
export interface Count extends Pick<OperationRow, 'project_id' | 'operation' | 'currency' | 'amount'> {
  count: number;
  settled: number;
}

type Queryable = Pick<PoolClient, 'query'>;

const COLUMNS = `idempotency_key, fingerprint, operation, order_id, transaction_id, follow_up_order_id, project_id, is_test,
  amount, currency, vault_token, scenario, result, response_code, three_ds, return_url, challenge_id, due, due_result,
  due_response_code, next_operation, next_due, occurred, requests`;
const INSERT = `insert into operations (${COLUMNS}) select ${COLUMNS} from json_populate_record(null::operations, $1)`;

const RECORD = `${INSERT}
on conflict (idempotency_key) do update
  set requests = operations.requests + (operations.fingerprint is not distinct from excluded.fingerprint)::int
returning *`;

/** An operation that the processor initiated, with its notification. No row when it was already written. */
const INITIATE = `
with done as (${INSERT} on conflict (idempotency_key) do nothing returning *),
told as (
  insert into notifications (id, idempotency_key, due)
  select 'msg_' || gen_random_uuid(), idempotency_key, occurred from done)
select * from done`;

/** Outcomes whose time has come, and a notification for each. */
const RESOLVE = `
with moved as (
  update operations set result = due_result, response_code = due_response_code, occurred = due,
    due = null, due_result = null, due_response_code = null
  where due <= $1 returning idempotency_key)
insert into notifications (id, idempotency_key, due)
select 'msg_' || gen_random_uuid(), idempotency_key, $1 from moved`;

/** Settles operations that moved money before an instant. The reversal of an authorization moves none. */
const SETTLE = `
with settled as (
  update operations set settlement = nextval('settlements')
  where settlement is null and result = 'approved' and operation not in ('authorize', 'void') and amount > 0
    and occurred < $1 and ($3::uuid is null or order_id = $3)
    and (operation <> 'reversal' or exists (
      select 1 from operations sale
      where sale.transaction_id = operations.transaction_id and sale.operation = 'sale' and sale.result = 'approved'))
  returning 1),
told as (
  insert into notifications (id, due) select 'msg_' || gen_random_uuid(), $2::timestamptz where exists (select 1 from settled))
select count(*)::int as settled from settled`;

/** Sets a challenge's end once; a second call finds no row. */
const FINISH_CHALLENGE = `
with moved as (
  update operations set result = $2, response_code = $3, three_ds = $4, occurred = $5
  where challenge_id = $1 and result = 'challenge' returning *),
told as (
  insert into notifications (id, idempotency_key, due)
  select 'msg_' || gen_random_uuid(), idempotency_key, $5::timestamptz from moved)
select * from moved`;

const SUMS = `
select operation, sum(amount) as amount from operations
where transaction_id = $1 and result in ('approved', 'processing') and operation not in ('sale', 'authorize')
group by operation`;

/** The processor's own record of operations. */
export class Store {
  readonly vault: Vault;
  readonly notifications: Notifications;
  private readonly pool: Pool;

  constructor(postgres_url: string, connections_max: number, onError: (error: Error) => void) {
    this.pool = new Pool({ connectionString: postgres_url, max: connections_max });
    // An idle connection that breaks is replaced at the next query; without a listener it would end the process.
    this.pool.on('error', onError);
    // Nor must one that breaks while it is used: its call fails.
    this.pool.on('connect', (client) => client.on('error', onError));
    this.vault = new Vault(this.pool);
    this.notifications = new Notifications(this.pool);
  }

  async close(): Promise<void> {
    await this.pool.end();
  }

  /** Throws when Postgres does not answer. */
  async ping(): Promise<void> {
    await this.pool.query('select 1');
  }

  /** Counts an arrival that leaves no operation. Returns how many there were, this one included. */
  async arrive(idempotency_key: string): Promise<number> {
    const counted = await this.pool.query<{ arrivals: number }>(
      `insert into arrivals (idempotency_key) values ($1)
       on conflict (idempotency_key) do update set arrivals = arrivals.arrivals + 1 returning arrivals`,
      [idempotency_key],
    );
    return counted.rows[0]?.arrivals ?? 1;
  }

  /**
   * Writes an operation, or finds the one its key already made: one statement, so that any number of requests with one
   * key make one row. Undefined when the key belongs to another request.
   */
  async record(recording: RecordedOperation, client: Queryable = this.pool): Promise<OperationRow | undefined> {
    const { idempotency_key, operation, scenario, next, now, earlier_requests } = recording;
    const { later, ...outcome } = recording.outcome;
    const fingerprint = fingerprintOf(operation);
    const row = {
      ...operation,
      idempotency_key,
      fingerprint,
      scenario,
      ...outcome,
      challenge_id: outcome.result === 'challenge' ? randomBytes(18).toString('base64url') : null,
      due: later && new Date(now.getTime() + later.after_ms),
      due_result: later?.result,
      due_response_code: later?.response_code,
      next_operation: next?.operation,
      next_due: next?.due,
      occurred: now,
      requests: earlier_requests + 1,
    };
    const stored = await client.query<OperationRow>({ name: 'record', text: RECORD, values: [row] });
    return stored.rows[0]?.fingerprint === fingerprint ? stored.rows[0] : undefined;
  }

  /**
   * Records a capture, void, refund or reversal. The charge stays locked from reading the amounts until the row is
   * written, so that only one of two requests gets the same money.
   */
  async recordFollowUp(
    operation: OperationRequest,
    decide: (charge: OperationRow | undefined, sums: Sums | undefined) => RecordedOperation,
  ): Promise<OperationRow | undefined> {
    return this.transaction(async (client) => {
      const charges = await client.query<OperationRow>(
        `select * from operations where transaction_id = $1 and project_id = $2 and operation in ('sale', 'authorize') and result = 'approved'
         order by sequence desc limit 1 for update`,
        [operation.transaction_id, operation.project_id],
      );
      const charge = charges.rows[0];
      return this.record(decide(charge, charge && (await sumsOf(client, charge))), client);
    });
  }

  async operation(idempotency_key: string): Promise<OperationRow | undefined> {
    const found = await this.pool.query<OperationRow>({
      name: 'operation',
      text: 'select * from operations where idempotency_key = $1',
      values: [idempotency_key],
    });
    return found.rows[0];
  }

  async challenge(challenge_id: string): Promise<(OperationRow & { truncated_pan: string | null }) | undefined> {
    const found = await this.pool.query<OperationRow & { truncated_pan: string | null }>(
      'select operations.*, cards.truncated_pan from operations left join cards using (vault_token) where challenge_id = $1',
      [challenge_id],
    );
    return found.rows[0];
  }

  /** Counts a wrong code. Returns how many there were; undefined when the challenge is over. */
  async wrongCode(challenge_id: string): Promise<number | undefined> {
    const counted = await this.pool.query<{ challenge_attempts: number }>(
      `update operations set challenge_attempts = challenge_attempts + 1 where challenge_id = $1 and result = 'challenge'
       returning challenge_attempts`,
      [challenge_id],
    );
    return counted.rows[0]?.challenge_attempts;
  }

  /** Ends a challenge and queues its notification. Undefined when it was over already. */
  async finishChallenge(challenge_id: string, outcome: ScenarioOutcome, now: Date): Promise<OperationRow | undefined> {
    const moved = await this.pool.query<OperationRow>(FINISH_CHALLENGE, [
      challenge_id,
      outcome.result,
      outcome.response_code ?? null,
      outcome.three_ds ?? null,
      now,
    ]);
    return moved.rows[0];
  }

  /** Gives every processing operation whose time has come its outcome, with a notification each. */
  async resolveDue(now: Date): Promise<void> {
    await this.pool.query(RESOLVE, [now]);
  }

  /**
   * Executes due operations of the processor (chargebacks), and asks `following` for the operation after each.
   * Repeat-safe: the key is derived.
   */
  async doDue(now: Date, following: (done: OperationRow) => Next | undefined): Promise<void> {
    await this.transaction(async (client) => {
      const origins = await client.query<OperationRow>(
        'update operations set next_due = null where next_due <= $1 returning *',
        [now],
      );
      for (const origin of origins.rows) {
        const operation = origin.next_operation ?? 'chargeback';
        const idempotency_key = `${origin.idempotency_key}:${operation}`;
        await initiate(client, origin, { operation, idempotency_key, next: following(origin), now });
      }
    });
  }

  /**
   * A chargeback, or its reversal, that the control API asked for: of the transaction's newest charge, guarded by
   * nothing.
   */
  async chargeBack(
    wanted: { transaction_id: string; operation: Next['operation']; amount: number | undefined },
    now: Date,
  ): Promise<OperationRow | undefined> {
    const charges = await this.pool.query<OperationRow>(
      `select * from operations where transaction_id = $1 and operation in ('sale', 'authorize') and result = 'approved'
       order by sequence desc limit 1`,
      [wanted.transaction_id],
    );
    const origin = charges.rows[0];
    if (!origin) return undefined;
    const { operation, amount } = wanted;
    const idempotency_key = `${origin.idempotency_key}:${operation}:${randomBytes(8).toString('hex')}`;
    return initiate(this.pool, origin, { operation, idempotency_key, amount, next: undefined, now });
  }

  /** Makes all delayed outcomes and operations due now, of one transaction or of all. */
  async makeDue(transaction_id: string | undefined, now: Date): Promise<void> {
    await this.pool.query(
      // Not least() alone: of a null and a time it takes the time.
      `update operations set due = case when due > $1 then $1::timestamptz else due end, next_due = case when next_due > $1 then $1::timestamptz else next_due end
       where (due is not null or next_due is not null) and ($2::uuid is null or transaction_id = $2)`,
      [now, transaction_id ?? null],
    );
  }

  /**
   * Settles operations that moved money before an instant, of one order or of all, with one notification. Returns the
   * number of settled operations.
   */
  async settle({ before, order_id }: { before: Date; order_id?: string | undefined }, now: Date): Promise<number> {
    return this.transaction(async (client) => {
      // One at a time: otherwise a smaller number could be committed after a client has fetched a larger one, and be
      // missed.
      await client.query('select pg_advisory_xact_lock(7111)');
      const counted = await client.query<{ settled: number }>(SETTLE, [before, now, order_id ?? null]);
      return counted.rows[0]?.settled ?? 0;
    });
  }

  /** Settled operations after a number, by number. */
  async settlements(after: number, limit: number): Promise<OperationRow[]> {
    const found = await this.pool.query<OperationRow>(
      'select * from operations where settlement > $1 order by settlement limit $2',
      [after, limit],
    );
    return found.rows;
  }

  /** Operations of some orders, or that happened in a period, after a number, by number. */
  async reported(filter: {
    order_ids?: readonly string[] | undefined;
    since?: Date | undefined;
    until?: Date | undefined;
    after: number;
    limit: number;
  }): Promise<OperationRow[]> {
    const found = await this.pool.query<OperationRow>(
      `select * from operations where sequence > $1 and ($2::uuid[] is null or order_id = any($2))
         and ($3::timestamptz is null or occurred >= $3) and ($4::timestamptz is null or occurred < $4)
       order by sequence limit $5`,
      [filter.after, filter.order_ids, filter.since, filter.until, filter.limit],
    );
    return found.rows;
  }

  /** Approved operations of a period, counted by amount, and how many of them are settled up to a number. */
  async counted({
    since,
    until,
    settled_up_to,
  }: {
    since: Date;
    until: Date;
    settled_up_to: number;
  }): Promise<Count[]> {
    const found = await this.pool.query<Count>(
      `select project_id, operation, currency, amount, count(*)::int as count,
         (count(*) filter (where settlement <= $3))::int as settled
       from operations where result = 'approved' and occurred >= $1 and occurred < $2
       group by project_id, operation, currency, amount`,
      [since, until, settled_up_to],
    );
    return found.rows;
  }

  /** Operations, oldest first, after the one with the key `after`. */
  async ledger(filter: {
    transaction_id?: string | undefined;
    order_id?: string | undefined;
    after?: string | undefined;
    limit: number;
  }): Promise<OperationRow[]> {
    const found = await this.pool.query<OperationRow>(
      `select * from operations where ($1::uuid is null or transaction_id = $1) and ($2::uuid is null or order_id = $2)
         and ($3::text is null or sequence > (select sequence from operations where idempotency_key = $3))
       order by sequence limit $4`,
      [filter.transaction_id, filter.order_id, filter.after, filter.limit],
    );
    return found.rows;
  }

  private async transaction<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.pool.connect();
    let broken: Error | undefined;
    try {
      await client.query('begin');
      const result = await work(client);
      await client.query('commit');
      return result;
    } catch (error) {
      broken = error instanceof Error ? error : new Error(String(error));
      throw error;
    } finally {
      // A connection whose transaction failed is thrown away: closing it rolls back.
      client.release(broken);
    }
  }
}

/**
 * Of the request, so that a key cannot be used for different requests. The customer's return address is not part of it.
 */
function fingerprintOf(operation: OperationRequest): string {
  const asked = Object.entries(operation).filter(([field]) => field !== 'return_url');
  const sorted = asked.sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex');
}

async function sumsOf(client: Queryable, charge: OperationRow): Promise<Sums> {
  const sums = { capture: 0, void: 0, refund: 0, reversal: 0, chargeback: 0, chargeback_reversal: 0 };
  const found = await client.query<{ operation: keyof typeof sums; amount: string }>(SUMS, [charge.transaction_id]);
  for (const row of found.rows) sums[row.operation] = Number(row.amount);
  return { ...sums, authorized: Number(charge.amount), is_sale: charge.operation === 'sale' };
}

/** Writes an operation that the processor initiated. Undefined when it was already written. */
async function initiate(
  client: Queryable,
  origin: OperationRow,
  initiated: {
    operation: Next['operation'];
    idempotency_key: string;
    /** Absent: all that was charged. */
    amount?: number | undefined;
    next: Next | undefined;
    now: Date;
  },
): Promise<OperationRow | undefined> {
  const { operation, idempotency_key, amount = Number(origin.amount), next, now } = initiated;
  const { order_id, transaction_id, project_id, is_test, currency, scenario } = origin;
  const row = {
    ...{ idempotency_key, operation, order_id, transaction_id, project_id, is_test, amount, currency, scenario },
    result: 'approved',
    next_operation: next?.operation,
    next_due: next?.due,
    occurred: now,
    requests: 1,
  };
  return (await client.query<OperationRow>(INITIATE, [row])).rows[0];
}
