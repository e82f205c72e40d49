import { code, files, textOfFile } from './repository';

const FILE = 'docs/architecture.md';
const PAGE = textOfFile(FILE);
/** A path below one of the root folders, in running text or in a diagram. */
const PATH = /\b(?:\.ci|activities|api|docs|src|test|workflows)\/[\w./-]*\w/g;

it('is at most 200 lines long', () => {
  expect(PAGE.trimEnd().split('\n').length).toBeLessThanOrEqual(200);
});

it('names only files and folders that exist', () => {
  const all = files();
  const exists = (name: string) => all.some((file) => file === name || file.startsWith(`${name}/`));
  const in_backticks = [...PAGE.matchAll(/`([^`\s]+)`/g)].map(([, name]) => name!);
  const named = [...PAGE.matchAll(PATH)].map(([name]) => name);
  named.push(...in_backticks.filter((name) => /\/|\.(ts|tsx|md|json|cjs)$/.test(name)));
  expect(named.length).toBeGreaterThan(100);
  expect([...new Set(named)].filter((name) => !exists(name))).toEqual([]);
});

it('names only functions, types, messages and columns that exist', () => {
  const words = new Set(
    code('activities', 'api', 'src', 'workflows').flatMap((file) => textOfFile(file).match(/\w+/g) ?? []),
  );
  const named = [...PAGE.matchAll(/`(\w+(?:\.\w+)?)`/g)].flatMap(([, name]) => name!.split('.'));
  expect(named.length).toBeGreaterThan(40);
  expect([...new Set(named)].filter((name) => !words.has(name))).toEqual([]);
});
