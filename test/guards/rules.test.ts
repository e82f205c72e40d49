import { code, files, linesWith, text } from './repository';

const FILE = 'docs/rules.md';

interface Rule {
  /** Section and number, for example `4.7`. */
  readonly number: string;
  /** Files of the next `Tests:` line of its section. */
  readonly tests: readonly string[];
}

/** `## 4 Statuses` and everything below it. */
const sections = text(FILE)
  .split(/^## (?=\d)/m)
  .slice(1)
  .map((section) => ({ number: /^\d+/.exec(section)![0], rules: rulesOf(section) }));
const rules = sections.flatMap((section) => section.rules);
const numbers = new Set([...sections, ...rules].map(({ number }) => number));

function rulesOf(section: string): Rule[] {
  const groups = section.split(/^Tests:/m);
  return groups.flatMap((group, index) => {
    const paragraph = (groups[index + 1] ?? '').split('\n\n', 1)[0]!;
    const tests = [...paragraph.matchAll(/`(test\/[^`]+)`/g)].map(([, file]) => file!);
    return [...group.matchAll(/^\*\*(\S+?)\*\*/gm)].map(([, number]) => ({ number: number!, tests }));
  });
}

it('numbers the rules of each section from one, without a gap', () => {
  for (const section of sections) {
    expect(section.rules.map(({ number }) => number)).toEqual(
      section.rules.map((_, index) => `${section.number}.${index + 1}`),
    );
  }
  expect(new Set(sections.map(({ number }) => number)).size).toBe(sections.length);
  expect(rules.length).toBeGreaterThan(100);
});

it('names for every rule tests that exist', () => {
  const all = new Set(files());
  const wrong = rules.filter(
    ({ tests }) => tests.length === 0 || tests.some((file) => !file.endsWith('.test.ts') || !all.has(file)),
  );
  expect(wrong).toEqual([]);
});

/** `rules 4.7`, `rules 8.5, 8.6 and 9.8`: all the numbers of one citation. */
const CITATION = /\b[Rr]ules (\d+(?:\.\d+)?(?:(?:, | and )\d+\.\d+)*)/g;
const cited = () => [
  ...code('src', 'workflows', 'activities', 'api', 'test'),
  ...files().filter((file) => /\.(cjs|md)$/.test(file)),
];

it('has every rule that is cited', () => {
  const wrong = cited().flatMap((file) =>
    [...text(file).matchAll(CITATION)]
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
