import { rulesOfTests } from '../../src/generate/rule-tests';
import { code, files, linesWith, textOfFile } from './repository';

const FILE = 'docs/rules.md';

/** `## 4 Statuses` and everything below it. */
const sections = textOfFile(FILE)
  .split(/^## (?=\d)/m)
  .slice(1)
  .map((section) => ({
    number: /^\d+/.exec(section)![0],
    rules: [...section.matchAll(/^\*\*(\S+?)\*\*/gm)].map(([, number]) => number!),
  }));
const rules = sections.flatMap((section) => section.rules);
const numbers = new Set([...sections.map(({ number }) => number), ...rules]);

it('numbers the rules of each section from one, without a gap', () => {
  for (const section of sections) {
    expect(section.rules).toEqual(section.rules.map((_, index) => `${section.number}.${index + 1}`));
  }
  expect(new Set(sections.map(({ number }) => number)).size).toBe(sections.length);
  expect(rules.length).toBeGreaterThan(100);
});

it('has every rule in the title of a test, and no other', () => {
  const tested = new Set([...rulesOfTests().values()].flat());
  expect(rules.filter((rule) => !tested.has(rule))).toEqual([]);
  expect([...tested].filter((rule) => !numbers.has(rule))).toEqual([]);
});

it('lists the tests of each section', () => {
  expect(textOfFile(FILE).match(/^<!-- generated:tests -->\nTests: /gm)).toHaveLength(sections.length);
});

/** `rules 4.7`, `rules 8.5, 8.6 and 9.8`: all the numbers of one citation. */
const CITATION = /\b[Rr]ules (\d+(?:\.\d+)?(?:(?:, | and )\d+\.\d+)*)/g;
const cited = () => [
  ...code('src', 'workflows', 'activities', 'api', 'test'),
  ...files().filter((file) => /\.(cjs|md)$/.test(file)),
];

it('has every rule that is cited', () => {
  const wrong = cited().flatMap((file) =>
    [...textOfFile(file).matchAll(CITATION)]
      .flatMap(([, list]) => list!.split(/, | and /))
      .filter((number) => !numbers.has(number))
      .map((number) => `${file}: rules ${number}`),
  );
  expect(wrong).toEqual([]);
});

it('is the only paper that is cited: a reader can open every citation', () => {
  const elsewhere =
    /\b(DECISIONS|ARCHITECTURE|SPEC|STYLE|SEARCH|TOOLCHAIN)(\.md\b|, )|\bChoices \d|\b[Ss]pecification, |\b[Rr]ule \d|\bissue #?\d/;
  const own = 'test/guards/rules.test.ts';
  expect(
    cited()
      .filter((file) => file !== own)
      .flatMap((file) => linesWith(file, elsewhere)),
  ).toEqual([]);
});
