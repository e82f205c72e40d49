import { v7 as uuidv7 } from 'uuid';
import { requireRow, type Database, type SqlTransaction } from '../query';
import { readPage, type ListPage, type PageRequest } from '../pages';

const ACTOR_KINDS = ['client', 'api_key', 'command_line', 'temporal'] as const;

/**
 * The author of a change: a client of the bearer-token host, the API key of a project, or an operator at the command
 * line or in Temporal's Web UI.
 */
export interface Actor {
  kind: (typeof ACTOR_KINDS)[number];
  /** Id of the client or key; at the command line the user's name on that machine; in the Web UI the name given. */
  id: string;
}

/** A change, without secrets. */
export interface AuditedChange {
  /** For example `project.update`. */
  action: string;
  object: { kind: string; id: string };
  /** The merchant whose object it is; absent: of the installation. */
  merchant_id?: string | null | undefined;
  /** The object before and after; absent where there was or is none. */
  before?: object | undefined;
  after?: object | undefined;
}

export interface AuditRow {
  id: string;
  at: string;
  actor_kind: Actor['kind'];
  actor_id: string;
  action: string;
  object_kind: string;
  object_id: string;
  before: object | null;
  after: object | null;
  request_id: string | null;
}

/** An object as JSON; of an address only that it has a user name or password. */
function shownJson(object: object | undefined): string | null {
  if (object === undefined) return null;
  return JSON.stringify(object, (_key, value: unknown) =>
    typeof value === 'string' ? value.replace(/^(https?:\/\/)[^/?#\\\s]*@/i, '$1[credentials]@') : value,
  );
}

/** Writes the change into the audit trail, in the SQL transaction of the change itself. */
export async function recordChange(
  trx: SqlTransaction,
  { action, object, merchant_id, before, after }: AuditedChange,
  by: { actor: Actor; request_id?: string | undefined },
  now: Date,
): Promise<void> {
  await trx('audit_trail').insert({
    id: uuidv7(),
    at: now,
    actor_kind: by.actor.kind,
    actor_id: by.actor.id,
    action,
    object_kind: object.kind,
    object_id: object.id,
    merchant_id: merchant_id ?? null,
    before: shownJson(before),
    after: shownJson(after),
    request_id: by.request_id ?? null,
  });
}

interface AuditFilter {
  merchant_id?: string | undefined;
  actor?: string | undefined;
  object?: string | undefined;
  since?: string | undefined;
}

/**
 * The entries as a merchant may read them. Ids of actors are shown only for its own clients and API keys, so that
 * neither an entry nor a filter reveals the id or name of an operator (rules 21.19).
 */
const FOR_MERCHANT = `
  select n, id, at, actor_kind,
         case when actor_kind = 'api_key' or (actor_kind = 'client' and actor_id in
                     (select cast(client_id as text) from oauth_clients where merchant_id = :merchant_id))
              then actor_id else 'operator' end as actor_id,
         action, object_kind, object_id, merchant_id, before, after, request_id
  from audit_trail`;

/** Ids have an index, kinds have none: a condition on both would read every entry to find a user called `ada`. */
const isActor = (value: string) =>
  ACTOR_KINDS.some((kind) => kind === value) ? 'actor_kind = :actor' : 'actor_id = :actor';

/** Kinds are words, such as `api_key`. Ids are nearly always something else, and have an index. */
const isObject = (value: string) =>
  /^[a-z_]+$/.test(value) ? ':object in (object_id, object_kind)' : 'object_id = :object';

/**
 * The changes, newest first. `actor` is a kind or else an id, `object` an id or a kind. With `merchant_id` only changes
 * of its objects, and every operator has the id `operator`.
 */
export async function listChanges(db: Database, filter: AuditFilter, page: PageRequest): Promise<ListPage<AuditRow>> {
  return await readPage(db, page, {
    select: filter.merchant_id === undefined ? 'select * from audit_trail' : FOR_MERCHANT,
    equal: { merchant_id: filter.merchant_id },
    where: [
      filter.actor !== undefined && isActor(filter.actor),
      filter.object !== undefined && isObject(filter.object),
      filter.since !== undefined && 'at >= :since',
    ],
    bindings: { ...filter },
    key: [['n', 'bigint']],
  });
}

/**
 * Why entries of the audit trail can be changed, in words; `undefined` when they cannot: the trigger exists and is
 * enabled, and the role of this connection may neither change entries nor disable the trigger, itself or as another
 * role (rules 21.23). The owner of the schema or the database may still drop the table.
 */
export async function auditTrailWeakness(db: Database): Promise<string | undefined> {
  const { has_trigger, may_change, role } = await requireRow<{
    has_trigger: boolean;
    may_change: boolean;
    role: string;
  }>(
    db,
    `select current_user as role,
       has_table_privilege('audit_trail', 'update, delete, truncate, trigger')
         or pg_has_role(c.relowner, 'member') or pg_has_role(n.nspowner, 'member') or pg_has_role(d.datdba, 'member')
         or exists (select from pg_proc where proname = 'audit_trail_is_append_only' and pg_has_role(proowner, 'member'))
         as may_change,
       exists (select from pg_trigger where tgname = 'audit_trail_keep' and tgrelid = c.oid and tgenabled <> 'D')
         as has_trigger
     from pg_class c join pg_namespace n on n.oid = c.relnamespace, pg_database d
     where c.oid = cast('audit_trail' as regclass) and d.datname = current_database()`,
  );
  if (!has_trigger) return 'Its entries can be changed: the trigger audit_trail_keep is missing or switched off.';
  return may_change ? `Role ${role} of the processes may change its entries, or drop it.` : undefined;
}
