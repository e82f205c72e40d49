import { code, files, textOfFile } from './repository';

/**
 * What these folders decide or touch is tested under the file's own name; types and tables of contents have nothing to
 * test.
 */
const TESTED = ['src/domain', 'api/operations', 'activities', 'workflows'];

const decides = (file: string) =>
  !file.endsWith('/index.ts') &&
  /^export (async )?(function|class)\b|^export const \w+[^=\n]*= (async )?(\(|<|function)/m.test(textOfFile(file));

it('every file that decides or touches has a test of its name', () => {
  const all = new Set(files());
  const tested = (name: string) => all.has(`test/${name}.test.ts`);
  const wanted = code(...TESTED)
    .filter(decides)
    .map((file) => file.replace(/\.tsx?$/, ''));
  // The parts of a workflow or its activities are tested with it: order-state with order.
  const parents = (name: string) => [...name.matchAll(/-/g)].map(({ index }) => name.slice(0, index));
  const isPart = (name: string) => /^(workflows|activities)\//.test(name) && parents(name).some(tested);
  expect(wanted.filter((name) => !tested(name) && !isPart(name))).toEqual([]);
});

it('every test that mirrors a file mirrors one that exists', () => {
  const all = new Set(files());
  const mirrors = code(...TESTED.map((folder) => `test/${folder}`)).filter((file) => file.endsWith('.test.ts'));
  const subject = (file: string) => file.slice('test/'.length).replace(/\.test\.ts$/, '.ts');
  expect(
    mirrors.filter((file) => !all.has(subject(file)) && !all.has(subject(file).replace(/\.\w+\.ts$/, '.ts'))),
  ).toEqual([]);
});
