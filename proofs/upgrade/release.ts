import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type * as Launch from '../../src/stack/launch';
import { readFileIfExists, repositoryRoot } from '../../src/stack/files';
import { runCommand } from '../../src/stack/tools/command';

/** A version of the service, compiled. */
export interface CompiledRelease {
  /** The short hash of its commit, or `head`. */
  name: string;
  /** Its checkout, with `dist`. */
  folder: string;
}

const BUILD_MS = 9 * 60_000;
const git = (...args: string[]) => execFileSync('git', args, { cwd: repositoryRoot(), encoding: 'utf8' }).trim();

/** The version of this checkout. */
export const HEAD: CompiledRelease = { name: 'head', folder: repositoryRoot() };

/** The commit that landed before this one: where the branch left `main`, or the first parent. */
export function previousCommit(): string {
  try {
    const base = git('merge-base', 'HEAD', 'main');
    if (base !== git('rev-parse', 'HEAD')) return base;
  } catch {
    // A clone without a branch of this name.
  }
  return git('rev-parse', 'HEAD^1');
}

/** The last commit with an older schema than this checkout: the parent of the one that added the newest migration. */
export function commitBeforeMigration(): string {
  const added = git('log', '-1', '--diff-filter=A', '--format=%H', '--', 'src/db/migrations');
  return git('rev-parse', `${added}^1`);
}

/** Migrations of a release, such as `004`. */
export const migrationsOf = ({ folder }: CompiledRelease): string[] =>
  readdirSync(path.join(folder, 'dist/src/db/migrations'))
    .filter((file) => /^\d+-.*\.js$/.test(file))
    .map((file) => file.split('-')[0]!)
    .toSorted();

/** The version of its workflows (rules 24.21); `undefined` for a release that does not know versions. */
export function versionOf({ folder }: CompiledRelease): string | undefined {
  const text = readFileIfExists(path.join(folder, 'dist/build.json'));
  return text === undefined ? undefined : (JSON.parse(text) as { version: string }).version;
}

/** Checks a commit out into a temporary folder and compiles it there with the packages of this checkout. */
export async function buildRelease(commit: string): Promise<CompiledRelease> {
  const folder = mkdtempSync(path.join(tmpdir(), 'payments-release-'));
  const release = { name: git('rev-parse', '--short', commit), folder };
  try {
    git('worktree', 'add', '--detach', '--force', folder, commit);
    for (const name of ['node_modules', '.tools']) symlinkSync(path.join(HEAD.folder, name), path.join(folder, name));
    await runCommand('npm', ['run', '--silent', 'build'], { cwd: folder, timeout_ms: BUILD_MS });
    dateBuild(folder, Number(git('log', '-1', '--format=%ct', commit)) * 1_000);
    return release;
  } catch (error) {
    removeRelease(release);
    throw error;
  }
}

/** Makes a build as old as its commit: of two builds the one built last has the leases (rules 24.20). */
function dateBuild(folder: string, built_at: number): void {
  const file = path.join(folder, 'dist/build.json');
  const text = readFileIfExists(file);
  if (text !== undefined) writeFileSync(file, JSON.stringify({ ...(JSON.parse(text) as object), built_at }));
}

export function removeRelease({ folder }: CompiledRelease): void {
  if (existsSync(path.join(folder, '.git'))) git('worktree', 'remove', '--force', folder);
  rmSync(folder, { recursive: true, force: true });
}

/** Its own code to launch a stack: the supervisor, the schema and the other processes are of that release too. */
export function launcherOf({ folder }: CompiledRelease): typeof Launch {
  return createRequire(path.join(folder, 'package.json'))('./dist/src/stack/launch.js') as typeof Launch;
}

/**
 * Entry points of the worker and the API that run one of several releases: the one that `use` has chosen when the
 * process starts.
 */
export class ReleaseSwitch {
  constructor(private readonly folder: string) {}

  /** Arguments of start.js. */
  args(): string[] {
    return (['worker', 'api'] as const).flatMap((program) => {
      const file = path.join(this.folder, `${program}.js`);
      const chosen = JSON.stringify(this.choiceOf(program));
      writeFileSync(
        file,
        `require(require('node:fs').readFileSync(${chosen}, 'utf8') + '/dist/src/main/${program}.js');\n`,
      );
      return [`--${program}`, file];
    });
  }

  use(program: 'worker' | 'api', { folder }: CompiledRelease): void {
    writeFileSync(this.choiceOf(program), folder);
  }

  private choiceOf(program: string): string {
    return path.join(this.folder, `${program}.release`);
  }
}
