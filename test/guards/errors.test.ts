import { ERRORS } from '../../src/errors';
import { text } from './repository';

const rows = Object.entries(ERRORS).map(([name, row]) => ({
  name,
  type: 'type' in row ? row.type : name,
  status: row.status,
}));

/** First cells of the README table that lists error types, without their backticks. */
function typesInReadme(): string[] {
  const tables = text('README.md')
    .split(/\n(?!\|)/)
    .map((block) => block.match(/\|.*$/gm) ?? []);
  const first = (line: string) => line.split('|')[1]!.replace(/[`\s]/g, '');
  const table = tables.find((lines) => lines.some((line) => first(line) === 'ValidationError')) ?? [];
  return table.slice(2).map(first);
}

it('lists every error type in README and nothing else', () => {
  expect([...new Set(typesInReadme())].toSorted()).toEqual([...new Set(rows.map((row) => row.type))].toSorted());
});

it('has one row for a type at a status', () => {
  const keys = rows.map((row) => `${row.type} ${row.status}`);
  expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
});

it('borrows the type of a row that exists', () => {
  expect(rows.filter((row) => !Object.hasOwn(ERRORS, row.type))).toEqual([]);
});
