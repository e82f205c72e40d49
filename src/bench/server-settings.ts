import { escapeLiteral } from 'pg';
import type { Database } from '../db/query';

/**
 * Changes settings of a whole Postgres server, by their names, and has it load them; `null` takes a change back. Those
 * that need a restart wait for it. `superuser`: a connection as one.
 */
export async function setServerSettings(
  superuser: Database,
  settings: Readonly<Record<string, string | null>>,
): Promise<void> {
  for (const [name, value] of Object.entries(settings)) {
    const change = value === null ? 'reset ??' : `set ?? = ${escapeLiteral(value)}`;
    await superuser.raw(`alter system ${change}`, [name]);
  }
  await superuser.raw('select pg_reload_conf()');
}
