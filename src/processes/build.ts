import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { repositoryRoot } from '../stack/files';

/** The folders of the compiled code that the processes run. */
const FOLDERS = ['activities', 'api', 'src', 'workflows'];

/** The version of the service, from package.json. */
export function versionOfService(): string {
  const text = readFileSync(path.join(repositoryRoot(), 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/**
 * The build of the compiled code, for example `0.1.0+4f0c2a9b81d35e76`: the version of the service, and a hash of the code
 * and of the lock file, which names the packages. Rejects where the code is not compiled.
 */
export async function buildOfService(): Promise<string> {
  const root = repositoryRoot();
  const compiled = path.join(root, 'dist');
  const hash = createHash('sha256').update(await readFile(path.join(root, 'package-lock.json')));
  for (const folder of FOLDERS) {
    const names = await readdir(path.join(compiled, folder), { recursive: true });
    for (const name of names.filter((one) => one.endsWith('.js')).toSorted()) {
      hash.update(`${folder}/${name}`).update(await readFile(path.join(compiled, folder, name)));
    }
  }
  return `${versionOfService()}+${hash.digest('hex').slice(0, 16)}`;
}
