import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../stack/files';

/** A title, or a row of a table of tests, that begins with `rules 4.7: ` or `rules 8.5, 8.6 and 9.8: `. */
const TITLE = /(['"`])rules (\d+\.\d+(?:(?:, | and )\d+\.\d+)*)(?=: |\1)/g;
/** The list of a section, behind its heading. */
const LIST = /^(## (\d+) [^]*?<!-- generated:tests -->\n)[^]*?(?=\n<!-- \/generated -->)/gm;
const LINE_MAX = 140;

/**
 * The rules that the titles of each test file name, in order; files as `api/http/app` of `test/api/http/app.test.ts`.
 */
export function rulesOfTests(): Map<string, string[]> {
  const folder = path.join(repositoryRoot(), 'test');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.test.ts'));
  return new Map(
    files.toSorted().map((file) => {
      const titles = [...readFileSync(path.join(folder, file), 'utf8').matchAll(TITLE)];
      const rules = titles.flatMap(([, , numbers = '']) => numbers.split(/, | and /));
      return [
        file.replaceAll(path.sep, '/').replace(/\.test\.ts$/, ''),
        [...new Set(rules)].toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true })),
      ];
    }),
  );
}

/** docs/rules.md with the tests of each section, as their titles name its rules. */
export function withRuleTests(page: string): string {
  const tests = rulesOfTests();
  return page.replace(LIST, (_whole, before: string, section: string) => {
    const entries = [...tests].flatMap(([file, rules]) => {
      const own = rules.filter((rule) => rule.startsWith(`${section}.`));
      return own.length === 0 ? [] : [`\`${file}\` ${own.join(', ')}`];
    });
    return before + wrapped(`Tests: ${entries.join('; ')}`);
  });
}

function wrapped(text: string): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = `${lines.at(-1)} ${word}`.trimStart();
    if (line.length <= LINE_MAX) lines[lines.length - 1] = line;
    else lines.push(word);
  }
  return lines.join('\n');
}
