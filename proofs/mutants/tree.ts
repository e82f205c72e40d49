import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from '../../src/stack/files';
import { runCommand } from '../../src/stack/tools/command';
import type { NamedProof, NamedTest } from './patches';

/** How a test ended. */
export interface TestResult {
  file: string;
  title: string;
  status: 'passed' | 'failed';
  /** What a failed test said. */
  messages: string;
}

/** The servers of a jest run: `own`, started by jest from the tree's code, or none but those that run already. */
export type Servers = 'own' | 'none';

/** A copy of the working tree, in which the source may be changed. */
export class Tree {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'payments-mutants-'));

  constructor() {
    const from = repositoryRoot();
    const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
      cwd: from,
      encoding: 'utf8',
    });
    for (const file of listed.split('\0').filter((name) => name !== '' && existsSync(path.join(from, name)))) {
      mkdirSync(path.dirname(path.join(this.folder, file)), { recursive: true });
      cpSync(path.join(from, file), path.join(this.folder, file));
    }
    for (const folder of ['node_modules', '.tools']) {
      symlinkSync(path.join(from, folder), path.join(this.folder, folder));
    }
  }

  /** Compiles it. Throws with the first error of the compiler. */
  async build(): Promise<void> {
    const fresh = !existsSync(path.join(this.folder, 'dist'));
    await (fresh
      ? this.run('npm', ['run', '--silent', 'build'])
      : this.run('npx', ['tsc', '-p', 'tsconfig.build.json']));
  }

  /** Runs these tests, and perhaps others of the files. Throws where a file cannot be loaded or jest does not end. */
  async test(tests: readonly NamedTest[], servers: Servers): Promise<TestResult[]> {
    const report = path.join(this.folder, 'report.json');
    rmSync(report, { force: true });
    const files = [...new Set(tests.map(({ file }) => file))];
    const titles = [...new Set(tests.map(({ title }) => title))];
    const config = servers === 'own' ? 'jest.config.js' : 'proofs/support/jest.config.js';
    const options = ['--json', '--outputFile', report, '--colors=false', '--maxWorkers=2', '--ci'];
    const args = ['--config', config, ...options, '-t', titles.join('|'), '--runTestsByPath', ...files];
    const failure = await this.run('npx', ['jest', ...args]).then(
      () => undefined,
      (error: unknown) => error as Error,
    );
    // Jest fails where a test fails, and then has written its report.
    if (!existsSync(report)) throw failure ?? new Error('jest wrote no report');
    return this.read(report);
  }

  /** Runs the part of the proof for CI and returns its violations. Throws where it does not compile or end. */
  async prove({ proof, seed }: NamedProof): Promise<string[]> {
    await this.run('npx', ['tsc', '-p', 'tsconfig.proofs.json']);
    // Beside other work a worker that bundles its workflows first may not be ready in time.
    await this.run('node', ['dist/src/main/bundle.js']);
    const args = ['dist/proofs/run.js', '--only', proof, '--size', 'ci', '--seed', seed];
    const git = ['rev-parse', '--absolute-git-dir'];
    const GIT_DIR = execFileSync('git', git, { cwd: repositoryRoot(), encoding: 'utf8' }).trim();
    // The proof names the commit. The tree is no git repository, and git must not write what it sees in it.
    const env = { ...process.env, GIT_DIR, GIT_OPTIONAL_LOCKS: '0' };
    // It fails where there are violations, and then has printed their number.
    const { stderr } = await promisify(execFile)('node', args, { cwd: this.folder, env, timeout: 20 * 60_000 }).catch(
      (error: unknown) => error as { stderr: string },
    );
    if (!/: 1 proofs, \d+ violations\n$/.test(stderr)) throw new Error(`${proof} did not end: ${stderr.slice(-300)}`);
    return [...stderr.matchAll(/: VIOLATION: ([^]+?)\nproofs: /g)].map(([, violation]) => violation!);
  }

  /** Removes it. */
  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async run(command: string, args: readonly string[]): Promise<void> {
    await runCommand(command, args, { cwd: this.folder, timeout_ms: 10 * 60_000 });
  }

  private read(report: string): TestResult[] {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as JestReport;
    return testResults.flatMap(({ name, message, assertionResults }) => {
      const file = path.relative(this.folder, name);
      if (assertionResults.length === 0) throw new Error(`${file} could not be loaded: ${message}`);
      return assertionResults.flatMap(({ fullName: title, status, failureMessages }) =>
        status === 'passed' || status === 'failed'
          ? [{ file, title, status, messages: failureMessages.join('\n') }]
          : [],
      );
    });
  }
}

/** The part of jest's report that is read. */
interface JestReport {
  testResults: {
    name: string;
    message: string;
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[];
  }[];
}
