import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../../src/stack/files';

/** A known bug that can be put back: a patch of this folder. */
export interface Mutant<By = NamedTest | NamedProof> {
  /** For `--case`: the digits at the beginning of its name. */
  number: string;
  /** The file's name without its ending. */
  name: string;
  /** What is wrong, and what follows from it. */
  bug: string;
  /** The kind of system that had it. */
  seen_in: string;
  /** What has to fail with it. */
  must_fail: By;
  /** Another proof that should find it in the running service; not run here. */
  also: string | undefined;
}

/** A test by its file, from the repository's folder, and a part of its title. */
export interface NamedTest {
  file: string;
  title: string;
}

/** A proof, the seed of its part for CI, and a part of the violation that it has to report. */
export interface NamedProof {
  proof: string;
  seed: string;
  violation: string;
}

const FOLDER = path.join('proofs', 'mutants');
const HEADER = /^# bug: (?<bug>.+)\n# seen in: (?<seen_in>.+)\n# proof: (?<command>.+)\n(?:# also: (?<also>.+)\n)?--- /;
const TEST = /^npx jest (?<file>\S+) -t '(?<title>[^']+)'$/;
const PROOF =
  /^npm run proofs -- --only (?<proof>\S+) --size ci --seed (?<seed>\d+) 2>&1 \| grep '(?<violation>[^']+)'$/;

/** All mutants, by number. Throws for a patch whose header is not complete. */
export function readMutants(): Mutant[] {
  const folder = path.join(repositoryRoot(), FOLDER);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.patch'))
    .toSorted()
    .map((file) => mutantOf(file, readFileSync(path.join(folder, file), 'utf8')));
}

function mutantOf(file: string, text: string): Mutant {
  const { bug, seen_in, command = '', also } = HEADER.exec(text)?.groups ?? {};
  const must_fail = (TEST.exec(command) ?? PROOF.exec(command))?.groups as NamedTest | NamedProof | undefined;
  const number = /^\d+/.exec(file)?.[0];
  if (!number || !bug || !seen_in || !must_fail) throw new Error(`${FOLDER}/${file} has no complete header`);
  return { number, name: file.replace(/\.patch$/, ''), bug, seen_in, must_fail, also };
}

/** The command that a person runs to see a mutant's test or proof fail. */
export const commandOf = (it: NamedTest | NamedProof): string =>
  'file' in it
    ? `npx jest ${it.file} -t '${it.title}'`
    : `npm run proofs -- --only ${it.proof} --size ci --seed ${it.seed} 2>&1 | grep '${it.violation}'`;

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
