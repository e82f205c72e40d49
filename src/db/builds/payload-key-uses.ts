import { queryRows, type Database } from '../query';

/**
 * Records that a process encrypts payloads with the first of these keys for `seconds` more. Another one of which nothing
 * is known counts as used until now.
 */
export async function notePayloadKeyUse(db: Database, key_ids: readonly string[], seconds: number): Promise<void> {
  await queryRows(
    db,
    `insert into payload_key_uses (key_id, used_until)
     select key_id, clock_timestamp() + case when n = 1 then make_interval(secs => :seconds) else interval '0' end
     from unnest(:key_ids::text[]) with ordinality as k (key_id, n)
     on conflict (key_id) do update set used_until = excluded.used_until
     where excluded.key_id = :first and payload_key_uses.used_until < excluded.used_until`,
    { key_ids, first: key_ids[0], seconds },
  );
}

/** What is known of a key of PAYLOAD_KEYS. */
export interface PayloadKeyUse {
  key_id: string;
  /** Whether a process may encrypt with it now. */
  is_in_use: boolean;
  /** Otherwise none has since this instant, ISO 8601. */
  used_until: string;
}

/** The keys that processes have, or had, the last one in use first. */
export async function findPayloadKeyUses(db: Database): Promise<PayloadKeyUse[]> {
  return await queryRows(
    db,
    `select key_id, used_until > clock_timestamp() as is_in_use,
       to_char(used_until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as used_until
     from payload_key_uses order by payload_key_uses.used_until desc, key_id`,
  );
}

/** After a restore nothing is known of the time that was lost: every key may have been used until now. */
export async function extendPayloadKeyUses(db: Database): Promise<void> {
  await queryRows(db, 'update payload_key_uses set used_until = greatest(used_until, clock_timestamp())');
}
