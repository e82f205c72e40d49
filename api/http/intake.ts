import type { Database } from '../../src/db/query';
import { newestRestore } from '../../src/db/backups/restores';
import { ServiceError } from '../../src/errors';
import type { Logger } from '../../src/log';
import { Loop } from '../../src/loop';
import { withTimeLimit } from '../../src/time-limit';

/** How often a process looks whether a restore is under way. Milliseconds. */
const LOOK_EVERY_MS = 1_000;
/** How long a look may take: a connection may lead to a Postgres that is gone. Milliseconds. */
const LOOK_WITHIN_MS = 2_000;

/** Refuses what would write while the record is being restored (rules 28.1). */
export class Intake {
  /** Absent before Postgres has first said whether a restore is under way. */
  private is_stopped: boolean | undefined;
  /** When the newest restore began, epoch seconds; 0: the record was never restored. */
  restored_at = 0;
  private readonly loop = new Loop(() => this.look());

  private constructor(
    private readonly db: Database,
    private readonly log: Logger,
  ) {}

  /** Looks for a restore once, then every second. Without an answer nothing is accepted until there is one. */
  static async open(db: Database, log: Logger): Promise<Intake> {
    const intake = new Intake(db, log);
    await intake.look();
    if (intake.is_stopped === undefined) {
      log.warn('nothing is accepted: Postgres has not said yet whether a restore is under way');
    }
    intake.loop.start(LOOK_EVERY_MS);
    return intake;
  }

  /** Throws ServiceUnavailable while a restore is under way, or may be. */
  requireOpen(): void {
    if (this.is_stopped === false) return;
    if (this.is_stopped === undefined) {
      throw new ServiceError('ServiceUnavailable', 'The service is starting. This request stored and charged nothing.');
    }
    throw new ServiceError(
      'ServiceUnavailable',
      'The service is being restored. This request stored and charged nothing. Orders of earlier requests may be ' +
        'missing until that has ended: list the orders then, before you repeat a request without an Idempotency-Key.',
    );
  }

  /** A look that is under way ends by itself. */
  close(): void {
    void this.loop.stop();
  }

  /**
   * Looks once, and returns the pause until the next look. Without an answer in time what was known holds: Postgres may
   * accept writes again before the next look. A later answer is not used: it may follow that of the next look.
   */
  private async look(): Promise<number> {
    await withTimeLimit(LOOK_WITHIN_MS, newestRestore(this.db)).then(
      (restore) => this.note(restore),
      () => undefined,
    );
    return LOOK_EVERY_MS;
  }

  private note(restore: Awaited<ReturnType<typeof newestRestore>>): void {
    this.restored_at = restore === undefined ? 0 : Math.floor(Date.parse(restore.began) / 1_000);
    const was_stopped = this.is_stopped === true;
    this.is_stopped = restore?.is_open === true;
    if (this.is_stopped === was_stopped) return;
    this.log.warn({ restore_id: restore?.id }, this.is_stopped ? 'a restore is under way' : 'the restore has ended');
  }
}
