import { withDatabase } from '../../src/db/connection';
import { queryRows, type Database } from '../../src/db/query';

/** A request of schemathesis, as `hooks.py` writes it. Times are epoch seconds. */
export interface SchemathesisRequest {
  started: number;
  ended: number;
  operation: string;
  method: string;
  status: number;
  mode: 'positive' | 'negative';
  request_id: string;
  /** Objects that a successful change names in its path or answer. */
  ids: string[];
}

/** A row that was inserted, or whose fields a request may change were changed. */
interface Change {
  /** Epoch seconds. */
  at: number;
  what: string;
  id: string;
}

/** What only a request may do: which rows it inserts, and which columns it changes. */
interface Watched {
  table: string;
  id: string;
  /** Which inserted rows come from a request; absent: none is watched. */
  inserted?: string;
  /** Which changed rows come from a request. */
  changed?: string;
}

const differ = (...columns: string[]) =>
  columns.map((column) => `old.${column}::text is distinct from new.${column}::text`).join(' or ');
const ended = `${differ('ended_by')} and new.ended_by = 'merchant'`;

const WATCHED: Watched[] = [
  {
    table: 'orders',
    id: 'id',
    inserted: `new.requested_by is null or new.requested_by = 'merchant'`,
    changed: [
      differ('merchant_order_id', 'description', 'return_url', 'failure_url', 'webhook_url', 'customer', 'extra'),
      differ('amount', 'currency'),
      ended,
    ].join(' or '),
  },
  { table: 'payment_links', id: 'id', inserted: 'true', changed: ended },
  { table: 'merchants', id: 'id', inserted: 'true', changed: 'true' },
  { table: 'projects', id: 'id', inserted: 'true', changed: 'true' },
  { table: 'api_keys', id: 'id', inserted: 'true', changed: differ('expires', 'revoked', 'secret_hash') },
  { table: 'oauth_clients', id: 'client_id', inserted: 'true', changed: differ('name', 'secret_hash', 'revoked') },
  { table: 'sandbox_clock_advances', id: 'clock_id', inserted: 'true' },
  { table: 'receiver_checks', id: 'id', inserted: 'true' },
  { table: 'webhook_recoveries', id: 'id', inserted: 'true' },
  { table: 'erasures', id: 'id', inserted: 'true' },
  {
    table: 'webhook_deliveries',
    id: 'order_id',
    inserted: 'new.redelivery_of is not null',
    changed: `${differ('status')} and 'paused' in (old.status, new.status)`,
  },
];

/** Writes down every change that only a request may make, in a table beside those of the service. */
export async function watchChanges(postgres_url: string): Promise<void> {
  const triggers = WATCHED.flatMap(({ table, id, inserted, changed }) =>
    [
      ['insert', inserted],
      ['update', changed],
    ].flatMap(([event, condition]) =>
      condition === undefined
        ? []
        : [
            `create trigger proof_${event} after ${event} on ${table} for each row when (${condition})
               execute function proof_changed('${id}')`,
          ],
    ),
  );
  await withDatabase(postgres_url, async (db) => {
    await db.raw(`
      create table proof_changes (at timestamptz not null, what text not null, id text not null);
      create function proof_changed() returns trigger language plpgsql security definer as $$
        begin
          insert into proof_changes
            values (clock_timestamp(), tg_op || ' ' || tg_table_name, to_jsonb(new) ->> tg_argv[0]);
          return null;
        end
      $$;
      ${triggers.join(';\n')}`);
  });
}

/** Throws if a change that no request makes is not found: then that nothing is found would show nothing. */
export async function requireWatched(postgres_url: string): Promise<void> {
  await withDatabase(postgres_url, async (db) => {
    await db.raw('update merchants set name = name');
    const [found] = await refusedButStored(postgres_url, []);
    if (!found?.startsWith('UPDATE merchants')) throw new Error('a change that no request made is not found');
    await db.raw('delete from proof_changes');
  });
}

/**
 * What a receiver check, a recovery of webhooks or an erasure does after its request is of a request that succeeded.
 */
const OF_A_WORKFLOW = `exists (
    select 1 from orders o join receiver_checks k on k.id::text = o.extra ->> 'receiver_check_id' where o.id::text = c.id
  ) or what like '% webhook_deliveries' and exists (
    select 1 from webhook_deliveries d where d.order_id::text = c.id and d.recovery_id is not null
  ) or what = 'UPDATE orders' and exists (
    select 1 from orders o join erasures e on e.project_id = o.project_id
    where o.id::text = c.id and o.customer is null and o.extra is null and o.description is null
      and c.at between e.created and e.modified + interval '1 second'
  )`;

/** Clocks of one machine, read by different programs. Seconds. */
const TOLERANCE = 0.02;

/**
 * Changes that no successful request made, in words: each was made while a request ran that succeeded and named the
 * object. Entries of the audit trail name their request.
 */
export async function refusedButStored(postgres_url: string, sent: readonly SchemathesisRequest[]): Promise<string[]> {
  return await withDatabase(postgres_url, async (db) => {
    const changes = await queryRows<Change>(
      db,
      `select extract(epoch from at)::float8 as at, what, id from proof_changes c where not (${OF_A_WORKFLOW})`,
    );
    const successes = new Map<string, SchemathesisRequest[]>();
    for (const request of sent) {
      for (const id of request.ids) successes.set(id, [...(successes.get(id) ?? []), request]);
    }
    const unexplained = changes.filter(
      ({ id, at }) =>
        !(successes.get(id) ?? []).some((one) => at >= one.started - TOLERANCE && at <= one.ended + TOLERANCE),
    );
    return [
      ...unexplained.map(({ what, id, at }) => `${what} ${id}: ${refusedAt(at, sent)}`),
      ...(await auditedRefusals(db, sent)),
    ];
  });
}

function refusedAt(at: number, sent: readonly SchemathesisRequest[]): string {
  const during = sent.filter((one) => at >= one.started - TOLERANCE && at <= one.ended + TOLERANCE);
  const requests = during.map((one) => `${one.operation} ${one.status} (${one.request_id})`);
  return requests.length === 0 ? 'stored while no request ran' : `stored during ${requests.join(', ')}`;
}

async function auditedRefusals(db: Database, sent: readonly SchemathesisRequest[]): Promise<string[]> {
  const refused = new Map(sent.filter(({ status }) => status >= 400).map((one) => [one.request_id, one]));
  const entries = await queryRows<{ action: string; request_id: string }>(
    db,
    'select action, request_id from audit_trail where request_id is not null',
  );
  return entries.flatMap(({ action, request_id }) => {
    const request = refused.get(request_id);
    return request === undefined
      ? []
      : [`${action} in the audit trail: ${request.operation} ${request.status} (${request_id})`];
  });
}
