import { setTimeout as sleep } from 'node:timers/promises';

/** Work that a process repeats in the background, one round at a time, until it is stopped. */
export class Loop {
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();

  /** `round` handles its errors, and returns the pause until the next round in milliseconds. */
  constructor(private readonly round: () => Promise<number>) {}

  /** Begins the first round, at once or after a pause in milliseconds. */
  start(pause_ms = 0): void {
    this.running = this.run(pause_ms);
  }

  /** No further round begins. A long one may end early. */
  get isStopping(): boolean {
    return this.signal.aborted;
  }

  /** Aborted when it is stopped. */
  get signal(): AbortSignal {
    return this.stopping.signal;
  }

  /** Resolves when the current round has ended. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async run(first_pause_ms: number): Promise<void> {
    const { signal } = this.stopping;
    for (let pause_ms = first_pause_ms; ; pause_ms = await this.round()) {
      if (pause_ms > 0) await sleep(pause_ms, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
    }
  }
}
