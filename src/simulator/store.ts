import { createHash, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { Pool, type PoolClient } from 'pg';
import type { Operation, OperationResult, VaultedCard } from '../processor/wire';
import type { Sums } from './amounts';
import type { Outcome, ScenarioName } from './scenarios';

export interface CardRow extends VaultedCard {
  project_id: string;
  scenario: ScenarioName;
}

export interface OperationRow {
  sequence: string;
  idempotency_key: string;
  fingerprint: string | null;
  operation: OperationResult['operation'];
  order_id: string;
  transaction_id: string;
  follow_up_order_id: string | null;
  project_id: string;
  is_test: boolean;
  /** bigint: pg gives text. */
  amount: string;
  currency: string;
  vault_token: string | null;
  scenario: string | null;
  result: OperationResult['result'];
  response_code: string | null;
  three_ds: OperationResult['three_ds'] | null;
  return_url: string | null;
  challenge_id: string | null;
  challenge_attempts: number;
  due: Date | null;
  next_operation: 'chargeback' | 'chargeback_reversal' | null;
  occurred: Date;
  requests: number;
  /** bigint: pg gives text. */
  settlement: string | null;
}

/** An operation that the processor initiates later. */
export interface Next {
  operation: 'chargeback' | 'chargeback_reversal';
  due: Date;
}

/** An operation that was asked for, with what it ends with. */
export interface Recording {
  idempotency_key: string;
  operation: Operation;
  scenario: string | undefined;
  outcome: Outcome;
  next: Next | undefined;
  /** Earlier arrivals of the key that left no row. */
  earlier_requests: number;
  now: Date;
}

/** A notification to send now. */
export interface ClaimedNotification {
  id: string;
  /** Of the operation it is about; null: there are settlements to fetch. */
  idempotency_key: string | null;
  attempts: number;
}

type Queryable = Pick<PoolClient, 'query'>;

/** Cards kept in memory, so that a charge needs no look-up; their rows never change. Limits memory, not the vault. */
const CARDS_REMEMBERED = 10_000;

const RECORD = `
insert into operations (idempotency_key, fingerprint, operation, order_id, transaction_id, follow_up_order_id, project_id,
  is_test, amount, currency, vault_token, scenario, result, response_code, three_ds, return_url, challenge_id,
  due, due_result, due_response_code, next_operation, next_due, occurred, requests)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24)
on conflict (idempotency_key) do update
  set requests = operations.requests + (operations.fingerprint is not distinct from excluded.fingerprint)::int
returning *`;

/** Outcomes whose time has come, and a notification for each. */
const RESOLVE = `
with moved as (
  update operations set result = due_result, response_code = due_response_code, occurred = due,
    due = null, due_result = null, due_response_code = null
  where due <= $1 returning idempotency_key)
insert into notifications (id, idempotency_key, due)
select 'msg_' || gen_random_uuid(), idempotency_key, $1 from moved`;

/** Settles what moved money before an instant. The reversal of an authorization moves none. */
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

const CLAIM_NOTIFICATIONS = `
update notifications set attempts = attempts + 1, due = $1::timestamptz + least(power(2, attempts), 300) * interval '1 second'
where id in (select id from notifications where sent is null and due <= $1 and attempts < $2 order by due limit 20 for update skip locked)
returning id, idempotency_key, attempts`;

const SUMS = `
select operation, sum(amount) as amount from operations
where transaction_id = $1 and result in ('approved', 'processing') and operation not in ('sale', 'authorize')
group by operation`;

/** The processor's own record: the only place of the simulator that knows SQL. */
export class Store {
  private readonly pool: Pool;
  private readonly cards = new LRUCache<string, CardRow>({ max: CARDS_REMEMBERED });

  constructor(postgres_url: string, connections_max: number, onError: (error: Error) => void) {
    this.pool = new Pool({ connectionString: postgres_url, max: connections_max });
    // An idle connection that breaks is replaced at the next query; without a listener it would end the process.
    this.pool.on('error', onError);
  }

  async close(): Promise<void> {
    await this.pool.end();
  }

  /** Throws when Postgres does not answer. */
  async ping(): Promise<void> {
    await this.pool.query('select 1');
  }

  async insertCard(card: Omit<CardRow, 'vault_token'>): Promise<CardRow> {
    const row: CardRow = { ...card, vault_token: `vt_${randomBytes(18).toString('hex')}` };
    await this.pool.query({
      name: 'card',
      text: `insert into cards (vault_token, project_id, truncated_pan, card_expiry, cardholder_name, brand, scenario, wallet)
             values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      values: [
        row.vault_token,
        row.project_id,
        row.truncated_pan,
        row.card_expiry,
        row.cardholder_name ?? null,
        row.brand,
        row.scenario,
        row.wallet ?? null,
      ],
    });
    this.cards.set(row.vault_token, row);
    return row;
  }

  /** The card of a token, in its own project only. */
  async card(vault_token: string, project_id: string): Promise<CardRow | undefined> {
    let row = this.cards.get(vault_token);
    if (!row) {
      const found = await this.pool.query<{ card: CardRow }>(
        // Null columns are absent fields.
        'select json_strip_nulls(to_json(cards)) as card from cards where vault_token = $1',
        [vault_token],
      );
      if (!found.rows[0]) return undefined;
      row = found.rows[0].card;
      this.cards.set(vault_token, row);
    }
    return row.project_id === project_id ? row : undefined;
  }

  async insertAccount(project_id: string, truncated_number: string): Promise<string> {
    const account_token = `at_${randomBytes(18).toString('hex')}`;
    await this.pool.query('insert into accounts (account_token, project_id, truncated_number) values ($1, $2, $3)', [
      account_token,
      project_id,
      truncated_number,
    ]);
    return account_token;
  }

  /** Whether the token is an account of this project. */
  async hasAccount(account_token: string, project_id: string): Promise<boolean> {
    const found = await this.pool.query('select 1 from accounts where account_token = $1 and project_id = $2', [
      account_token,
      project_id,
    ]);
    return found.rowCount === 1;
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
  async record(recording: Recording, client: Queryable = this.pool): Promise<OperationRow | undefined> {
    const { operation, outcome, next, now } = recording;
    const later = outcome.later;
    const fingerprint = fingerprintOf(operation);
    const stored = await client.query<OperationRow>({
      name: 'record',
      text: RECORD,
      values: [
        recording.idempotency_key,
        fingerprint,
        operation.operation,
        operation.order_id,
        operation.transaction_id,
        operation.follow_up_order_id ?? null,
        operation.project_id,
        operation.is_test,
        operation.amount,
        operation.currency,
        operation.vault_token ?? null,
        recording.scenario ?? null,
        outcome.result,
        outcome.response_code ?? null,
        outcome.three_ds ?? null,
        operation.return_url ?? null,
        outcome.result === 'challenge' ? randomBytes(18).toString('base64url') : null,
        later ? new Date(now.getTime() + later.after_ms) : null,
        later?.result ?? null,
        later?.response_code ?? null,
        next?.operation ?? null,
        next?.due ?? null,
        now,
        recording.earlier_requests + 1,
      ],
    });
    const row = stored.rows[0];
    return row?.fingerprint === fingerprint ? row : undefined;
  }

  /**
   * Records a capture, void, refund or reversal. The charge stays locked from reading the amounts until the row is
   * written, so that only one of two requests gets the same money.
   */
  async recordFollowUp(
    operation: Operation,
    decide: (charge: OperationRow | undefined, sums: Sums | undefined) => Recording,
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
  async finishChallenge(challenge_id: string, outcome: Outcome, now: Date): Promise<OperationRow | undefined> {
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
   * Does what is due by itself (chargebacks), and asks `following` what comes after each. Repeat-safe: the key is
   * derived.
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
        await insertFollowing(client, {
          origin,
          operation,
          idempotency_key,
          amount: Number(origin.amount),
          next: following(origin),
          now,
        });
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
    return this.transaction(async (client) => {
      const charges = await client.query<OperationRow>(
        `select * from operations where transaction_id = $1 and operation in ('sale', 'authorize') and result = 'approved'
         order by sequence desc limit 1`,
        [wanted.transaction_id],
      );
      const origin = charges.rows[0];
      if (!origin) return undefined;
      const idempotency_key = `${origin.idempotency_key}:${wanted.operation}:${randomBytes(8).toString('hex')}`;
      return insertFollowing(client, {
        origin,
        operation: wanted.operation,
        idempotency_key,
        amount: wanted.amount ?? Number(origin.amount),
        next: undefined,
        now,
      });
    });
  }

  /** Makes everything due now that waits for its time, of one transaction or of all. */
  async makeDue(transaction_id: string | undefined, now: Date): Promise<void> {
    await this.pool.query(
      // Not least() alone: of a null and a time it takes the time.
      `update operations set due = case when due > $1 then $1::timestamptz else due end, next_due = case when next_due > $1 then $1::timestamptz else next_due end
       where (due is not null or next_due is not null) and ($2::uuid is null or transaction_id = $2)`,
      [now, transaction_id ?? null],
    );
  }

  /**
   * Settles what moved money before an instant, of one order or of all, with one notification. Returns how many
   * operations it settled.
   */
  async settle({ before, order_id }: { before: Date; order_id?: string | undefined }, now: Date): Promise<number> {
    return this.transaction(async (client) => {
      // One at a time: whoever has fetched a number must never miss a smaller one that is committed later.
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

  /** Queues a notification about an operation as it is; false when there is none of that key. */
  async notifyAgain(idempotency_key: string, now: Date): Promise<boolean> {
    const queued = await this.pool.query(
      `insert into notifications (id, idempotency_key, due)
       select 'msg_' || gen_random_uuid(), idempotency_key, $2 from operations where idempotency_key = $1`,
      [idempotency_key, now],
    );
    return queued.rowCount === 1;
  }

  /**
   * Notifications to send now. Each is hidden until its next attempt is due, so a process that dies meanwhile only
   * delays it.
   */
  async claimNotifications(now: Date, attempts_max: number): Promise<ClaimedNotification[]> {
    return (await this.pool.query<ClaimedNotification>(CLAIM_NOTIFICATIONS, [now, attempts_max])).rows;
  }

  async notificationSent(id: string, now: Date): Promise<void> {
    await this.pool.query('update notifications set sent = $2 where id = $1', [id, now]);
  }

  /** Operations, oldest first, after the one with the key `after`. */
  async ledger(filter: {
    transaction_id?: string | undefined;
    order_id?: string | undefined;
    after?: string | undefined;
    limit: number;
  }): Promise<OperationRow[]> {
    const conditions: string[] = [];
    const values: unknown[] = [];
    const where = (condition: string, value: unknown): void => {
      if (value !== undefined) conditions.push(condition.replace('?', `$${values.push(value)}`));
    };
    where('transaction_id = ?', filter.transaction_id);
    where('order_id = ?', filter.order_id);
    where('sequence > (select sequence from operations where idempotency_key = ?)', filter.after);
    const found = await this.pool.query<OperationRow>(
      `select * from operations ${conditions.length ? `where ${conditions.join(' and ')}` : ''} order by sequence limit $${values.push(filter.limit)}`,
      values,
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
function fingerprintOf(operation: Operation): string {
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

/** Writes an operation that the processor initiated, with its notification. Undefined when it was already written. */
async function insertFollowing(
  client: Queryable,
  following: {
    origin: OperationRow;
    operation: string;
    idempotency_key: string;
    amount: number;
    next: Next | undefined;
    now: Date;
  },
): Promise<OperationRow | undefined> {
  const { origin, next, now, idempotency_key } = following;
  const inserted = await client.query<OperationRow>(
    `insert into operations (idempotency_key, operation, order_id, transaction_id, project_id, is_test, amount, currency, scenario,
       result, next_operation, next_due, occurred)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'approved', $10, $11, $12)
     on conflict (idempotency_key) do nothing returning *`,
    [
      idempotency_key,
      following.operation,
      origin.order_id,
      origin.transaction_id,
      origin.project_id,
      origin.is_test,
      following.amount,
      origin.currency,
      origin.scenario,
      next?.operation ?? null,
      next?.due ?? null,
      now,
    ],
  );
  if (inserted.rowCount === 0) return undefined;
  await client.query(
    `insert into notifications (id, idempotency_key, due) values ('msg_' || gen_random_uuid(), $1, $2)`,
    [idempotency_key, now],
  );
  return inserted.rows[0];
}
