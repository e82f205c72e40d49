import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import { freePort } from '../../../../src/stack/ports';
import { keepRunning } from '../../../../src/stack/programs/program';
import { silent } from '../../../../src/stack/progress';
import { preparePostgres } from '../../../../src/stack/servers/postgres';

let folder: string;
let elsewhere: string | undefined;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'postgres-'));
});
afterEach(() => {
  for (const made of [folder, elsewhere]) if (made !== undefined) rmSync(made, { recursive: true, force: true });
  elsewhere = undefined;
});

/** One life of the server: start, one statement, stop. */
async function once(data_dir: string, sql: string): Promise<unknown[]> {
  const port = await freePort();
  const server = { data_dir, log_file: path.join(data_dir, 'postgres.log'), port, password: 'a-test-only' };
  const kept = keepRunning(await preparePostgres(server, silent), { started: () => undefined, ended: () => undefined });
  try {
    await kept.ready;
    const client = new Client({
      host: '127.0.0.1',
      port,
      user: 'postgres',
      password: 'a-test-only',
      database: 'postgres',
    });
    await client.connect();
    try {
      return (await client.query(sql)).rows as unknown[];
    } finally {
      await client.end();
    }
  } finally {
    await kept.stop();
  }
}

test('below a folder that only its owner can pass it starts too, and finds its data again', async () => {
  // mkdtemp makes it with mode 700, as a root user's home is. For an ordinary user this is the plain case.
  const data_dir = path.join(folder, 'checkout', '.data');
  mkdirSync(data_dir, { recursive: true });
  await once(data_dir, 'create table kept as select 42 as answer');
  const note = path.join(data_dir, 'postgres.path');
  if (process.getuid?.() === 0) {
    elsewhere = readFileSync(note, 'utf8').trim();
    // Not below /tmp or /var/tmp, where systemd removes files that are not used for days.
    expect(elsewhere).toMatch(/^\/var\/lib\/payments-postgres-\w{6}$/);
  } else {
    expect(existsSync(note)).toBe(false);
  }
  expect(await once(data_dir, 'select answer from kept')).toEqual([{ answer: 42 }]);
  if (elsewhere !== undefined) {
    rmSync(elsewhere, { recursive: true });
    await expect(once(data_dir, 'select 1')).rejects.toThrow(
      /^PostgreSQL's data are gone: .*postgres\.path names \/var\/lib\//,
    );
  }
});

test('a copy of the binaries that was cut short is made in the same folder by the next start', async () => {
  // An ordinary user's server has its data in DATA_DIR and needs no copy.
  if (process.getuid?.() !== 0) return;
  const data_dir = path.join(folder, 'checkout', '.data');
  mkdirSync(data_dir, { recursive: true });
  const server = { data_dir, log_file: path.join(data_dir, 'postgres.log'), port: 1, password: 'a-test-only' };
  writeFileSync(path.join(folder, 'cp'), '#!/bin/sh\necho "cp: write error: No space left on device"; exit 1\n', {
    mode: 0o755,
  });
  const { PATH } = process.env;
  process.env['PATH'] = `${folder}:${PATH}`;
  const error = await preparePostgres(server, silent).catch((thrown: unknown) => thrown);
  process.env['PATH'] = PATH;
  elsewhere = readFileSync(path.join(data_dir, 'postgres.path'), 'utf8').trim();
  expect(String(error)).toContain(`The disk is full: make room below ${elsewhere} and start again (cp: write error:`);
  expect((await preparePostgres(server, silent)).command).toBe(path.join(elsewhere, 'native/bin/postgres'));
});
