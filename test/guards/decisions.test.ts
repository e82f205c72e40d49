import { files, text } from './repository';

const FILE = 'api/DECISIONS.md';

/** `## N. Title` with everything below it. */
const entries = text(FILE)
  .split(/^## /m)
  .slice(1)
  .map((section) => ({ title: section.split('\n', 1)[0]!, held_by: heldBy(section) }));

/** The files of the section's last line, `Held by: …`. */
function heldBy(section: string): string[] {
  const last = section.trim().split('\n').at(-1)!;
  return last.startsWith('Held by: ') ? [...last.matchAll(/`(test\/[^`]+)`/g)].map(([, file]) => file!) : [];
}

it('exists and says how an entry looks', () => {
  expect(text(FILE)).toContain('Held by: `test/');
});

it('numbers its entries from one without a gap', () => {
  expect(entries.map(({ title }) => Number(/^(\d+)\. \S/.exec(title)?.[1]))).toEqual(
    entries.map((_, index) => index + 1),
  );
});

it('every entry ends with tests that exist', () => {
  const all = new Set(files());
  const wrong = entries.filter(
    ({ held_by }) => held_by.length === 0 || held_by.some((file) => !/\.test\.tsx?$/.test(file) || !all.has(file)),
  );
  expect(wrong).toEqual([]);
});
