import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { repositoryRoot } from '../../../../src/stack/files';
import { takeLock, waitForLock, type Lock } from '../../../../src/stack/tools/lock';

let folder: string;
let file: string;
const children: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'lock-'));
  file = path.join(folder, 'lock');
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/** Another process that tries to take the lock, says what came of it, and lives until it is killed. */
async function another(): Promise<{ child: ChildProcess; got: boolean }> {
  const code = `const l=require(process.argv[1]).takeLock(process.argv[2]);process.stdout.write(String('release' in l));setInterval(()=>{},1e6)`;
  const child = spawn(
    process.execPath,
    ['-e', code, path.join(repositoryRoot(), 'dist/src/stack/tools/lock.js'), file],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  children.push(child);
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, got: said.toString() === 'true' };
}

test('the second one is told who has it; after the release it is free', () => {
  const lock = takeLock(file) as Lock;
  expect(takeLock(file)).toEqual({ held_by: process.pid });
  lock.release();
  expect(takeLock(file)).toHaveProperty('release');
});

test('a process that was killed leaves nothing that bars the way', async () => {
  const { child, got } = await another();
  expect(got).toBe(true);
  expect(takeLock(file)).toEqual({ held_by: child.pid });
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(takeLock(file)).toHaveProperty('release');
});

test('a pid that was given to another process since does not hold it', () => {
  writeFileSync(file, JSON.stringify({ pid: process.pid, since: 'before' }));
  expect(takeLock(file)).toHaveProperty('release');
});

test('of several that find a dead lock at once one gets it', async () => {
  writeFileSync(file, JSON.stringify({ pid: 1, since: 'before' }));
  const all = await Promise.all(Array.from({ length: 5 }, another));
  expect(all.filter(({ got }) => got)).toHaveLength(1);
  expect(readdirSync(folder)).toEqual(['lock']);
});

test('a process that waits says so once and gets the lock in the end', async () => {
  const lock = takeLock(file) as Lock;
  const onWait = jest.fn();
  const waiting = waitForLock(file, onWait);
  setTimeout(() => lock.release(), 300);
  (await waiting).release();
  expect(onWait.mock.calls).toEqual([[{ held_by: process.pid }]]);
});
