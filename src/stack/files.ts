import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

/**
 * The repository's folder: the nearest one above that holds package.json. Compiled code runs from dist/src/stack, tests
 * from src/stack, while other files (go.mod, pom.xml) stay in src/stack/servers.
 */
export function repositoryRoot(): string {
  let folder = __dirname;
  while (!existsSync(path.join(folder, 'package.json'))) {
    const parent = path.dirname(folder);
    if (parent === folder) throw new Error(`no package.json above ${__dirname}`);
    folder = parent;
  }
  return folder;
}

/**
 * Replaces the file in one step, so that no reader ever sees half of it; only its owner may read it, unless `mode` says
 * otherwise. With `is_durable` it, and every name in its folder, is on the disk when this returns, whatever happens to
 * the machine.
 */
export function writeWhole(file: string, text: string, { is_durable = false, mode = 0o600 } = {}): void {
  const draft = `${file}.${randomUUID()}`;
  try {
    writeFileSync(draft, text, { mode, flush: is_durable });
    renameSync(draft, file);
    if (is_durable) flushFolder(path.dirname(file));
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Writes the names of its files to the disk. */
export function flushFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Makes a folder that only its owner may open, also where it is there with other rights (rules 24.13). Returns it. */
export function privateFolder(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  return folder;
}

/** The file's text, `undefined` when there is no such file. Throws when it cannot be read. */
export function readFileIfExists(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The path as a person started in this folder would type it. */
export function displayPath(file: string): string {
  const relative = path.relative(process.cwd(), file);
  return relative.startsWith('..') ? file : relative || '.';
}

/** The folder of the cluster's database. */
export function clusterData(data_dir: string): string {
  return path.join(data_dir, 'temporal-cluster');
}
