import { randomUUID } from 'node:crypto';
import {
  findLoggedRequest,
  insertLoggedRequests,
  listLoggedRequests,
  type LoggedRequest,
} from '../../../../src/db/requests/logged-requests';
import { queryRows } from '../../../../src/db/query';
import { removeOld } from '../../../../src/db/retention/retention';
import { toIsoTime } from '../../../../src/time';
import { createTestDatabase, planOf } from '../../../support/database';
import { NOW, PROJECT } from '../../../support/domain';
import { setUp } from '../../../support/set-up';

const database = setUp(() => createTestDatabase());

const aRow = (over: Partial<LoggedRequest> = {}): LoggedRequest => ({
  id: randomUUID(),
  project_id: PROJECT.id,
  api_key_id: '0123456789ab',
  received: toIsoTime(NOW),
  operation: 'getOrder',
  method: 'GET',
  path: '/v1/orders/{order_id}/',
  status: 200,
  duration_ms: 3,
  error_type: null,
  error_fields: null,
  idempotency_key: null,
  is_repeat: false,
  order_id: null,
  transaction_id: null,
  payment_link_id: null,
  n: null,
  object_id: null,
  ...over,
});

test('rows are written once, however often they come', async () => {
  const row = aRow({ error_type: 'ValidationError', error_fields: ['amount', 'a"b,c'], status: null });
  await insertLoggedRequests(database.db, [row]);
  await insertLoggedRequests(database.db, [row, aRow()]);
  const { received, ...found } = (await findLoggedRequest(database.db, row.id))!;
  const { received: sent, ...rest } = row;
  expect([found, Date.parse(received)]).toEqual([rest, Date.parse(sent)]);
});

test('rules 25.5: rows older than an instant are deleted, of every project, in as many statements as it takes', async () => {
  const old = toIsoTime(NOW - 60_000);
  await queryRows(
    database.db,
    `insert into logged_requests (id, project_id, api_key_id, received, operation, method, path, duration_ms, is_repeat)
     select gen_random_uuid(), :project, 'x', :old::timestamptz, 'listOrders', 'GET', '/v1/orders/', 1, false
     from generate_series(1, 20500)`,
    { project: PROJECT.id, old },
  );
  const kept = aRow();
  await insertLoggedRequests(database.db, [kept]);
  database.forget();
  await removeOld(database.db, 'logged_requests', NOW - 30_000);
  expect(database.statements).toHaveLength(3);
  const [left] = await queryRows<{ old: number; kept: number }>(
    database.db,
    `select count(*) filter (where received = :old) as old, count(*) filter (where id = :id) as kept
     from logged_requests`,
    { old, id: kept.id },
  );
  expect(left).toEqual({ old: 0, kept: 1 });
});

describe('of 20,000 requests', () => {
  beforeAll(async () => {
    await database.db.raw(
      `insert into logged_requests (id, project_id, api_key_id, received, operation, method, path, status, duration_ms, is_repeat)
       select gen_random_uuid(), ?, 'x', timestamptz '2026-01-01 00:00Z' + n * interval '1 second',
         case when n % 1000 = 0 then 'refundOrder' else 'getOrder' end, 'GET', '/', case when n % 1000 = 1 then 500 else 200 end, 1, false
       from generate_series(1, 20000) n`,
      [PROJECT.id],
    );
    await database.db.raw('analyze logged_requests');
  });

  test.each([
    [{ operation: 'refundOrder' }, 'logged_requests_operation'],
    [{ status: 500 }, 'logged_requests_status'],
    [{ operation: 'getOrder', status: 500 }, 'logged_requests_status'],
    [{ operation: 'refundOrder', since: toIsoTime(NOW) }, 'logged_requests_operation'],
    [{}, 'logged_requests_project'],
  ])('rules 25.3: an index finds the requests of a filter %j among many others', async (filter, index) => {
    const plan = await planOf(database, () => listLoggedRequests(database.db, PROJECT.id, filter, { limit: 50 }));
    expect(plan).toContain(`"Index Name":"${index}"`);
    expect(plan).not.toMatch(/"Seq Scan"/);
  });
});
