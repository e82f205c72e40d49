/** How much a proof does: `ci` in minutes beside the tests, `full` as PROOFS.md reports it. */
export type Size = 'ci' | 'full';

export interface ProofInput {
  /** Every random choice follows from it: the same seed repeats a run. */
  seed: number;
  size: Size;
  /** One case alone, by the number or name that a violation names. Undefined: all cases. */
  single: string | undefined;
  /** Reports progress, a line each. */
  say: (line: string) => void;
}

/** What a run of a proof has seen. */
export interface ProofOutcome {
  /** What was done, by name, such as `orders`. */
  counts: Record<string, number>;
  /** Faults that were injected, by kind. */
  injections?: Record<string, number>;
  /** Each states what differs from the promise and how to repeat it. Empty: the proof passed. */
  violations: string[];
  /** Markdown for PROOFS.md, such as a table. */
  details?: string;
}

/** The sums of counts by their names. */
export function sumsOf(all: readonly Record<string, number>[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const counts of all) for (const [what, count] of Object.entries(counts)) sums[what] = (sums[what] ?? 0) + count;
  return sums;
}

/** Counts as a page shows them: `2,000 orders, 0 illegal`. */
export const countsInWords = (counts: Record<string, number>): string =>
  Object.entries(counts)
    .map(([what, count]) => `${count.toLocaleString('en')} ${what}`)
    .join(', ');

export interface Proof {
  /** For `--only`; the name of its folder. */
  name: string;
  /** What is shown, in one sentence. */
  title: string;
  /** What a passed run does not show. */
  not_proved: readonly string[];
  /** The seeds of a full run, each a run of its own. CI takes the first. */
  seeds: readonly number[];
  /** Whether CI runs it. */
  in_ci: boolean;
  /** Throws only if it cannot run, such as for a missing program. */
  run(input: ProofInput): Promise<ProofOutcome>;
}
