import { randomBytes } from 'node:crypto';
import { createBulkReads } from '../../../api/large-answers/bulk-reads';
import { createOperations } from '../../../api/operations';
import { LIST_MAX } from '../../../api/large-answers/list';
import type { MerchantContext, MerchantOperations, MerchantServices } from '../../../api/merchant';
import type { Stream } from '../../../api/operation';
import { orderListSchema, type Order } from '../../../src/contract/order';
import { findProject, type Project } from '../../../src/db/projects/projects';
import { createTestDatabase } from '../../support/database';
import { PROJECT } from '../../support/domain';
import { Merchant, type RefusalName } from '../../support/merchant';
import { setUp } from '../../support/set-up';
import { stack } from '../../support/stack';

const DAY = 24 * 60 * 60 * 1_000;
const never = new AbortController().signal;

describe('over HTTP', () => {
  const list = (merchant: Merchant, query: Record<string, string> | string = '') =>
    merchant.send<Order[] & { error: RefusalName }>(
      'GET',
      `/v1/orders/?${typeof query === 'string' ? query : new URLSearchParams(query).toString()}`,
    );

  test('rules 5.8: a bare array of whole orders, newest first, both ends included', async () => {
    const merchant = new Merchant();
    const orders = [
      await merchant.createOrder(),
      await merchant.paidOrder('approved'),
      await merchant.createOrder({ extra: { a: 1 } }),
    ];
    const [oldest, , newest] = orders;
    const { status, headers, body } = await list(merchant, {
      created_since: oldest!.created,
      created_until: newest!.created,
    });
    expect([status, headers.get('content-type'), headers.get('etag')]).toEqual([200, 'application/json', null]);
    // Other tests use the project too.
    const mine = (body: Order[]) => body.filter(({ id }) => orders.some((order) => order.id === id));
    expect(mine(orderListSchema.parse(body))).toEqual([...orders].toReversed());
    expect([body[0]!.created <= newest!.created, body.at(-1)!.created]).toEqual([true, oldest!.created]);
    expect(mine((await list(merchant)).body)).toEqual([...orders].toReversed());
    // Nobody encoded the plus sign of the offset.
    expect(mine((await list(merchant, `created_since=${newest!.created}`)).body)).toEqual([newest]);
  });

  test('only the orders of the project', async () => {
    const [test, live] = [new Merchant(), new Merchant(stack(), stack().live_api_key)];
    const [own, other] = [await test.createOrder(), await live.createOrder()];
    const ids = (await list(live)).body.map(({ id }) => id);
    expect([ids.includes(other.id), ids.includes(own.id)]).toEqual([true, false]);
  });

  test.each<[Record<string, string>, string]>([
    [{ created_since: 'yesterday' }, 'created_since'],
    [{ created_until: '2026-01-15' }, 'created_until'],
    [{ created_since: '2026-01-15T12:00:00' }, 'created_since'],
    [{ created_since: '2026-01-01T00:00:00Z', created_until: '2026-02-01T00:00:01Z' }, 'created_since'],
    [{ created_since: '4111111111111111' }, 'created_since'],
  ])('rules 5.8: %j: ValidationError on %s', async (query, property_path) => {
    const { status, body } = await list(new Merchant(), query);
    expect([status, body.error]).toMatchObject([400, { type: 'ValidationError', property_path }]);
  });

  test('a parameter that comes twice: ValidationError', async () => {
    const { status, body } = await list(
      new Merchant(),
      'created_since=2026-01-01T00:00:00Z&created_since=2026-01-02T00:00:00Z',
    );
    expect([status, body.error.property_path]).toEqual([400, 'created_since']);
  });

  test.each(['0000-01-01T00:00:00Z', '9999-12-31T23:59:59-23:59', '1969-12-31T23:59:59+23:59'])(
    'no orders around %s',
    async (instant) => {
      expect((await list(new Merchant(), { created_since: instant, created_until: instant })).body).toEqual([]);
    },
  );
});

describe('many orders', () => {
  const database = setUp(() => createTestDatabase());
  let project: Project;
  let listOrders: MerchantOperations['listOrders'];
  beforeAll(async () => {
    project = (await findProject(database.db, PROJECT.id))!;
    ({ listOrders } = createOperations({
      bulk: createBulkReads(database.db, 2),
      public_url: 'http://127.0.0.1:1',
    } as MerchantServices));
  });

  /** Parts of lists that were read since `forget()`. */
  const partsRead = () => database.statements.filter((sql) => sql.includes('bytes_before')).length;
  const spent: number[] = [];
  const spend = (tokens: number) => Promise.resolve(void spent.push(tokens));
  const list = async (query: { created_since?: string; created_until?: string } = {}) =>
    (await listOrders({ caller: { project }, spend } as MerchantContext, { query })) as Stream;
  const listed = async (query: { created_since?: string; created_until?: string } = {}) => {
    let text = '';
    for await (const chunk of (await list(query)).chunks(never)) text += chunk;
    return JSON.parse(text) as Order[];
  };

  test(`the newest ${LIST_MAX.toLocaleString('en')}, in pages; created of the last one leads to the rest`, async () => {
    const start = Date.now() - DAY;
    const rows = Array.from({ length: LIST_MAX + 5 }, (_, n) => ({
      id: uuid(),
      project_id: PROJECT.id,
      currency: 'EUR',
      amount: n,
      status: 'new',
      attempts_max: 5,
      charged_by: 'customer',
      expiration_period: 'PT30M',
      expires_at: new Date(start + DAY),
      // Two of an instant: a page may end between them.
      created: new Date(start + n - (n % 2)),
      modified: new Date(start + n),
    }));
    await database.db.batchInsert(
      'orders',
      rows.map((row) => ({ ...row, clock_id: row.id })),
      2_000,
    );
    database.forget();
    const orders = await listed();
    expect(partsRead()).toBeLessThan(LIST_MAX / 100);
    expect(new Set(orders.map(({ id }) => id)).size).toBe(LIST_MAX);
    expect(spent.reduce((sum, tokens) => sum + tokens, 0)).toBe(LIST_MAX / 100);
    const created = orders.map((order) => order.created);
    expect(created).toEqual(created.toSorted().toReversed());
    const rest = await listed({ created_until: orders.at(-1)!.created });
    const older = rest.filter(({ id }) => !orders.some((order) => order.id === id));
    expect(older).toHaveLength(5);
    expect(new Set([...orders, ...older].map(({ id }) => id)).size).toBe(LIST_MAX + 5);
  });

  test('a part is read when the one before is taken', async () => {
    const { chunks } = await list();
    database.forget();
    const reader = chunks(never)[Symbol.asyncIterator]();
    await reader.next();
    expect(partsRead()).toBe(1);
    await reader.next();
    expect(partsRead()).toBe(2);
    await reader.return?.();
  });

  test('no part is read for a client that has left', async () => {
    const leaving = new AbortController();
    const reader = (await list()).chunks(leaving.signal)[Symbol.asyncIterator]();
    await reader.next();
    database.forget();
    leaving.abort(new Error('left'));
    await expect(reader.next()).rejects.toThrow('left');
    expect(partsRead()).toBe(0);
  });

  test('rules 5.11: no part holds more than 256 KiB and one order, also where large orders follow small ones', async () => {
    const large = 50_000;
    await database.db.raw(
      'update orders set order_lines = ? where id in (select id from orders order by created desc limit 60 offset 200)',
      [JSON.stringify([{ text: 'x'.repeat(large) }])],
    );
    const lengths: number[] = [];
    for await (const part of (await list()).chunks(never)) {
      lengths.push(part.length);
      if (lengths.length === 60) break;
    }
    expect(lengths.reduce((sum, length) => sum + length)).toBeGreaterThan(60 * large);
    expect(Math.max(...lengths)).toBeLessThan(256 * 1_024 + large + 1_000);
  });

  test('lists take turns: ten at once ask the database one after another', async () => {
    const lists = await Promise.all(Array.from({ length: 10 }, () => list()));
    const open: number[] = [];
    let under_way = 0;
    const isRead = ({ sql }: { sql: string }) => sql.includes('bytes_before');
    database.db.on('query', (query: { sql: string }) => isRead(query) && open.push((under_way += 1)));
    database.db.on('query-response', (_rows: unknown, query: { sql: string }) => isRead(query) && (under_way -= 1));
    await Promise.all(lists.map(({ chunks }) => chunks(never)[Symbol.asyncIterator]().next()));
    expect(open).toEqual(Array(10).fill(1));
  });
});

const uuid = () =>
  randomBytes(16)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
