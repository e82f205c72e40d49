import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { repositoryRoot } from '../../../src/stack/files';
import { makeOwnFolder, ownPrefix, removeAbandonedFolders } from '../../../src/stack/own-folder';
import { RunningProcesses, identify } from '../../../src/stack/programs/running-processes';
import { takeLock } from '../../../src/stack/tools/lock';
import { until } from '../../support/waits';

/** As a process makes it that has ended since. */
function folderOfEnded(): string {
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  return mkdtempSync(path.join(tmpdir(), ownPrefix('test', pid)));
}

test('what killed processes left is removed, with its servers; what is in use is not', async () => {
  const ours = makeOwnFolder('test');
  const [abandoned, stopping] = [folderOfEnded(), folderOfEnded()];
  takeLock(path.join(stopping, 'lock'));
  const server = spawn(process.execPath, ['-e', `setInterval(() => {}, 1e6); process.stdout.write('up')`]);
  await once(server.stdout, 'data');
  new RunningProcesses(abandoned).record('postgres', server.pid!);
  await removeAbandonedFolders();
  expect([abandoned, stopping, ours].map((folder) => existsSync(folder))).toEqual([false, true, true]);
  expect(identify(server.pid!)).toBeUndefined();
  for (const folder of [stopping, ours]) rmSync(folder, { recursive: true });
});

test('what another user has put there as a link is left alone', async () => {
  const target = mkdtempSync(path.join(tmpdir(), 'payments-linked-'));
  const link = folderOfEnded();
  rmSync(link, { recursive: true });
  symlinkSync(target, link);
  await removeAbandonedFolders();
  expect([existsSync(target), existsSync(link)]).toEqual([true, true]);
  rmSync(link);
  rmSync(target, { recursive: true });
});

test('Ctrl-C, which npm sends once more, lets a process discard what it has started', async () => {
  const folder = makeOwnFolder('test');
  const launch = path.join(repositoryRoot(), 'dist/src/stack/launch.js');
  const code = `const discard = () => new Promise((done) => setTimeout(done, 300)).then(() => fs.rmSync('${folder}', { recursive: true }));
    require('${launch}').discardWhenAsked(discard); setInterval(() => {}, 1e6); process.stdout.write('up');`;
  const run = spawn(process.execPath, ['-e', code]);
  const ended = once(run, 'exit');
  await once(run.stdout, 'data');
  run.kill('SIGINT');
  run.kill('SIGTERM');
  expect(await ended).toEqual([1, null]);
  await until('the folder is removed', () => !existsSync(folder));
});
