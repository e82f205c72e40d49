import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { repositoryRoot } from '../../../src/stack/files';

const [NEWER, PACKAGES] = ['install Node 99.1 or newer', 'run npm ci --include=dev'];

test.each([
  ['>=99.1', [], NEWER],
  ['>=20.19', ['typescript'], PACKAGES],
  ['>=20.19', ['typescript', '@scalar/api-reference'], undefined],
])('engines %s, packages %j: a build says %j before it begins', (node, packages, lack) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'setup-'));
  const check = path.join(folder, 'src/stack/check-setup.cjs');
  cpSync(path.join(repositoryRoot(), 'src/stack/check-setup.cjs'), check);
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ engines: { node } }));
  for (const name of packages) mkdirSync(path.join(folder, 'node_modules', name), { recursive: true });
  const { status, stderr } = spawnSync(process.execPath, [check], { encoding: 'utf8' });
  expect(status).toBe(lack === undefined ? 0 : 1);
  expect(stderr).toMatch(lack === undefined ? /^$/ : new RegExp(`^payments: .*${lack}\n$`));
  rmSync(folder, { recursive: true });
});
