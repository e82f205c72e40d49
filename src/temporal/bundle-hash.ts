import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';

/** A hash of the code in the bundle: this repository's below `root`, and the packages by the lock file. */
export async function bundleHash(root: string): Promise<string> {
  const hash = createHash('sha256').update(await lockFile(root));
  for (const folder of ['workflows', 'src/domain', 'src']) {
    const isBundled = folder === 'src' ? /^errors\.[jt]s$/ : /\.[jt]s$/;
    const all = await readdir(path.join(root, folder), { recursive: folder !== 'src' });
    const names = all.filter((name) => isBundled.test(name)).toSorted();
    for (const name of names) hash.update(name).update(await readFile(path.join(root, folder, name)));
  }
  return hash.digest('hex').slice(0, 16);
}

/** Compiled code is in a subfolder of the folder that holds the lock file. */
async function lockFile(root: string): Promise<Buffer> {
  const name = 'package-lock.json';
  return await readFile(path.join(existsSync(path.join(root, name)) ? root : path.dirname(root), name));
}
