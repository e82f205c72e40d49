import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { table } from '../src/bench/report';
import { repositoryRoot } from '../src/stack/files';
import { countsInWords, sumsOf, type Proof, type ProofOutcome } from './proof';

/** One seed of a proof. */
export interface Run extends ProofOutcome {
  seed: number;
  /** What was checked out, `+` if files differed from it. */
  commit: string;
  machine: string;
  seconds: number;
}

/** The last full run of each seed of a proof: a file of `proofs/results`. */
export interface ProofResult {
  proof: string;
  runs: Run[];
}

const folder = () => path.join(repositoryRoot(), 'proofs', 'results');

/** Writes what full runs have shown, each instead of the last one of its seed. Other seeds stay. */
export function writeResult({ proof, runs }: ProofResult): void {
  mkdirSync(folder(), { recursive: true });
  const before = readResults().find((result) => result.proof === proof)?.runs ?? [];
  const kept = before.filter(({ seed }) => runs.every((run) => run.seed !== seed));
  const result: ProofResult = { proof, runs: [...kept, ...runs].toSorted((a, b) => a.seed - b.seed) };
  writeFileSync(path.join(folder(), `${proof}.json`), `${JSON.stringify(result, null, 2)}\n`);
}

export function readResults(): ProofResult[] {
  return readdirSync(folder())
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(path.join(folder(), name), 'utf8')) as ProofResult);
}

const distinct = (texts: readonly string[]) => [...new Set(texts)].join(', ');
const isPart = ({ seeds }: Proof, runs: readonly Run[]) => runs.length > 0 && runs.length < seeds.length;

/** PROOFS.md. */
export function reportText(proofs: readonly Proof[], results: readonly ProofResult[]): string {
  const resultOf = ({ name }: Proof) => results.find((result) => result.proof === name);
  const rows = proofs.map((proof) => {
    const { runs = [] } = resultOf(proof) ?? {};
    const violations = String(runs.flatMap((run) => run.violations).length);
    return [
      `[${proof.name}](#${proof.name})`,
      runs.length === 0 ? 'not run yet' : distinct(runs.map(({ commit }) => commit)),
      runs.map(({ seed }) => seed).join(', ') + (isPart(proof, runs) ? ` of ${proof.seeds.join(', ')}` : ''),
      countsInWords(sumsOf(runs.map(({ counts }) => counts))),
      runs.length === 0 ? '' : violations,
    ];
  });
  const sections = proofs.map((proof) => {
    const result = resultOf(proof);
    const injections = Object.entries(sumsOf((result?.runs ?? []).map((run) => run.injections ?? {})));
    return [
      `## ${proof.name}`,
      `${proof.title}`,
      `Run it: \`npm run proofs -- --only ${proof.name}\`.`,
      ...(result === undefined
        ? ['No full run yet.']
        : [
            `Machine: ${distinct(result.runs.map(({ machine }) => machine))}.`,
            table(
              ['seed', 'commit', 'seconds', 'counts', 'violations'],
              result.runs.map((run) => [
                String(run.seed),
                run.commit,
                String(run.seconds),
                countsInWords(run.counts),
                String(run.violations.length),
              ]),
            ),
          ]),
      ...(injections.length === 0
        ? []
        : [
            table(
              ['injected fault', 'times'],
              injections.map(([what, count]) => [what, count.toLocaleString('en')]),
            ),
          ]),
      ...(result?.runs.flatMap(({ details }) => details ?? []).slice(0, 1) ?? []),
      ...(result?.runs.flatMap(({ violations }) => violations).map((violation) => `- Violation: ${violation}`) ?? []),
      'Not proved:',
      proof.not_proved.map((what) => `- ${what}`).join('\n'),
    ].join('\n\n');
  });
  return (
    [
      '# Proofs',
      'What the service promises, tried on the real servers with faults, crashes and random schedules. [proofs/README.md](proofs/README.md) explains how each proof works, [promises.md](docs/promises.md) which promise it shows.',
      'Written by `npm run proofs`; each row is the last full run of that proof, or of each of its seeds. A `+` behind a commit means that files differed from it.',
      table(['proof', 'commit', 'seeds', 'counts', 'violations'], rows),
      ...sections,
      '',
    ]
      .join('\n\n')
      .trimEnd() + '\n'
  );
}
