import type { LoggedRequestAnswer } from '../../src/contract/requests';
import { connectDatabase, queryRows } from '../../src/db/connection';
import { Merchant } from '../support/merchant';
import { OwnStack } from '../support/stack';
import { until } from '../support/waits';

/** The request log of merchants while Postgres or the API goes away. */
const own = new OwnStack('request-log');
let merchant: Merchant;

beforeAll(async () => {
  merchant = new Merchant(await own.start());
});
afterAll(() => own.discard());

const sent = async (path: string) => {
  const { status, headers } = await merchant.send('GET', path);
  return { status, id: headers.get('x-request-id')! };
};
const logged = async (id: string) => {
  const { status, body } = await merchant.send<LoggedRequestAnswer>('GET', `/v1/requests/${id}/`);
  return status === 200 && body;
};

test('rules 25.4: requests of an outage of Postgres are in the log after it', async () => {
  // The API remembers the key for two seconds.
  const before = await sent('/v1/orders/?x=1');
  const during = await own.without('postgres', () => sent('/v1/orders/?x=2'));
  expect([before.status, during.status]).toEqual([400, 400]);
  await own.kill('postgres', 'SIGINT');
  await own.ready();
  for (const { id } of [before, during]) {
    expect(await until('it is in the log', () => logged(id))).toMatchObject({ id, status: 400 });
  }
});

test('rules 25.4: an API that is told to stop writes the requests that wait', async () => {
  const { id } = await sent('/v1/orders/?x=3');
  const pid = own.pid('api');
  process.kill(pid, 'SIGTERM');
  await until('the API is started again', () => own.pid('api') !== pid);
  const db = connectDatabase(merchant.stack.postgres_url, { pool_max: 1 });
  try {
    expect(await queryRows(db, 'select status from logged_requests where id = :id', { id })).toEqual([{ status: 400 }]);
  } finally {
    await db.destroy();
  }
});
