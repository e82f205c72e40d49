import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { inspect, parseArgs } from 'node:util';
import { machine } from '../src/bench/report';
import { repositoryRoot } from '../src/stack/files';
import { forgetGivenServers } from '../src/stack/launch';
import { withFigures } from './promises';
import type { Proof, Size } from './proof';
import { PROOFS } from './proofs';
import { readResults, reportText, writeResult, type ProofResult, type Run } from './report';

/**
 * `npm run proofs`: runs all proofs in full and writes PROOFS.md and the figures of docs/promises.md. `--only
 * crash,faults` runs these, `--seed 7` one seed, `--case 123` one case of it, `--size ci` the part that CI runs.
 * `--report` runs nothing and writes both pages again. They take only full runs; seeds may be run one by one. A
 * proof that throws counts as a violation, and the others still run. Ends with exit code 1 if a promise is broken.
 */
async function main(): Promise<void> {
  forgetGivenServers();
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      seed: { type: 'string' },
      case: { type: 'string' },
      size: { type: 'string', default: 'full' },
      report: { type: 'boolean', default: false },
    },
  });
  if (values.report) return writePages();
  const size = values.size as Size;
  if (size !== 'ci' && size !== 'full') throw new Error('--size is ci or full');
  const seed = values.seed === undefined ? undefined : Number(values.seed);
  if (seed !== undefined && !Number.isSafeInteger(seed)) throw new Error('--seed is a whole number');
  const names = values.only?.split(',');
  const unknown = names?.filter((name) => !PROOFS.some((proof) => proof.name === name)) ?? [];
  if (unknown.length > 0) {
    throw new Error(`no proof is named ${unknown.join(', ')}: ${PROOFS.map(({ name }) => name).join(', ')}`);
  }
  const chosen = PROOFS.filter(({ name, in_ci }) => names?.includes(name) ?? (size === 'full' || in_ci));
  let broken = 0;
  for (const proof of chosen) {
    const seeds = seed === undefined ? (size === 'ci' ? proof.seeds.slice(0, 1) : proof.seeds) : [seed];
    const result = await runProof(proof, { seeds, size, single: values.case }).catch((error: unknown) => {
      say(`${proof.name}: VIOLATION: it ended with ${inspect(error)}`);
      return undefined;
    });
    if (result === undefined) broken += 1;
    const violations = result?.runs.flatMap((run) => run.violations) ?? [];
    broken += violations.length;
    for (const violation of violations) say(`${proof.name}: VIOLATION: ${violation}`);
    const is_of_proof = seed === undefined || proof.seeds.includes(seed);
    if (result !== undefined && size === 'full' && is_of_proof && values.case === undefined) {
      writeResult(result);
      writePages();
    }
  }
  say(`${chosen.length} proofs, ${broken} violations`);
  if (broken > 0) process.exitCode = 1;
}

async function runProof(
  proof: Proof,
  { seeds, size, single }: { seeds: readonly number[]; size: Size; single: string | undefined },
): Promise<ProofResult> {
  const runs: Run[] = [];
  for (const seed of seeds) {
    say(`${proof.name}, seed ${seed}: ${proof.title}`);
    const of = { commit: commit(), machine: machine() };
    const began = performance.now();
    const outcome = await proof.run({ seed, size, single, say: (line) => say(`${proof.name}: ${line}`) });
    const seconds = Math.round((performance.now() - began) / 1_000);
    runs.push({ seed, ...of, seconds, ...outcome });
    say(
      `${proof.name}, seed ${seed}: ${outcome.violations.length} violations in ${seconds} s ${counted(outcome.counts)}`,
    );
  }
  return { proof: proof.name, runs };
}

/** PROOFS.md, and the figures of docs/promises.md. */
function writePages(): void {
  const results = readResults();
  const promises = path.join(repositoryRoot(), 'docs', 'promises.md');
  writeFileSync(path.join(repositoryRoot(), 'PROOFS.md'), reportText(PROOFS, results));
  writeFileSync(promises, withFigures(readFileSync(promises, 'utf8'), results));
}

const counted = (counts: Record<string, number>) =>
  Object.entries(counts)
    .map(([what, count]) => `${count} ${what}`)
    .join(', ');

/** The commit that is checked out, `+` if files differ from it. */
function commit(): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repositoryRoot(), encoding: 'utf8' }).trim();
  return (
    git('rev-parse', '--short', 'HEAD') +
    (git('status', '--porcelain', '--', ':!proofs/results', ':!PROOFS.md', ':!docs/promises.md') === '' ? '' : '+')
  );
}

/** With the seconds since the start. */
function say(text: string): void {
  process.stderr.write(`proofs: ${(performance.now() / 1_000).toFixed(0)} s: ${text}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`proofs: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
