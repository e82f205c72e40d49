import { files, text } from './repository';

const ROOT_FOLDERS = [
  ...new Set(files().flatMap((file) => (/^[^./][^/]*\//.exec(file) ?? []).map((folder) => folder.slice(0, -1)))),
];

it.each(ROOT_FOLDERS)('README says what %s/ is for', (folder) => {
  expect(text('README.md')).toMatch(new RegExp(`^[\\s|*-]*\`?${folder}/?(\`|\\s).*[a-z]`, 'm'));
});

it('names only npm scripts that exist', () => {
  const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> };
  const named = [...text('README.md').matchAll(/npm (?:run )?(?!ci\b|run\b|install\b)([a-z][a-z:]*)/g)].map(
    ([, name]) => name!,
  );
  expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
});

it('links to files that exist', () => {
  const links = [...text('README.md').matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, target]) =>
    target!.replace(/^\.\//, ''),
  );
  const all = files();
  expect(
    links.filter((target) => !all.some((file) => file === target || file.startsWith(target.replace(/\/?$/, '/')))),
  ).toEqual([]);
});
