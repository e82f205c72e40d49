import { MERCHANT_API } from '../../src/contract/merchant-api';
import { ERRORS } from '../../src/errors';
import { files } from './repository';

const operations = Object.keys(MERCHANT_API.routes).map((name) =>
  name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
);

it.each(operations)('operation %s has one file and one test of its name', (name) => {
  const all = new Set(files());
  const wanted = [`api/operations/${name}.ts`, `test/api/operations/${name}.test.ts`];
  expect(wanted.filter((file) => !all.has(file))).toEqual([]);
});

it('has no operation without a route', () => {
  const known = new Set(operations.map((name) => `api/operations/${name}.ts`));
  expect(files().filter((file) => /^api\/operations\/(?!index)[^/]+\.ts$/.test(file) && !known.has(file))).toEqual([]);
});

it('has one error for a type at a status, under the type of an error that exists', () => {
  const rows = Object.entries(ERRORS).map(([name, row]) => ({ type: 'type' in row ? row.type : name, ...row }));
  expect(new Set(rows.map(({ type, status }) => `${type} ${status}`)).size).toBe(rows.length);
  expect(rows.filter(({ type }) => !Object.hasOwn(ERRORS, type))).toEqual([]);
});
