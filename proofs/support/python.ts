import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isExecutable, onPath, runCommand } from '../../src/stack/tools/command';
import { waitForLock } from '../../src/stack/tools/lock';

/** A program of a package of PyPI. */
export interface PythonProgram {
  /** The package. */
  name: string;
  version: string;
  /** The file of the program. */
  program: string;
  /** The oldest Python that it works with, for example `3.10`. */
  python: string;
  /** The folder of the virtual environment is made in it. */
  tools_dir: string;
}

/** Where the program is, or will be once `findPythonProgram` has installed it. */
export const pythonProgramPath = ({ name, version, program, tools_dir }: PythonProgram) =>
  path.join(tools_dir, `${name}-${version}`, 'bin', program);

/**
 * The path of the program, in a virtual environment of its own that is made at the first call. Throws an Error with the
 * remedy where Python is missing, and with the reason where pip fails.
 */
export async function findPythonProgram(wanted: PythonProgram, say: (line: string) => void): Promise<string> {
  const { name, version } = wanted;
  const program = pythonProgramPath(wanted);
  const folder = path.dirname(path.dirname(program));
  mkdirSync(path.dirname(folder), { recursive: true });
  const lock = await waitForLock(`${folder}.lock`, ({ held_by }) =>
    say(`process ${held_by} installs ${name}; waiting`),
  );
  try {
    if (isExecutable(program) && existsSync(path.join(folder, 'installed'))) return program;
    const python = onPath('python3');
    if (python === undefined) {
      throw new Error(
        `${name} needs Python ${wanted.python} or newer: install python3 with its module venv (python3-venv)`,
      );
    }
    say(`installing ${name} ${version} from PyPI`);
    rmSync(folder, { recursive: true, force: true });
    await runCommand(python, ['-m', 'venv', folder]);
    const pip = path.join(folder, 'bin', 'pip');
    await runCommand(pip, ['install', '--quiet', '--disable-pip-version-check', `${name}==${version}`]);
    writeFileSync(path.join(folder, 'installed'), '');
    return program;
  } finally {
    lock.release();
  }
}
