import { MERCHANT_API } from '../../src/contract/merchant-api';
import type { Route } from '../../src/contract/routes';
import { files, text } from './repository';

const operations: [string, Route][] = Object.entries(MERCHANT_API.routes);
const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

describe.each(operations)('operation %s', (name, route) => {
  it('has one file and one test of its name', () => {
    const wanted = [`api/operations/${kebab(name)}.ts`, `test/api/operations/${kebab(name)}.test.ts`];
    const all = new Set(files());
    expect(wanted.filter((file) => !all.has(file))).toEqual([]);
  });

  it('is in README', () => {
    const path = route.path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    expect(text('README.md')).toMatch(new RegExp(`${route.method.toUpperCase()}[^A-Za-z0-9\\n]{1,8}${path}(?![\\w{])`));
  });
});

it('has no operation without a route', () => {
  const known = new Set(operations.map(([name]) => `api/operations/${kebab(name)}.ts`));
  expect(files().filter((file) => /^api\/operations\/(?!index)[^/]+\.ts$/.test(file) && !known.has(file))).toEqual([]);
});
