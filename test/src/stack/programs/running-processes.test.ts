import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { RunningProcesses } from '../../../../src/stack/programs/running-processes';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'leftovers-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function aProcess(code = '') {
  const child = spawn(process.execPath, ['-e', `${code}; setInterval(() => {}, 1e6); process.stdout.write('up')`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return { child, pid: child.pid!, ended: once(child, 'exit') };
}

test('what a killed supervisor left running is ended, by name', async () => {
  const [worker, postgres] = await Promise.all([aProcess(), aProcess(`process.on('SIGTERM', () => {})`)]);
  const before = new RunningProcesses(folder);
  before.record('worker', worker.pid);
  before.record('postgres', postgres.pid);
  expect(await new RunningProcesses(folder).stopLeftovers()).toEqual(['worker', 'postgres']);
  expect(await Promise.all([worker.ended, postgres.ended])).toEqual([
    [null, 'SIGTERM'],
    [null, 'SIGINT'],
  ]);
  expect(await new RunningProcesses(folder).stopLeftovers()).toEqual([]);
});

test('a stranger that was given the pid since is left alone', async () => {
  const stranger = await aProcess();
  const before = new RunningProcesses(folder);
  before.record('api', stranger.pid);
  const file = path.join(folder, 'processes.json');
  const list = JSON.parse(readFileSync(file, 'utf8')) as Record<string, { since: string }>;
  list['api']!.since = 'long ago';
  writeFileSync(file, JSON.stringify(list));
  expect(await new RunningProcesses(folder).stopLeftovers()).toEqual([]);
  expect(stranger.child.exitCode ?? stranger.child.signalCode).toBeNull();
  stranger.child.kill('SIGKILL');
  await stranger.ended;
});
