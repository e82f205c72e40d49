import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { table } from '../../src/bench/report';
import { repositoryRoot } from '../../src/stack/files';
import type { Proof, ProofInput, ProofOutcome } from '../proof';

/** The share of changes that the tests have to notice, in percent. */
const SCORE_LEAST = 90;
/** Random texts of a test: each runs hundreds of times here. */
const RANDOM_TEXTS = 500;
const FOLDER = path.join('.data', 'mutation');
const MUTATED = path.join('src', 'domain');
/** The files are divided among the seeds: each part can be run by itself. */
const PARTS = [1, 2, 3, 4];

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
  mkdirSync(path.join(root, FOLDER), { recursive: true });
  const mutated = single?.split(',') ?? filesOfPart(root, seed);
  await runStryker(root, mutated, say);
  const report = JSON.parse(readFileSync(path.join(root, FOLDER, 'report.json'), 'utf8')) as StrykerReport;
  const files = scoresOf(report).filter(({ file }) => mutated.includes(file));
  for (const { file, survived } of files) for (const change of survived) say(`survived: ${file}:${change}`);
  const changes = sum(files, ({ changes: of_file }) => of_file);
  const noticed = sum(files, (one) => one.noticed);
  const score = percent(noticed, changes);
  return {
    counts: { changes, noticed, 'by time-out': sum(files, ({ timed_out }) => timed_out) },
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

/** Runs Stryker on these files to its end. Throws when it cannot run the tests. */
async function runStryker(root: string, files: readonly string[], say: ProofInput['say']): Promise<void> {
  const program = path.join(root, 'node_modules', '.bin', 'stryker');
  const stryker = spawn(program, ['run', 'proofs/mutation/stryker.config.json', '--mutate', files.join(',')], {
    cwd: root,
    env: { ...process.env, RANDOM_TEXTS: String(RANDOM_TEXTS) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  stryker.stdout.on('data', (part: Buffer) => {
    const line = part.toString('utf8').trim().split('\n').at(-1);
    if (line !== undefined && line !== '') say(line);
  });
  await new Promise<void>((resolve, reject) => {
    stryker.once('error', reject);
    stryker.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`Stryker ended with code ${code}`))));
  });
}

/** The part of Stryker's report that is read. */
interface StrykerReport {
  files: Record<
    string,
    {
      mutants: {
        mutatorName: string;
        replacement?: string;
        status: string;
        location: { start: { line: number; column: number } };
      }[];
    }
  >;
}

/** The files of the report, by name. Changes that are left out on purpose, or that do not run, do not count. */
function scoresOf({ files }: StrykerReport): FileScore[] {
  return Object.entries(files)
    .toSorted(([one], [other]) => one.localeCompare(other, 'en'))
    .map(([file, { mutants }]) => {
      const timed_out = mutants.filter(({ status }) => status === 'Timeout').length;
      const noticed = timed_out + mutants.filter(({ status }) => status === 'Killed').length;
      const survived = mutants
        .filter(({ status }) => ['Survived', 'NoCoverage'].includes(status))
        .map(({ mutatorName, replacement = '', location: { start } }) => {
          return `${start.line}:${start.column} ${mutatorName}: ${replacement.split('\n')[0]}`;
        });
      return { file, changes: noticed + survived.length, noticed, timed_out, survived };
    });
}

const sum = (files: readonly FileScore[], of: (file: FileScore) => number) =>
  files.reduce((total, file) => total + of(file), 0);
const percent = (part: number, whole: number) => (whole === 0 ? 100 : (100 * part) / whole);
