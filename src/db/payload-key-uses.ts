import { queryRows, type Database } from './connection';

/** Says that this process encrypts payloads with a key, for so many seconds from now. */
export async function notePayloadKeyUse(db: Database, key_id: string, seconds: number): Promise<void> {
  await queryRows(
    db,
    `insert into payload_key_uses (key_id, used_until) values (:key_id, clock_timestamp() + make_interval(secs => :seconds))
     on conflict (key_id) do update set used_until = greatest(payload_key_uses.used_until, excluded.used_until)`,
    { key_id, seconds },
  );
}

/** The keys that processes have encrypted payloads with, the last one first. `used_until`: none does after it. */
export async function findPayloadKeyUses(db: Database): Promise<{ key_id: string; used_until: string }[]> {
  return await queryRows(
    db,
    `select key_id, to_char(used_until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as used_until
     from payload_key_uses order by payload_key_uses.used_until desc, key_id`,
    {},
  );
}
