import { countsInWords, sumsOf } from './proof';
import type { ProofResult } from './report';

/** The place of a figure in docs/promises.md: the proof's name, and its figure. */
export const FIGURE = /<!-- figure:([\w-]+) -->([^|\n]*?)<!-- \/figure -->/g;

/** The page with the figures of the last full run of each proof. */
export function withFigures(page: string, results: readonly ProofResult[]): string {
  return page.replace(FIGURE, (_whole, name: string) => {
    const result = results.find(({ proof }) => proof === name);
    return `<!-- figure:${name} -->${result === undefined ? 'no full run yet' : figureOf(result)}<!-- /figure -->`;
  });
}

/** What a full run did and found, over all its seeds. */
function figureOf({ runs }: ProofResult): string {
  const done = countsInWords(sumsOf(runs.map(({ counts }) => counts)));
  const violations = runs.flatMap((run) => run.violations).length;
  return `${done}: ${violations} ${violations === 1 ? 'violation' : 'violations'}`;
}
