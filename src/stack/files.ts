import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
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

/** Replaces the file in one step, so that no reader ever sees half of it; only its owner may read it. */
export function writeWhole(file: string, text: string): void {
  const draft = `${file}.${randomUUID()}`;
  try {
    writeFileSync(draft, text, { mode: 0o600 });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
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

/** The values by name in a JSON file that only its owner may read; those that are missing are made and written. */
export function keepInFile<Name extends string>(
  file: string,
  makers: Readonly<Record<Name, () => string>>,
): Record<Name, string> {
  const kept = JSON.parse(readFileIfExists(file) ?? '{}') as Partial<Record<string, string>>;
  const values = Object.entries<() => string>(makers).map(([name, make]) => [name, kept[name] ?? make()]);
  const whole = Object.fromEntries(values) as Record<Name, string>;
  writeWhole(file, `${JSON.stringify(whole, null, 2)}\n`);
  return whole;
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
