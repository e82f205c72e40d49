import { requireSetting, type Config } from '../config';
import type { Database } from '../db/connection';
import { notePayloadKeyUse } from '../db/payload-key-uses';
import { HOUR_MS } from '../domain/period';
import type { Logger } from '../log';
import { parseKeys } from '../secrets';

/** How often a process says that it still encrypts with its key, and how long that holds: for four missed times. */
const EVERY_MS = HOUR_MS / 2;
const LASTS_SECONDS = 2 * 3_600;

/**
 * Says in the record, for as long as the process runs, which key of PAYLOAD_KEYS it encrypts with, so that `doctor`
 * knows which workflows may need a key (rules 22.5). Returns what ends it. Throws when Postgres is unavailable or a key
 * is bad.
 */
export async function announcePayloadKey(config: Config, db: Database, log: Logger): Promise<() => void> {
  const [[key_id]] = parseKeys('PAYLOAD_KEYS', requireSetting(config, 'PAYLOAD_KEYS')) as [[string, Buffer]];
  const announce = () => notePayloadKeyUse(db, key_id, LASTS_SECONDS);
  await announce();
  const timer = setInterval(() => {
    announce().catch((err: unknown) => log.warn({ err, key_id }, 'could not say which payload key is used'));
  }, EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
