import type { Database } from '../../src/db/query';
import { newestRestore } from '../../src/db/backups/restores';
import { ServiceError } from '../../src/errors';
import type { Logger } from '../../src/log';

/** How often a process looks whether a restore is under way. Milliseconds. */
const LOOK_EVERY_MS = 1_000;

/** Refuses what would write while the record is being restored (rules 28.1). */
export class Intake {
  private is_stopped = false;
  /** When the newest restore began, epoch seconds; 0: the record was never restored. */
  restored_at = 0;
  private readonly timer: NodeJS.Timeout;

  private constructor(
    private readonly db: Database,
    private readonly log: Logger,
  ) {
    this.timer = setInterval(() => void this.look(), LOOK_EVERY_MS).unref();
  }

  /** Looks for a restore once, then every second. */
  static async open(db: Database, log: Logger): Promise<Intake> {
    const intake = new Intake(db, log);
    await intake.look();
    return intake;
  }

  /** Throws ServiceUnavailable while a restore is under way. */
  requireOpen(): void {
    if (!this.is_stopped) return;
    throw new ServiceError(
      'ServiceUnavailable',
      'The service is being restored. This request stored and charged nothing. Orders of earlier requests may be ' +
        'missing until that has ended: list the orders then, before you repeat a request without an Idempotency-Key.',
    );
  }

  close(): void {
    clearInterval(this.timer);
  }

  private async look(): Promise<void> {
    let restore: Awaited<ReturnType<typeof newestRestore>>;
    try {
      restore = await newestRestore(this.db);
    } catch {
      // What was known holds: Postgres may accept writes again before the next look.
      return;
    }
    this.restored_at = restore === undefined ? 0 : Math.floor(Date.parse(restore.began) / 1_000);
    const is_open = restore?.is_open === true;
    if (this.is_stopped === is_open) return;
    this.is_stopped = is_open;
    this.log.warn({ restore_id: restore?.id }, this.is_stopped ? 'a restore is under way' : 'the restore has ended');
  }
}
