import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import { identify } from '../../../src/stack/programs/running-processes';
import { discardStack, launchStack, readFacts, readVariables, type LaunchedStack } from '../../../src/stack/launch';
import { createTestDatabase } from '../../support/database';
import { idle, serverFolder, stack } from '../../support/stack';
import { until } from '../../support/waits';

// Whole stacks start and stop here.
jest.setTimeout(180_000);

const OF_CLUSTER = process.env['TEMPORAL'] === 'cluster' ? ['temporal-postgres', 'temporal-ui'] : [];
const SERVERS = ['postgres', 'temporal', 'meilisearch', ...OF_CLUSTER];
const NAMES = ['start', ...SERVERS, 'simulator', 'worker', 'api', 'manage', 'codec'];

const data_dir = serverFolder('start');
const factsFile = path.join(data_dir, 'stack.json');
let launched: LaunchedStack;

/** A fresh launch of the same folder is the same checkout started again. */
async function start() {
  launched = launchStack(data_dir, { env: { LOG_LEVEL: 'info' } });
  return launched.ready;
}
// Of other servers, as the shell of an operator names them: nothing of them may be used.
beforeAll(() => {
  for (const name of ['POSTGRES_URL', 'POSTGRES_OWNER_URL']) process.env[name] = 'postgres://nobody@127.0.0.1:9/x';
  for (const name of ['MEILISEARCH_URL', 'PROCESSOR_URL']) process.env[name] = 'http://127.0.0.1:9';
  process.env['TEMPORAL_ADDRESS'] = '127.0.0.1:9';
});
afterAll(() => discardStack(launched, data_dir));

/** A zombie counts as ended: its parent, or the machine's init, may collect it late. */
const lives = (pid: number) => identify(pid) !== undefined;

const isReady = (api_url: string) =>
  fetch(`${api_url}/health/ready`).then(
    (answer) => answer.ok,
    () => false,
  );

/** A statement that does not mind that the server has just been started again. */
async function query(postgres_url: string, sql: string): Promise<unknown[]> {
  const client = new Client(postgres_url);
  await client.connect();
  try {
    return (await client.query(sql)).rows as unknown[];
  } finally {
    await client.end();
  }
}

test("root does not start on an ordinary user's data, and touches nothing there", async () => {
  // Root alone may give a file to another user.
  if (process.getuid?.() !== 0) return;
  const ordinary = mkdtempSync(path.join(tmpdir(), 'ordinary-'));
  writeFileSync(path.join(ordinary, 'secrets.json'), '{}', { mode: 0o600 });
  mkdirSync(path.join(ordinary, 'postgres'));
  for (const name of ['', 'secrets.json', 'postgres']) chownSync(path.join(ordinary, name), 12_345, 12_345);
  const refused = launchStack(ordinary);
  expect(await refused.ended).toBe(1);
  expect(refused.lines).toEqual([
    `payments: the data in ${ordinary} belong to the user 12345: start as that user, or set DATA_DIR to another folder.`,
  ]);
  expect(readdirSync(ordinary)).toEqual(['postgres', 'secrets.json']);
  rmSync(ordinary, { recursive: true });
});

// One life after the other on one folder: each test goes on where the one before it stopped.
describe('npm start', () => {
  test('says in stack.json where everything is, and prints the keys and a first order', async () => {
    const facts = await start();
    expect(Object.keys(facts).sort()).toEqual(
      [
        'api_url',
        'manage_url',
        'operator_client_id',
        'operator_client_secret',
        'temporal_address',
        'temporal_namespace',
        'temporal_ui_url',
        'postgres_url',
        'meilisearch_url',
        'metrics_urls',
        'simulator_url',
        'simulator_control_key',
        'test_api_key',
        'live_api_key',
        'test_webhook_secret',
        'live_webhook_secret',
        'pids',
      ].sort(),
    );
    expect(Object.keys(facts.pids)[0]).toBe('start');
    expect(Object.keys(facts.pids).sort()).toEqual([...NAMES].sort());
    expect(facts.pids['start']).toBe(launched.process.pid);
    expect(statSync(factsFile).mode & 0o777).toBe(0o600);
    expect(await isReady(facts.api_url)).toBe(true);
    expect((await fetch(facts.temporal_ui_url!)).status).toBe(200);
    const printed = launched.lines.join('\n');
    for (const text of [
      facts.test_api_key,
      facts.live_api_key,
      `curl -u ${facts.test_api_key}: ${facts.api_url}/v1/orders/`,
    ]) {
      expect(printed).toContain(text);
    }
    await query(facts.postgres_url, 'create table kept as select 42 as answer');
  });

  test('a second start on the same folder says so in one line and disturbs nothing', async () => {
    const { pids } = readFacts(data_dir);
    const second = launchStack(data_dir);
    expect(await second.ended).toBe(1);
    expect(second.lines).toEqual([
      expect.stringMatching(
        new RegExp(`^payments: it runs already with the data in .* \\(process ${pids['start']}\\)`),
      ),
    ]);
    expect(Object.values(readFacts(data_dir).pids).every(lives)).toBe(true);
  });

  test('kill -9 of any one process: it comes back at the same address, and stack.json follows', async () => {
    const before = readFacts(data_dir);
    for (const name of NAMES.slice(1)) process.kill(before.pids[name]!, 'SIGKILL');
    await until('all have new pids', () =>
      NAMES.slice(1).every((name) => readFacts(data_dir).pids[name] !== before.pids[name]),
    );
    await until('the API is ready again', () => isReady(before.api_url));
    const { pids, ...rest } = readFacts(data_dir);
    expect({ ...rest, pids: before.pids }).toEqual(before);
    expect(pids['start']).toBe(before.pids['start']);
    expect(await query(before.postgres_url, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  test('kill -9 of the supervisor: our processes leave, the next start ends the servers and brings everything back', async () => {
    const before = readFacts(data_dir);
    process.kill(before.pids['start']!, 'SIGKILL');
    await launched.ended;
    await until('our processes leave', () =>
      ['api', 'worker', 'simulator'].every((name) => !lives(before.pids[name]!)),
    );
    expect(SERVERS.every((name) => lives(before.pids[name]!))).toBe(true);
    const after = await start();
    expect(SERVERS.some((name) => lives(before.pids[name]!))).toBe(false);
    // By which a start with another version's program discards the index.
    expect(readFileSync(path.join(data_dir, 'meilisearch/data/VERSION'), 'utf8')).toMatch(/^1\.\d+\.\d+$/);
    expect(after).toMatchObject({ test_api_key: before.test_api_key, live_api_key: before.live_api_key });
    expect(await query(after.postgres_url, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  test('rules 21.23: the processes do not get the password of the role that owns the schema', () => {
    const secrets = JSON.parse(readFileSync(path.join(data_dir, 'secrets.json'), 'utf8')) as Record<string, string>;
    const variables = readFileSync(path.join(data_dir, 'stack.env'), 'utf8');
    expect(variables).toContain(secrets['postgres_service_password']);
    expect(variables).not.toContain(secrets['postgres_password']);
  });

  test('SIGTERM ends every process within seconds and leaves no stack.json', async () => {
    const { pids } = readFacts(data_dir);
    expect(readVariables(data_dir)).toMatchObject({ DRAIN_MS: '0' });
    const began = Date.now();
    launched.process.kill('SIGTERM');
    expect(await launched.ended).toBe(0);
    expect(Date.now() - began).toBeLessThan(30_000);
    expect(Object.values(pids).some(lives)).toBe(false);
    expect(existsSync(factsFile)).toBe(false);
  });

  test('rules 3.9: the last line of a process states how it ended', () => {
    for (const name of ['api', 'manage', 'worker', 'simulator', 'codec']) {
      const last = readFileSync(path.join(data_dir, 'logs', `${name}.log`), 'utf8')
        .trimEnd()
        .split('\n')
        .at(-1)!;
      expect(JSON.parse(last)).toMatchObject({ process: name, msg: 'process ended', cause: 'SIGTERM', exit_code: 0 });
    }
  });

  test('rules 24.13: no secret and no database is readable by others, and no secret is in a log', () => {
    // The cluster's PostgreSQL, as that of the record, keeps its own folder private.
    const temporal = OF_CLUSTER.length === 0 ? ['temporal', 'temporal/temporal.db'] : ['temporal-cluster/ui.yaml'];
    for (const name of ['secrets.json', 'demo-keys.json', 'logs', temporal[0]!, 'meilisearch']) {
      expect([name, statSync(path.join(data_dir, name)).mode & 0o077]).toEqual([name, 0]);
    }
    expect(existsSync(path.join(data_dir, temporal.at(-1)!))).toBe(true);
    const secrets = Object.values(
      JSON.parse(readFileSync(path.join(data_dir, 'secrets.json'), 'utf8')) as Record<string, string>,
    );
    const logs = ['api', 'worker', 'simulator', ...SERVERS]
      .map((name) => readFileSync(path.join(data_dir, 'logs', `${name}.log`), 'utf8'))
      .join('');
    expect(secrets.filter((secret) => logs.includes(secret))).toEqual([]);
  });
});

test('with POSTGRES_URL and POSTGRES_PASSWORD_FILE it starts; its processes read the file themselves', async () => {
  const database = await createTestDatabase();
  const { href: whole, password } = new URL(database.url);
  const { href: bare } = Object.assign(new URL(whole), { password: '' });
  const folder = serverFolder('password-file');
  const file = path.join(folder, 'password');
  writeFileSync(file, `${decodeURIComponent(password)}\n`);
  const { temporal_address, meilisearch_url, simulator_url } = stack();
  const env = {
    POSTGRES_URL: bare,
    POSTGRES_PASSWORD_FILE: file,
    TEMPORAL_ADDRESS: temporal_address,
    MEILISEARCH_URL: meilisearch_url,
    PROCESSOR_URL: simulator_url,
  };
  const given = launchStack(folder, { env, args: idle('api', 'manage', 'worker') });
  try {
    const { postgres_url } = await given.ready;
    expect(await database.db('merchants').pluck('name')).toContain('Demo Books');
    const { POSTGRES_URL, POSTGRES_PASSWORD_FILE, SIMULATOR_POSTGRES_URL } = readVariables(folder);
    expect({ POSTGRES_URL, POSTGRES_PASSWORD_FILE }).toEqual({ POSTGRES_URL: bare, POSTGRES_PASSWORD_FILE: file });
    // No file has the passwords of these.
    const simulator = Object.assign(new URL(whole), { pathname: '/simulator' }).href;
    expect([postgres_url, SIMULATOR_POSTGRES_URL]).toEqual([whole, simulator]);
  } finally {
    await discardStack(given, folder);
    await database.close();
  }
});
