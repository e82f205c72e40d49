import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../db/connection';
import { releaseLease, renewLease, takeLease, type Lease } from '../db/lease';

/**
 * A lease that is taken whenever nobody has it, and renewed in the background for as long as this process lives. Every
 * time it is taken it has a new holder, so that work begun under one is never taken for work of another.
 */
export class KeptLease {
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private lease: Lease;
  /** By the monotonic clock of this machine; undefined while the lease is not ours. */
  private renewed_at: number | undefined;

  /** `every_ms`: how often it is renewed, and how often it is asked for while somebody else has it. */
  constructor(
    private readonly db: Database,
    private readonly options: { name: string; lasts_ms: number; every_ms: number },
  ) {
    this.lease = this.another();
  }

  start(): void {
    this.running = this.run();
  }

  /** Gives the lease back. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
    await releaseLease(this.db, this.lease).catch(() => undefined);
  }

  /** The name of this process as the holder; `undefined` while it does not have the lease. */
  get holder(): string | undefined {
    const { renewed_at, lease } = this;
    const isHeld = renewed_at !== undefined && performance.now() - renewed_at < lease.lasts_ms;
    return isHeld ? lease.holder : undefined;
  }

  /** Asks the database whether the lease has been the holder's until now. */
  async isStillOf(holder: string): Promise<boolean> {
    return await renewLease(this.db, { ...this.lease, holder });
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      // Without an answer the lease ends by itself.
      await this.renewOrTake().catch(() => undefined);
      await sleep(this.options.every_ms, undefined, { signal }).catch(() => undefined);
    }
  }

  private async renewOrTake(): Promise<void> {
    const began = performance.now();
    if (this.renewed_at !== undefined) {
      if (await renewLease(this.db, this.lease)) {
        this.renewed_at = began;
        return;
      }
      this.renewed_at = undefined;
      this.lease = this.another();
    }
    if ((await takeLease(this.db, this.lease)) !== undefined) this.renewed_at = began;
  }

  private another(): Lease {
    return { name: this.options.name, lasts_ms: this.options.lasts_ms, holder: randomUUID() };
  }
}
