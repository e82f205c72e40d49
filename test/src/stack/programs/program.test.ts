import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { identify } from '../../../../src/stack/programs/running-processes';
import { keepRunning, type Kept, type Program } from '../../../../src/stack/programs/program';
import { readFileIfExists } from '../../../../src/stack/files';
import { baseEnvironment } from '../../../../src/stack/settings';
import { until } from '../../../support/waits';

let folder: string;
let kept: Kept | undefined;
const pids: number[] = [];
const ends: string[] = [];
/** When each process was started and had ended, in milliseconds. */
const started: number[] = [];
const ended: number[] = [];
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'program-'));
});
afterEach(async () => {
  await kept?.stop();
  rmSync(folder, { recursive: true, force: true });
  pids.length = ends.length = started.length = ended.length = 0;
});

function keep(code: string, program: Partial<Program> = {}): Kept {
  const log_file = path.join(folder, 'it.log');
  const base = {
    name: 'it',
    command: process.execPath,
    args: ['-e', code],
    env: baseEnvironment(),
    cwd: folder,
    log_file,
    stop_signal: 'SIGTERM' as const,
  };
  kept = keepRunning(
    { ...base, ...program },
    {
      started(pid) {
        pids.push(pid);
        started.push(performance.now());
      },
      ended(how, line) {
        ends.push(line === undefined ? how : `${how}: ${line}`);
        ended.push(performance.now());
      },
    },
  );
  return kept;
}

/** A program that ends is started again after 100 ms; one that was stopped is not. */
const LONGER_THAN_FIRST_PAUSE_MS = 300;

const LIVES = 'setInterval(() => {}, 1e6); process.send({ ready: true });';

test('ready when it says so; started again when it was killed; gone when stopped', async () => {
  const it = keep(LIVES);
  await it.ready;
  process.kill(pids[0]!, 'SIGKILL');
  await until('it is started again', () => pids.length === 2);
  expect(ends).toEqual(['signal SIGKILL']);
  await it.stop();
  expect(identify(pids[1]!)).toBeUndefined();
  await sleep(LONGER_THAN_FIRST_PAUSE_MS);
  expect(pids).toHaveLength(2);
});

test('one with a nice value gives way to the others, also after it was killed', async () => {
  const it = keep(LIVES, { nice: 5 });
  await it.ready;
  process.kill(pids[0]!, 'SIGKILL');
  await until('it is started again', () => pids.length === 2);
  expect(getPriority(pids[1]!)).toBe(5);
});

test('one that ends again and again is given longer pauses', async () => {
  const it = keep(`${LIVES} setInterval(() => { if (require('fs').existsSync('end')) process.exit(3) }, 20);`);
  await it.ready;
  writeFileSync(path.join(folder, 'end'), '');
  await until('it is started again', () => pids.length === 4);
  const pauses = [0, 1, 2].map((n) => started[n + 1]! - ended[n]!);
  // A timer may be a millisecond early.
  for (const [n, least] of [100, 200, 400].entries()) expect(pauses[n]).toBeGreaterThanOrEqual(least - 2);
  expect(ends.every((how) => how === 'code 3: it said nothing')).toBe(true);
});

test('a first start that fails is one line with what it said', async () => {
  const it = keep(`process.stdout.write('hello\\nfatal: no such thing\\n'); process.exit(1)`);
  await expect(it.ready).rejects.toThrow(/^it does not start: fatal: no such thing \(more in .*it\.log\)$/);
  expect(pids).toHaveLength(1);
});

test('a program that is not there is one line too', async () => {
  await expect(keep('', { command: path.join(folder, 'nothing') }).ready).rejects.toThrow(
    /^it does not start: .*ENOENT/,
  );
});

test('a failure that passes is waited out', async () => {
  const marker = path.join(folder, 'marker');
  const code = `const fs = require('fs'); if (!fs.existsSync('${marker}')) { fs.writeFileSync('${marker}', ''); process.stdout.write('still in use'); process.exit(1) } ${LIVES}`;
  await keep(code, { passing: /still in use/ }).ready;
  expect(pids).toHaveLength(2);
});

test('one that is stopped while such a failure passes is not started again', async () => {
  const passing = /still in use/;
  const asked = jest.spyOn(passing, 'test');
  const it = keep(`process.stdout.write('still in use'); process.exit(1)`, { passing });
  it.ready.catch(() => undefined);
  await until('the failure passes', () => asked.mock.calls.length > 0);
  await it.stop();
  await expect(it.ready).rejects.toThrow('it was stopped while it started.');
  expect(pids).toHaveLength(1);
});

test('it is started again though its log is gone or cannot be opened', async () => {
  const log_file = path.join(folder, 'logs', 'it.log');
  mkdirSync(path.dirname(log_file));
  await keep(`process.stdout.write('up'); ${LIVES}`, { log_file }).ready;
  for (const [n, breakLog] of [() => {}, () => mkdirSync(log_file, { recursive: true })].entries()) {
    rmSync(path.dirname(log_file), { recursive: true });
    breakLog();
    process.kill(pids[n]!, 'SIGKILL');
    await until('it is started again', () => pids.length === n + 2);
    if (n === 0) await until('it has a log again', () => readFileIfExists(log_file) === 'up');
  }
});

test('when one of our own ends, the error that it logged is told', async () => {
  const lines = [
    {
      level: 60,
      err: { type: 'Error', message: 'The schema lacks 011-next.', stack: 'Error: The …' },
      msg: 'cannot start',
    },
    { level: 30, cause: 'cannot start', exit_code: 1, msg: 'process ended' },
  ].map((line) => JSON.stringify(line));
  const ending = `setInterval(() => { if (require('fs').existsSync('end')) { process.stdout.write(${JSON.stringify(`${lines.join('\n')}\n`)}); process.exit(1) } }, 20);`;
  await keep(`${LIVES} ${ending}`).ready;
  writeFileSync(path.join(folder, 'end'), '');
  await until('it has ended', () => ends.length > 0);
  expect(ends[0]).toBe('code 1: The schema lacks 011-next.');
});

test('its output is in its log, its environment is only what it was given', async () => {
  process.env['PAYMENTS_OF_NO_CONCERN'] = 'x';
  await keep(`process.stdout.write(process.env.PAYMENTS_OF_NO_CONCERN + ' ' + process.env.GIVEN + '\\n'); ${LIVES}`, {
    env: { ...baseEnvironment(), GIVEN: 'y' },
  }).ready;
  delete process.env['PAYMENTS_OF_NO_CONCERN'];
  expect(readFileSync(path.join(folder, 'it.log'), 'utf8')).toBe('undefined y\n');
});
