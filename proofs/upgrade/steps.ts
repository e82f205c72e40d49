import { setTimeout as sleep } from 'node:timers/promises';
import type { ProofInput } from '../proof';

/** How long the load goes on after each step. Milliseconds. */
const BETWEEN_MS = { ci: 5_000, full: 20_000 };

/** The steps of an upgrade under load. */
export class Steps {
  /** The name of the last step. */
  current = 'the start';

  constructor(private readonly input: Pick<ProofInput, 'size' | 'say'>) {}

  /** Does one step, and lets the load go on for a while. */
  async take(name: string, work: () => Promise<unknown> = () => Promise.resolve()): Promise<void> {
    this.current = name;
    this.input.say(name);
    await work();
    await sleep(BETWEEN_MS[this.input.size]);
  }
}
