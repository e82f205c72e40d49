import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { RunningProcesses } from '../../../../src/stack/programs/running-processes';
import { Supervisor } from '../../../../src/stack/programs/supervisor';
import { silent } from '../../../../src/stack/progress';
import { until } from '../../../support/waits';

let folder: string;
const started: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'leftovers-'));
});
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

async function aProcess(code = '') {
  const child = spawn(process.execPath, ['-e', `${code}; setInterval(() => {}, 1e6); process.stdout.write('up')`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  started.push(child);
  await once(child.stdout, 'data');
  return { child, pid: child.pid!, ended: once(child, 'exit') };
}

/** Records processes by name, which note the signal that ends them. The worker takes a moment. Returns the notes. */
async function recordNoting(...names: string[]): Promise<() => string> {
  const ended = path.join(folder, 'ended');
  const onSignal = (name: string) => (signal: string) =>
    `process.on('${signal}', () => { fs.appendFileSync('${ended}', '${name} ${signal}\\n'); setTimeout(process.exit, ${name === 'worker' ? 300 : 0}); });`;
  const before = new RunningProcesses(folder);
  for (const name of names) {
    const signals = ['SIGTERM', 'SIGINT', 'SIGQUIT'].map(onSignal(name));
    before.record(name, (await aProcess(`const fs = require('fs'); ${signals.join(' ')}`)).pid);
  }
  return () => (existsSync(ended) ? readFileSync(ended, 'utf8') : '');
}

test('what a killed supervisor left running is ended, in the order of a stop', async () => {
  const names = ['temporal-postgres', 'postgres', 'worker', 'api'];
  const noted = await recordNoting(...names);
  const found = jest.fn();
  await new RunningProcesses(folder).stopLeftovers((left) => found(left, noted()));
  await new RunningProcesses(folder).stopLeftovers(found);
  expect(found.mock.calls).toEqual([[names, '']]);
  expect(noted()).toBe('api SIGTERM\nworker SIGTERM\npostgres SIGINT\ntemporal-postgres SIGINT\n');
});

const supervisor = () => new Supervisor(folder, silent, () => undefined);

test('a stop while leftovers are being ended waits until all have ended', async () => {
  const noted = await recordNoting('worker', 'postgres');
  const next = supervisor();
  const cleared = next.clearUp();
  await until('the worker ends', () => noted() !== '');
  await next.stop();
  const noted_at_stop = noted();
  await cleared;
  expect(noted_at_stop).toBe('worker SIGTERM\npostgres SIGINT\n');
});

test('a stop before that leaves their list to the next start', async () => {
  const noted = await recordNoting('postgres');
  await supervisor().stop();
  await supervisor().clearUp();
  expect(noted()).toBe('postgres SIGINT\n');
});

test('what is left and has no data that anybody needs is killed; PostgreSQL may still remove its shared memory', async () => {
  const noted = await recordNoting('worker', 'temporal', 'postgres');
  await new RunningProcesses(folder).killLeftovers();
  await new RunningProcesses(folder).stopLeftovers((left) => expect(left).toEqual([]));
  expect(noted()).toBe('postgres SIGQUIT\n');
});

test('a stranger that was given the pid since is left alone', async () => {
  const stranger = await aProcess();
  const before = new RunningProcesses(folder);
  before.record('api', stranger.pid);
  const file = path.join(folder, 'processes.json');
  const list = JSON.parse(readFileSync(file, 'utf8')) as Record<string, { since: string }>;
  list['api']!.since = 'long ago';
  writeFileSync(file, JSON.stringify(list));
  const found = jest.fn();
  await new RunningProcesses(folder).stopLeftovers(found);
  expect(found).not.toHaveBeenCalled();
  expect(stranger.child.exitCode ?? stranger.child.signalCode).toBeNull();
  stranger.child.kill('SIGKILL');
  await stranger.ended;
});
