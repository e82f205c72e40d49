import { randomUUID } from 'node:crypto';
import net from 'node:net';
import { checkWritable, isUnavailable } from '../../../src/db/availability';
import { connectDatabase } from '../../../src/db/connection';
import { prepared, queryRows, type Database } from '../../../src/db/query';
import { parseConfig } from '../../../src/config';
import { openDatabase } from '../../../src/processes/connections';
import { createTestDatabase, type TestDatabase } from '../../support/database';

/** A database that does not answer is told of in time, whatever it is that keeps it. */
const LIMITS = { connection: 1_500, silence: 1_500 };
/** Statements and waits for a lock that end sooner than those of the service. */
const SHORT = 'set statement_timeout = 500; set lock_timeout = 500';
let url: string;
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  url = database.url;
});

const opened: Database[] = [];
const open = (address: string, options: Parameters<typeof connectDatabase>[1] = {}) => {
  const db = connectDatabase(address, { pool_max: 1, limits: LIMITS, quiet: true, ...options });
  opened.push(db);
  return db;
};
const sockets: net.Socket[] = [];
const servers: net.Server[] = [];
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
  await Promise.all([...opened.map((db) => db.destroy()), database.close()]);
});

/** A server in front of Postgres. */
async function inFront(onConnection: (socket: net.Socket) => void): Promise<string> {
  const server = net.createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    onConnection(socket);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const through = new URL(url);
  through.port = String((server.address() as net.AddressInfo).port);
  return through.toString();
}

/** What became of a statement, and that it was told in time. */
async function told(work: Promise<unknown>): Promise<string> {
  const began = Date.now();
  const outcome = await work.then(
    () => 'answered',
    (error: unknown) => (isUnavailable(error) ? 'away' : `${String(error)}`),
  );
  expect(Date.now() - began).toBeLessThan(8_000);
  return outcome;
}

test('a lock that somebody keeps', async () => {
  const [keeper, waiting] = [open(url), open(url, { session_sql: SHORT })];
  await keeper.transaction(async (trx) => {
    await trx.raw('select pg_advisory_xact_lock(4711)');
    expect(await told(queryRows(waiting, 'select pg_advisory_xact_lock(4711)'))).toBe('away');
  });
  expect(await told(queryRows(waiting, 'select pg_advisory_xact_lock(4711)'))).toBe('answered');
});

test('a statement without end', async () => {
  const db = open(url, { session_sql: SHORT });
  expect(await told(queryRows(db, 'select pg_sleep(10)'))).toBe('away');
  expect(await told(queryRows(db, 'select 1'))).toBe('answered');
});

test.each(['25006', '40001', '40P01', '53100', '53200', '53400'])(
  'SQLSTATE %s: the statement was refused for now',
  async (code) => {
    const refuse = `do $$ begin raise exception using errcode = '${code}'; end $$`;
    expect(await told(open(url).raw(refuse))).toBe('away');
  },
);

test('rules 2.7: a read-only database is not ready; when it can write, the pool opens connections that write', async () => {
  const db = open(url, { pool_max: 2 });
  const name = new URL(url).pathname.slice(1);
  // Its connection too is new, and read-only, after the failure in another pool.
  const setReadOnly = (value: string) =>
    database.db.raw(`begin read write; alter database ${name} set default_transaction_read_only = ${value}; commit`);
  const write = () => queryRows(db, 'delete from request_claims');
  await setReadOnly('on');
  await expect(checkWritable(open(url))).rejects.toThrow('is read-only');
  // Two connections that stay read-only.
  await Promise.all([queryRows(db, 'select pg_sleep(0.3)'), queryRows(db, 'select pg_sleep(0.3)')]);
  await setReadOnly('off');
  expect(await told(write())).toBe('away');
  // Every connection from before that failure is closed, not only the one that failed.
  expect(await Promise.all([told(write()), told(write())])).toEqual(['answered', 'answered']);
  await checkWritable(db);
});

test('rules 2.7: a database whose clock differs by more than a second is not ready', async () => {
  const db = open(url);
  for (const difference_ms of [-1_500, 1_500]) {
    const checked = checkWritable(db, () => Date.now() + difference_ms);
    await expect(checked).rejects.toThrow(/^has a clock that differs by 1\.\d s$/);
  }
});

describe('a prepared statement', () => {
  const selectTwice = prepared<{ twice: number; text: string }>(
    'select twice',
    `select :n::int + :n as twice, :text::text as text, '12:30'::time`,
  );
  const addClaim = prepared('add a claim', `insert into request_claims (request_id, is_withdrawn) values (:id, false)`);

  test('has a binding as often as its name occurs, and neither casts nor texts are bindings', async () => {
    expect(await selectTwice(open(url), { n: 2, text: ':n', other: 'unused' })).toMatchObject([
      { twice: 4, text: ':n' },
    ]);
  });

  test('fails without one of its bindings', async () => {
    await expect(selectTwice(open(url), { n: 2, text: undefined })).rejects.toThrow('there is no binding text');
  });

  test('belongs to its SQL transaction, and is refused after it', async () => {
    const db = open(url, { pool_max: 2 });
    const id = randomUUID();
    const count = async () => (await db('request_claims').where({ request_id: id })).length;
    let ended: Database | undefined;
    await db.transaction(async (trx) => {
      ended = trx;
      await addClaim(trx, { id });
      expect(await count()).toBe(0);
    });
    expect(await count()).toBe(1);
    await expect(addClaim(ended!, { id: randomUUID() })).rejects.toThrow('Transaction query already complete');
  });

  test('that fails leaves its connection to the next one, and its error keeps the code of Postgres', async () => {
    const db = open(url);
    const id = randomUUID();
    await addClaim(db, { id });
    await expect(addClaim(db, { id })).rejects.toMatchObject({ code: '23505' });
    expect(await selectTwice(db, { n: 1, text: '' })).toHaveLength(1);
  });

  test('waits for a connection of a full pool no longer than any other statement', async () => {
    const db = open(url);
    await db.transaction(async (trx) => {
      await trx.raw('select 1');
      const waiting = [told(selectTwice(db, { n: 1, text: '' })), told(queryRows(db, 'select 1'))];
      expect(await Promise.all(waiting)).toEqual(['away', 'away']);
    });
  });
});

test('a server that takes connections and says nothing', async () => {
  const silent = open(await inFront(() => undefined), { limits: { connection: 300, silence: 300 } });
  expect(await told(queryRows(silent, 'select 1'))).toBe('away');
});

test('a server that is not there', async () => {
  expect(await told(queryRows(open('postgres://nobody@127.0.0.1:1/nothing'), 'select 1'))).toBe('away');
});

test('a server that refuses the password', async () => {
  const wrong = new URL(url);
  wrong.password = 'another';
  await expect(queryRows(open(wrong.href), 'select 1')).rejects.toMatchObject({ code: '28P01' });
  expect(await told(queryRows(open(wrong.href), 'select 1'))).toBe('away');
  // A process that starts ends with this message.
  await expect(openDatabase(parseConfig({ POSTGRES_URL: wrong.href }))).rejects.toThrow(
    'password authentication failed',
  );
});

test.each(['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', '28000'])(
  '%s: the server and this process do not accept each other',
  (code) => expect(isUnavailable(Object.assign(new Error('refused'), { code }))).toBe(true),
);

test('a server that falls silent: the connection is given up, and a new one answers', async () => {
  const pairs: [net.Socket, net.Socket][] = [];
  const { hostname, port } = new URL(url);
  const db = open(
    await inFront((socket) => {
      const upstream = net.connect(Number(port), hostname).on('error', () => undefined);
      sockets.push(upstream);
      socket.pipe(upstream).pipe(socket);
      pairs.push([socket, upstream]);
    }),
  );
  expect(await told(queryRows(db, 'select 1'))).toBe('answered');
  for (const [socket, upstream] of pairs) upstream.unpipe(socket).pause();
  expect(await told(queryRows(db, 'select 1'))).toBe('away');
  expect(await told(queryRows(db, 'select 1'))).toBe('answered');
  expect(pairs).toHaveLength(2);
});

test.each([
  new Error('something else'),
  Object.assign(new Error('duplicate key'), { code: '23505' }),
  // Of a request whose client has left.
  Object.assign(new Error('request aborted'), { code: 'ECONNABORTED' }),
  undefined,
  'timeout expired',
])('%s is not the database’s silence', (error) => {
  expect(isUnavailable(error)).toBe(false);
});

test.each(['25P03', '57P05'])(
  'SQLSTATE %s, of an idle session that Postgres has ended, counts as a lost connection',
  (code) => {
    expect(isUnavailable(Object.assign(new Error('terminating connection'), { code }))).toBe(true);
  },
);
