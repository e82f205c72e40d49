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
  const counts = new Map<string, number>();
  for (const [what, count] of runs.flatMap((run) => Object.entries(run.counts))) {
    counts.set(what, (counts.get(what) ?? 0) + count);
  }
  const done = [...counts].map(([what, count]) => `${count.toLocaleString('en')} ${what}`).join(', ');
  const violations = runs.flatMap((run) => run.violations).length;
  return `${done}: ${violations} ${violations === 1 ? 'violation' : 'violations'}`;
}
