import { textOfFile } from './repository';

interface Lock {
  packages: Record<string, { optionalDependencies?: Record<string, string>; resolved?: string }>;
}

const { packages } = JSON.parse(textOfFile('package-lock.json')) as Lock;

/** Whether a package that needs another finds it: in its own folder, then in each above, as Node does. */
function finds(where: string, name: string): boolean {
  const folders = where.split(/(?:^|\/)node_modules\//).filter((folder) => folder !== '');
  return [...folders.keys(), folders.length].some(
    (depth) => [...folders.slice(0, depth), name].map((folder) => `node_modules/${folder}`).join('/') in packages,
  );
}

it('names the optional packages of every platform, without which `npm ci` refuses it (mend: node .ci/complete-lock.mjs)', () => {
  const missing = Object.entries(packages).flatMap(([where, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter((name) => !finds(where, name)),
  );
  expect(missing).toEqual([]);
});

it('names no address: the machine that installs has its own registry', () => {
  expect(Object.entries(packages).filter(([, { resolved }]) => resolved?.startsWith('http'))).toEqual([]);
});
