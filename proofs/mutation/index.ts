import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { table } from '../../src/bench/report';
import { repositoryRoot } from '../../src/stack/files';
import type { Proof, ProofInput, ProofOutcome } from '../proof';
import { atOnce } from '../support/at-once';

/** The share of changes that the tests have to notice, in percent. */
const SCORE_LEAST = 90;
/** Random texts of a test: each runs hundreds of times here. */
const RANDOM_TEXTS = 500;
const FOLDER = path.join('.data', 'mutation');
const MUTATED = path.join('src', 'domain');
/** The files are divided among the seeds: each part can be run by itself. */
const PARTS = [1, 2, 3, 4];
/** Runs of Stryker beside each other: each uses one core. */
const RUNS_AT_ONCE = 2;

/** Random changes of the decisions: a test has to fail for nearly each. */
export const mutation: Proof = {
  name: 'mutation',
  title: `At least ${SCORE_LEAST} % of the changes that Stryker makes in \`src/domain\`, one at a time, make a test fail.`,
  not_proved: [
    'Workflows, activities, API and SQL are not changed at random: their tests need servers, and thousands of runs would take days. Known bugs of theirs are patches of the proof `mutants`.',
    'Tables and constants that are made when their file is loaded, such as the table of moves: a change of one needs a run of all tests.',
    'Two mistakes at once, and code that is missing.',
    'Changes whose tests do not end count as noticed. On a busy machine these may be others than loops without an end.',
    `Changes that only long random tests notice: they run with ${RANDOM_TEXTS} texts instead of 100,000.`,
    'Changes that only make the reading of a long text slow: the tests of these times do not run.',
  ],
  seeds: PARTS,
  in_ci: false,
  run,
};

/** Changes of one file: how many, and what became of them. */
interface FileScore {
  file: string;
  changes: number;
  noticed: number;
  /** Of the noticed ones, those whose tests did not end: a loop without an end, or a machine that was busy. */
  timed_out: number;
  /** `12:5 ConditionalExpression: true`. */
  survived: string[];
}

async function run({ seed, single, say }: ProofInput): Promise<ProofOutcome> {
  const root = repositoryRoot();
  const mutated = single?.split(',') ?? filesOfPart(root, seed);
  const folder = path.join(FOLDER, String(seed));
  rmSync(path.join(root, folder), { recursive: true, force: true });
  const changes = await changesOf(root, folder, mutated, say);
  const files = mutated.map((file) => scoreOf(file, changes));
  for (const { file, survived } of files) for (const change of survived) say(`survived: ${file}:${change}`);
  const total = sum(files, ({ changes: of_file }) => of_file);
  const noticed = sum(files, (one) => one.noticed);
  const score = percent(noticed, total);
  return {
    counts: { changes: total, noticed, 'by time-out': sum(files, ({ timed_out }) => timed_out) },
    violations:
      score >= SCORE_LEAST ? [] : [`${score.toFixed(1)} % of the changes were noticed, ${SCORE_LEAST} % is the least`],
    details: [
      `Score: ${score.toFixed(1)} %.`,
      table(
        ['file', 'changes', 'noticed', 'survived', 'score in %'],
        files.map(({ file, changes: of_file, noticed: in_file, survived }) => [
          file,
          String(of_file),
          String(in_file),
          String(survived.length),
          percent(in_file, of_file).toFixed(1),
        ]),
      ),
    ].join('\n\n'),
  };
}

/** The files of one part, in the order of their names; the parts get them in turn. */
function filesOfPart(root: string, part: number): string[] {
  const names = readdirSync(path.join(root, MUTATED), { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => name.endsWith('.ts')).toSorted((one, other) => one.localeCompare(other, 'en'));
  return files
    .filter((_, index) => index % PARTS.length === (part - 1) % PARTS.length)
    .map((name) => path.join(MUTATED, name));
}

/** A change of a file, as a Stryker run has left it. */
interface Change {
  file: string;
  mutatorName: string;
  replacement: string | undefined;
  status: string;
  location: Record<'start' | 'end', { line: number; column: number }>;
}

const hasSurvived = ({ status }: Change) => ['Survived', 'NoCoverage'].includes(status);
/** The same change in two runs. */
const keyOf = ({ file, mutatorName, replacement, location }: Change) =>
  JSON.stringify([file, mutatorName, replacement, location]);

/**
 * All changes of the files, tried with the tests of the file's own name, which are loaded in an instant. Where these notice
 * too few, what they leave is tried again with the tests of all files.
 */
async function changesOf(root: string, folder: string, files: readonly string[], say: ProofInput['say']) {
  const changes = new Map<string, Change>();
  const keep = (found: readonly Change[]) => found.forEach((change) => changes.set(keyOf(change), change));
  await atOnce(RUNS_AT_ONCE, files, async (file) => {
    const name = path.relative(MUTATED, file).replace(/\.ts$/, '');
    const hasTests = existsSync(path.join(root, 'test', MUTATED, `${name}.test.ts`));
    const found = await runStryker(root, path.join(folder, name), {
      mutate: [file],
      ...(hasTests && { tests_of: name }),
    });
    keep(found);
    say(`${file}: ${found.length} changes, ${found.filter(hasSurvived).length} not noticed by its own tests`);
  });
  const few = files.filter((file) => scoreIn(scoreOf(file, [...changes.values()])) < SCORE_LEAST);
  const left = [...changes.values()].filter((change) => few.includes(change.file) && hasSurvived(change)).map(placeOf);
  const parts = Array.from({ length: RUNS_AT_ONCE }, (_, part) => left.filter((__, n) => n % RUNS_AT_ONCE === part));
  await atOnce(RUNS_AT_ONCE, [...parts.entries()], async ([part, mutate]) => {
    if (mutate.length === 0) return;
    // A place has further changes within it, which are known.
    const found = await runStryker(root, path.join(folder, `left-${part}`), { mutate, tests: 'related' });
    keep(found.filter((change) => hasSurvived(changes.get(keyOf(change))!)));
  });
  return [...changes.values()];
}

/** A part of a file as Stryker takes it: lines count from 1, columns from 0. */
const placeOf = ({ file, location: { start, end } }: Change) =>
  `${file}:${start.line}:${start.column - 1}-${end.line}:${end.column - 1}`;

/**
 * Runs Stryker to its end: changes these files or parts, and runs the tests of one file, those that are related, or all.
 * Throws when it cannot run the tests. Changes that are left out on purpose, or that do not run, are not among the result.
 */
async function runStryker(
  root: string,
  folder: string,
  { mutate, tests_of, tests }: { mutate: readonly string[]; tests_of?: string; tests?: 'related' },
): Promise<Change[]> {
  const program = path.join(root, 'node_modules', '.bin', 'stryker');
  const stryker = spawn(program, ['run', 'proofs/mutation/stryker.config.mjs'], {
    cwd: root,
    env: {
      ...process.env,
      RANDOM_TEXTS: String(RANDOM_TEXTS),
      MUTATE: mutate.join(','),
      REPORT: folder,
      TESTS_OF: tests_of,
      TESTS: tests,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await new Promise<void>((resolve, reject) => {
    stryker.once('error', reject);
    stryker.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`Stryker ended with code ${code}`))));
  });
  const report = JSON.parse(readFileSync(path.join(root, folder, 'report.json'), 'utf8')) as {
    files: Record<string, { mutants: Omit<Change, 'file'>[] }>;
  };
  return Object.entries(report.files).flatMap(([file, { mutants }]) =>
    mutants
      .map(({ mutatorName, replacement, status, location }) => ({ file, mutatorName, replacement, status, location }))
      .filter((change) => hasSurvived(change) || isNoticed(change)),
  );
}

const isNoticed = ({ status }: Change) => ['Killed', 'Timeout'].includes(status);

function scoreOf(file: string, all: readonly Change[]): FileScore {
  const changes = all.filter((change) => change.file === file);
  return {
    file,
    changes: changes.length,
    noticed: changes.filter(isNoticed).length,
    timed_out: changes.filter(({ status }) => status === 'Timeout').length,
    survived: changes.filter(hasSurvived).map(({ mutatorName, replacement = '', location: { start } }) => {
      return `${start.line}:${start.column} ${mutatorName}: ${replacement.split('\n')[0]}`;
    }),
  };
}

const sum = (files: readonly FileScore[], of: (file: FileScore) => number) =>
  files.reduce((total, file) => total + of(file), 0);
const scoreIn = ({ noticed, changes }: FileScore) => percent(noticed, changes);
const percent = (part: number, whole: number) => (whole === 0 ? 100 : (100 * part) / whole);
