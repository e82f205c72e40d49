import { setTimeout as sleep } from 'node:timers/promises';
import { requireSetting, type Config } from '../config';
import type { Database } from '../db/connection';
import { notePayloadKeyUse } from '../db/payload-key-uses';
import { HOUR_MS } from '../domain/period';
import type { Logger } from '../log';
import { parseKeys } from '../secrets';

/** How often a process says that it still encrypts with its key, and how long that holds: for three missed times. */
const EVERY_MS = HOUR_MS / 2;
const LASTS_SECONDS = 2 * 3_600;
/** After Postgres did not take it. Milliseconds. */
const AGAIN_MS = 10_000;

/**
 * Says in the record, for as long as the process runs, which key of PAYLOAD_KEYS it encrypts with, so that `doctor`
 * knows which workflows may need a key (rules 22.5). A process that starts while Postgres is read-only says so once it
 * can. Returns what ends it. Throws on a bad key.
 */
export async function announcePayloadKey(config: Config, db: Database, log: Logger): Promise<() => Promise<void>> {
  const [[key_id]] = parseKeys('PAYLOAD_KEYS', requireSetting(config, 'PAYLOAD_KEYS')) as [[string, Buffer]];
  const stopping = new AbortController();
  const { signal } = stopping;
  /** How long to wait until it is said again. Milliseconds. */
  const announce = async () => {
    try {
      await notePayloadKeyUse(db, key_id, LASTS_SECONDS);
      return EVERY_MS;
    } catch (err) {
      log.warn({ err, key_id }, 'could not record which payload key is used');
      return AGAIN_MS;
    }
  };
  const run = async (first_ms: number) => {
    for (let pause_ms = first_ms; ; pause_ms = await announce()) {
      await sleep(pause_ms, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
    }
  };
  const running = run(await announce());
  return async () => {
    stopping.abort();
    await running;
  };
}
