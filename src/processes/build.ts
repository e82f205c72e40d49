import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../config';
import type { Build } from '../db/builds/current-build';
import { readFileIfExists, repositoryRoot, writeWhole } from '../stack/files';
import { bundleHash } from '../temporal/bundle-hash';

/** The folders of the compiled code that the processes run. */
const FOLDERS = ['activities', 'api', 'src', 'workflows'];

/** The version of the service, from package.json. */
export function versionOfService(): string {
  const text = readFileSync(path.join(repositoryRoot(), 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

const compiled = () => path.join(repositoryRoot(), 'dist');
const buildFile = () => path.join(compiled(), 'build.json');

/** The build of the compiled code. Throws an Error where `npm run build` has not made it. */
export function buildOfService({ TEMPORAL_WORKER_BUILD_ID }: Pick<Config, 'TEMPORAL_WORKER_BUILD_ID'>): Build {
  const text = readFileIfExists(buildFile());
  if (text === undefined) throw new Error('dist/build.json is missing: npm run build');
  const built = JSON.parse(text) as Build;
  return { ...built, version: TEMPORAL_WORKER_BUILD_ID ?? built.version };
}

/** Describes the compiled code in dist/build.json, at the end of `npm run build`; the same code keeps its time. */
export async function describeBuild(now: number): Promise<void> {
  const build = `${versionOfService()}+${await codeHash()}`;
  const text = readFileIfExists(buildFile());
  const before = text === undefined ? undefined : (JSON.parse(text) as Build);
  const built_at = before?.build === build ? before.built_at : now;
  const version = `${versionOfService()}+${await bundleHash(compiled())}`;
  // A process that starts meanwhile reads it; in the image another user does.
  writeWhole(buildFile(), `${JSON.stringify({ build, version, built_at } satisfies Build)}\n`, { mode: 0o666 });
}

/** A hash of the compiled code and of the lock file, which names the packages. */
async function codeHash(): Promise<string> {
  const hash = createHash('sha256').update(await readFile(path.join(repositoryRoot(), 'package-lock.json')));
  for (const folder of FOLDERS) {
    const names = await readdir(path.join(compiled(), folder), { recursive: true });
    for (const name of names.filter((one) => one.endsWith('.js')).toSorted()) {
      hash.update(`${folder}/${name}`).update(await readFile(path.join(compiled(), folder, name)));
    }
  }
  return hash.digest('hex').slice(0, 16);
}
