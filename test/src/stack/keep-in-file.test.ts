import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { StackFailure } from '../../../src/stack/failure';
import { keepInFile } from '../../../src/stack/keep-in-file';

const folder = mkdtempSync(path.join(tmpdir(), 'kept-'));
const file = path.join(folder, 'secrets.json');
afterEach(() => rmSync(file, { force: true }));
afterAll(() => rmSync(folder, { recursive: true }));

test('missing values are made once; a file that has all stays the same file', () => {
  const first = keepInFile(file, { a: () => 'made' });
  const { ino, mode } = statSync(file);
  expect(mode & 0o777).toBe(0o600);
  expect(keepInFile(file, { a: () => 'made anew' })).toEqual(first);
  expect(statSync(file).ino).toBe(ino);
  expect(keepInFile(file, { a: () => 'made anew', b: () => 'added' })).toEqual({ a: 'made', b: 'added' });
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ a: 'made', b: 'added' });
});

test.each(['', '{"a": "cut o', 'null', '{"a": 1}'])(
  'rules 24.13: %j is not replaced: its values are not known',
  (text) => {
    writeFileSync(file, text);
    const keep = () => keepInFile(file, { a: () => 'made' });
    expect(keep).toThrow(StackFailure);
    expect(keep).toThrow(/secrets\.json cannot be read \(.+\), and the data beside it need it: restore it/);
    expect(readFileSync(file, 'utf8')).toBe(text);
  },
);
