import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../../src/stack/files';

/** A known bug that can be put back: a patch of this folder. */
export interface Mutant {
  /** For `--case`: the digits at the beginning of its name. */
  number: string;
  /** The file's name without its ending. */
  name: string;
  /** What is wrong, and what follows from it. */
  bug: string;
  /** The kind of system that had it. */
  seen_in: string;
  /** The test that has to fail with it. */
  test: NamedTest;
  /** Another proof that should find it in the running service; not run here. */
  also: string | undefined;
}

/** A test by its file, from the repository's folder, and a part of its title. */
export interface NamedTest {
  file: string;
  title: string;
}

const FOLDER = path.join('proofs', 'mutants');
const HEADER =
  /^# bug: (?<bug>.+)\n# seen in: (?<seen_in>.+)\n# proof: npx jest (?<file>\S+) -t '(?<title>[^']+)'\n(?:# also: (?<also>.+)\n)?--- /;

/** All mutants, by number. Throws for a patch whose header is not complete. */
export function readMutants(): Mutant[] {
  const folder = path.join(repositoryRoot(), FOLDER);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.patch'))
    .toSorted()
    .map((file) => mutantOf(file, readFileSync(path.join(folder, file), 'utf8')));
}

function mutantOf(file: string, text: string): Mutant {
  const { bug, seen_in, file: test_file, title, also } = HEADER.exec(text)?.groups ?? {};
  const number = /^\d+/.exec(file)?.[0];
  if (!number || !bug || !seen_in || !test_file || !title) throw new Error(`${FOLDER}/${file} has no complete header`);
  return { number, name: file.replace(/\.patch$/, ''), bug, seen_in, test: { file: test_file, title }, also };
}

/** The command that a person runs to see the test of a mutant. */
export const commandOf = ({ file, title }: NamedTest): string => `npx jest ${file} -t '${title}'`;

/** Changes the source in `folder` as the patch says, or back. Throws where the patch does not apply. */
export function applyPatch({ name }: Mutant, folder: string, how: 'check' | 'apply' | 'reverse'): void {
  const options = { check: ['--check'], apply: [], reverse: ['--reverse'] }[how];
  const patch = path.join(repositoryRoot(), FOLDER, `${name}.patch`);
  execFileSync('git', ['apply', ...options, patch], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
}

/** Whether the patch applies to the source in `folder`. */
export function applies(mutant: Mutant, folder: string): boolean {
  try {
    applyPatch(mutant, folder, 'check');
    return true;
  } catch {
    return false;
  }
}
