import fc from 'fast-check';
import type { ProofInput } from '../../proof';
import { AMOUNTS } from './amounts';
import { DURATIONS } from './durations';
import { HOSTILE, slowParsers } from './hostile';
import { JSON_TEXTS } from './json';
import { QUERIES } from './queries';

/** Cases of each property. */
const CASES = { ci: 5_000, full: 100_000 };

/** Every property of the parsers with generated values, then texts that are meant to keep them busy. */
export function proveParsers({ seed, size, say }: ProofInput): {
  counts: Record<string, number>;
  violations: string[];
} {
  const properties = [...DURATIONS, ...AMOUNTS, ...QUERIES, ...JSON_TEXTS];
  const violations: string[] = [];
  // The stacks of so many refusals would take most of the time.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  for (const { name, property } of properties) {
    const began = performance.now();
    const details = fc.check(property, { seed, numRuns: CASES[size] });
    if (details.failed) violations.push(`${name}: ${fc.defaultReportMessage(details) ?? ''} (case parsers)`);
    say(`${name}: ${details.numRuns} cases in ${Math.round(performance.now() - began)} ms`);
  }
  Error.stackTraceLimit = stackTraceLimit;
  violations.push(...slowParsers().map((slow) => `parsers, time: ${slow} (case parsers)`));
  return {
    counts: { 'cases of parsers': properties.length * CASES[size], 'hostile texts': HOSTILE.length },
    violations,
  };
}
