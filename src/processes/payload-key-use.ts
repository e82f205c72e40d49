import { requireSetting, type Config } from '../config';
import type { Database } from '../db/query';
import { notePayloadKeyUse } from '../db/builds/payload-key-uses';
import { HOUR_MS } from '../domain/period';
import type { Logger } from '../log';
import { Loop } from '../loop';
import { parseKeys } from '../secrets';

/** How often a process says that it still encrypts with its key, and how long that holds: for three missed times. */
const EVERY_MS = HOUR_MS / 2;
const LASTS_SECONDS = 2 * 3_600;
/** Pause after Postgres rejected the write. Milliseconds. */
const AGAIN_MS = 10_000;

/** Records once which payload key this process encrypts with. Throws if Postgres rejects the write. */
export async function notePayloadKey(config: Config, db: Database): Promise<void> {
  const key_ids = parseKeys('PAYLOAD_KEYS', requireSetting(config, 'PAYLOAD_KEYS')).map(([id]) => id);
  await notePayloadKeyUse(db, key_ids, LASTS_SECONDS);
}

/**
 * Says for as long as the process runs which of its PAYLOAD_KEYS it encrypts with, so that `doctor` knows which
 * workflows may need a key (rules 22.5). A process that starts while Postgres is read-only says so once it can. Returns
 * what ends it.
 */
export async function announcePayloadKey(config: Config, db: Database, log: Logger): Promise<() => Promise<void>> {
  const announce = async () => {
    try {
      await notePayloadKey(config, db);
      return EVERY_MS;
    } catch (err) {
      log.warn({ err }, 'could not record which payload key is used');
      return AGAIN_MS;
    }
  };
  const loop = new Loop(announce);
  loop.start(await announce());
  return () => loop.stop();
}
