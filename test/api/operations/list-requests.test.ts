import { MERCHANT_API } from '../../../src/contract/merchant-api';
import { LOGGED_ROUTES, REQUEST_ROUTES, type LoggedRequestAnswer } from '../../../src/contract/request-log';
import type { ListPage } from '../../../src/db/pages';
import { recordRows } from '../../support/database';
import { createTestProject, type TestProject } from '../../support/operator';
import { until } from '../../support/waits';

let own: TestProject;
let other: TestProject;
const list = (query = '', as = own) => as.merchant.send<ListPage<LoggedRequestAnswer>>('GET', `/v1/requests/${query}`);
const idsOf = ({ body }: { body: ListPage<{ id: string }> }) => body.items.map(({ id }) => id);

beforeAll(async () => {
  [own, other] = [await createTestProject(), await createTestProject()];
});

test('rules 25.3: lists the requests of the project alone, newest first, also those that were refused', async () => {
  const ids: string[] = [];
  for (const path of ['/v1/orders/', '/v1/orders/?x=1', '/v1/merchants/self/projects/self/']) {
    ids.unshift((await own.merchant.send('GET', path)).headers.get('x-request-id')!);
  }
  await other.merchant.getProject();
  await until('all are listed', async () => idsOf(await list()).length === 3);
  expect(idsOf(await list())).toEqual(ids);
  expect(idsOf(await list('?only_errors=true'))).toEqual([ids[1]]);
  expect(idsOf(await list('?only_errors=false'))).toEqual(ids);
  await until('the other project has its own', async () => idsOf(await list('', other)).length === 1);
  // Its own reads are not part of the log.
  expect(idsOf(await list())).toEqual(ids);
});

test.each([
  ['8889-01-23T19:59:04.800347-18:21', 0],
  ['9999-12-31T23:59:59.9-23:59', 0],
  ['0000-01-01T00:00:00+23:59', 1],
  [`2026-01-15T12:00:05.${'9'.repeat(200)}Z`, 1],
])(
  'every instant of ISO 8601 is understood, also those that Postgres does not read: since %s',
  async (since, least) => {
    const { status, body } = await list(`?since=${encodeURIComponent(since)}`);
    expect([status, Math.min(body.items.length, 1)]).toEqual([200, least]);
  },
);

describe('rules 25.3: many are paged', () => {
  let many: TestProject;
  beforeAll(async () => {
    many = await createTestProject();
    // Three instants, so that pages begin and end between rows of the same instant.
    await recordRows(
      `insert into logged_requests (id, project_id, api_key_id, received, operation, method, path, status, duration_ms,
         error_type, error_fields, is_repeat)
       select gen_random_uuid(), :project, 'x', timestamptz '2026-01-01 00:00Z' + n / 100 * interval '1 minute',
         case when n % 10 = 0 then 'createOrder' else 'listOrders' end, 'GET', '/v1/orders/',
         case when n % 20 = 0 then 500 else 200 end, 1, case when n % 10 = 0 then 'ServerError' end,
         case when n % 10 = 0 then '{}'::text[] end, false
       from generate_series(0, 259) n`,
      { project: many.id },
    );
  });
  const pagesOf = async (query: string) => {
    const pages: LoggedRequestAnswer[][] = [];
    let cursor: string | undefined;
    do {
      const { body } = await list(`?${query}${cursor === undefined ? '' : `&cursor=${cursor}`}`, many);
      pages.push(body.items);
      cursor = body.next;
    } while (cursor !== undefined);
    return pages;
  };

  it('each comes once, in order', async () => {
    const pages = await pagesOf('limit=70');
    expect(pages.map(({ length }) => length)).toEqual([70, 70, 70, 50]);
    const all = pages.flat();
    expect(new Set(all.map(({ id }) => id)).size).toBe(260);
    const received = all.map((one) => one.received);
    expect(received).toEqual(received.toSorted().toReversed());
  });

  it('of a period, and errors alone', async () => {
    const of = async (query: string) => (await pagesOf(query)).flat().length;
    expect(await of('since=2026-01-01T00:01:00Z&limit=100')).toBe(160);
    expect(await of('until=2026-01-01T00:01:00Z&limit=100')).toBe(200);
    expect(await of('since=2026-01-01T00:01:00Z&until=2026-01-01T00:01:00Z&limit=100')).toBe(100);
    // Cut to microseconds, not rounded up to the next minute.
    expect(await of(`until=2026-01-01T00:00:59.${'9'.repeat(200)}Z&limit=70`)).toBe(100);
    expect(await of('only_errors=true&limit=10')).toBe(26);
  });

  it('of an operation, of a status, and of both', async () => {
    const of = async (query: string) => (await pagesOf(query)).flat().length;
    expect(await of('operation=listOrders&limit=90')).toBe(234);
    expect(await of('operation=createOrder&limit=10')).toBe(26);
    expect(await of('operation=getOrder')).toBe(0);
    expect(await of('status=500&limit=10')).toBe(13);
    expect(await of('status=200&limit=100')).toBe(247);
    expect(await of('operation=createOrder&status=500&only_errors=true&since=2026-01-01T00:01:00Z')).toBe(8);
    expect(await of('operation=listOrders&status=500')).toBe(0);
  });

  it('every operation but those of the log can be selected', () => {
    const logged = Object.keys(MERCHANT_API.routes).filter((id) => !Object.hasOwn(REQUEST_ROUTES, id));
    expect(Object.keys(LOGGED_ROUTES).toSorted()).toEqual(logged.toSorted());
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['since=yesterday', 'since'],
    ['only_errors=yes', 'only_errors'],
    ['cursor=x', 'cursor'],
    ['state=500', 'state'],
    ['operation=payOrder', 'operation'],
    ['operation=listRequests', 'operation'],
    ['operation=toString', 'operation'],
    ['operation=', 'operation'],
    ['status=199', 'status'],
    ['status=600', 'status'],
    ['status=4xx', 'status'],
    ['status=400.0', 'status'],
    ['status=200&status=400', 'status'],
  ])('%s is a ValidationError', async (query, property_path) => {
    const { status, body } = await many.merchant.send('GET', `/v1/requests/?${query}`);
    expect([status, body]).toMatchObject([400, { error: { type: 'ValidationError', property_path } }]);
  });
});
