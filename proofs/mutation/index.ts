import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { table } from '../../src/bench/report';
import { repositoryRoot } from '../../src/stack/files';
import type { Proof, ProofInput, ProofOutcome } from '../proof';
import { severalAtOnce } from '../../src/domain/several-at-once';

/** The share of changes that the tests have to notice, in percent. */
const SCORE_LEAST = 90;
/** Changes whose tests did not end, in percent: of more, most are not due to loops without an end. */
const TIME_OUTS_MOST = 5;
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
    'What tests of other files, and those of workflows, activities and the API, would notice as well: they do not run.',
    'Tables and constants that are made when their file is loaded, such as the table of moves: a change of one needs a run of all tests.',
    'Two mistakes at once, and code that is missing.',
    'Changes whose tests do not end count as noticed. On a busy machine these may be others than loops without an end.',
    `Changes that only long random tests notice: they run with ${RANDOM_TEXTS} texts instead of 5,000.`,
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
  const timed_out = sum(files, (one) => one.timed_out);
  if (total === 0) throw new Error(`Stryker changed nothing in ${mutated.join(', ')}`);
  return {
    counts: { changes: total, noticed, 'by time-out': timed_out },
    violations: [
      ...(score < SCORE_LEAST
        ? [`${score.toFixed(1)} % of the changes were noticed, ${SCORE_LEAST} % is the least`]
        : []),
      ...(percent(timed_out, total) > TIME_OUTS_MOST
        ? [`the tests of ${timed_out} changes did not end: run it alone, on a machine that is not busy`]
        : []),
    ],
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

/**
 * The files of one part, in the order of their names; the parts get them in turn. Those that decide something have a test
 * of their name (`test/guards/tests-exist.test.ts`).
 */
function filesOfPart(root: string, part: number): string[] {
  const names = readdirSync(path.join(root, MUTATED), { recursive: true, encoding: 'utf8' });
  const files = names
    .filter((name) => name.endsWith('.ts'))
    .filter((name) => existsSync(path.join(root, 'test', MUTATED, name.replace(/\.ts$/, '.test.ts'))))
    .toSorted((one, other) => one.localeCompare(other, 'en'));
  return files
    .filter((_, index) => index % PARTS.length === (part - 1) % PARTS.length)
    .map((name) => path.join(MUTATED, name));
}

/** A change of a file, as a Stryker run has left it. */
interface Change {
  file: string;
  mutatorName: string;
  replacement?: string;
  status: string;
  location: { start: { line: number; column: number } };
}

const isNoticed = ({ status }: Change) => ['Killed', 'Timeout'].includes(status);
const hasSurvived = ({ status }: Change) => ['Survived', 'NoCoverage'].includes(status);

/**
 * All changes of the files, each tried with the tests that are about it: those whose names begin with the same word. The
 * tests of all files would take hours.
 */
async function changesOf(root: string, folder: string, files: readonly string[], say: ProofInput['say']) {
  const changes: Change[] = [];
  const sizeOf = (file: string) => statSync(path.join(root, file)).size;
  // The largest first: otherwise one core waits for it at the end.
  const in_turn = files.toSorted((one, other) => sizeOf(other) - sizeOf(one));
  await severalAtOnce(RUNS_AT_ONCE, in_turn, async (file) => {
    const name = path.relative(MUTATED, file).replace(/\.ts$/, '');
    const found = await runStryker(root, path.join(folder, name), { file, tests: `${name.split('-')[0]}*` });
    changes.push(...found);
    say(`${file}: ${found.length} changes, ${found.filter(hasSurvived).length} not noticed`);
  });
  return changes;
}

/**
 * Runs Stryker to its end: changes one file, and runs the tests of these names. Throws when it cannot run the tests.
 * Changes that are left out on purpose, or that do not run, are not among the result.
 */
async function runStryker(
  root: string,
  folder: string,
  { file, tests }: { file: string; tests: string },
): Promise<Change[]> {
  const program = path.join(root, 'node_modules', '.bin', 'stryker');
  const stryker = spawn(program, ['run', 'proofs/mutation/stryker.config.mjs', '--mutate', file], {
    cwd: root,
    env: { ...process.env, RANDOM_TEXTS: String(RANDOM_TEXTS), REPORT: folder, TESTS: tests },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await new Promise<void>((resolve, reject) => {
    stryker.once('error', reject);
    stryker.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`Stryker ended with code ${code}`))));
  });
  const report = JSON.parse(readFileSync(path.join(root, folder, 'report.json'), 'utf8')) as {
    files: Record<string, { mutants: Omit<Change, 'file'>[] }>;
  };
  const mutants = Object.values(report.files).flatMap((one) => one.mutants);
  return mutants.map((mutant) => ({ file, ...mutant })).filter((change) => hasSurvived(change) || isNoticed(change));
}

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
const percent = (part: number, whole: number) => (whole === 0 ? 100 : (100 * part) / whole);
