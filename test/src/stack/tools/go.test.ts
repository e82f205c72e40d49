import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runGo } from '../../../../src/stack/tools/go';

const { PATH } = process.env;
const OF_SHELL = ['GOOS', 'GOARCH', 'GOWORK', 'GOFLAGS'];
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'go-'));
});
afterEach(() => {
  process.env['PATH'] = PATH;
  for (const name of OF_SHELL) delete process.env[name];
  rmSync(folder, { recursive: true });
});

test('it builds for this machine and from the module alone, whatever the shell is set up for', async () => {
  const go = '#!/bin/sh\necho go1.99.0\nenv > "$(dirname "$0")/env"\n';
  writeFileSync(path.join(folder, 'go'), go, { mode: 0o755 });
  writeFileSync(path.join(folder, 'go.mod'), 'module it\n\ngo 1.26.8\n');
  process.env['PATH'] = `${folder}:${PATH}`;
  for (const name of OF_SHELL) process.env[name] = 'windows';
  await runGo({ module: folder }, ['build']);
  const lines = readFileSync(path.join(folder, 'env'), 'utf8').split('\n');
  expect(lines.filter((line) => OF_SHELL.includes(line.split('=')[0]!)).toSorted()).toEqual([
    'GOARCH=',
    'GOFLAGS=-mod=readonly',
    'GOOS=',
    'GOWORK=off',
  ]);
});
