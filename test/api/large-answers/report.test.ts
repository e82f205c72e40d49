import { once } from 'node:events';
import { request } from 'node:http';
import type { Readable } from 'node:stream';
import { parseString } from 'fast-csv';
import { queryRows } from '../../../src/db/query';
import { addSearchChanges, finishSearchChanges } from '../../../src/db/search/search-outbox';
import { SEARCH_FIELD_NAMES } from '../../../src/domain/query/fields';
import { parseQuery } from '../../../src/domain/query/parse';
import type { SearchQuery } from '../../../src/domain/query/query';
import { INDEX } from '../../../src/search/settings';
import { PROJECT } from '../../support/domain';
import { writeOrders } from '../../support/rows';
import { aSearchWorld } from '../../support/search';
import { someOrders } from '../../support/search-orders';
import { setUp } from '../../support/set-up';
import { until } from '../../support/waits';

const world = setUp(aSearchWorld);
beforeAll(async () => {
  world.anIndexer();
  await writeOrders(world.db, someOrders(60, 247));
  await world.indexed();
});

const ask = (body: object, headers: Record<string, string> = {}) =>
  world.api.send('/v1/search/orders/?format=csv', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

/** RFC 4180, read by itself. */
function cellsOf(csv: string): string[][] {
  const lines: string[][] = [];
  const cell = /(?:"([^"]*(?:""[^"]*)*)"|([^",\r\n]*))(,|\r\n)/y;
  while (cell.lastIndex < csv.length) {
    const end_of_line = csv.indexOf('\r\n', cell.lastIndex);
    const line = csv.slice(cell.lastIndex, end_of_line);
    if (end_of_line > -1 && !line.includes('"')) {
      lines.push(line.split(','));
      cell.lastIndex = end_of_line + 2;
    } else lines.push(quotedLine(csv, cell));
  }
  return lines;
}

/** The line where `cell` stands, cell by cell; leaves it behind that. */
function quotedLine(csv: string, cell: RegExp): string[] {
  const cells: string[] = [];
  for (;;) {
    const at = cell.lastIndex;
    const [, quoted, plain = '', end] = cell.exec(csv) ?? [];
    if (end === undefined) throw new Error(`no CSV at ${at}: ${csv.slice(at, at + 40)}`);
    cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end !== ',') return cells;
  }
}

async function report(body: object): Promise<Record<string, string>[]> {
  const response = await ask(body);
  const csv = await response.text();
  if (response.status !== 200) throw new Error(csv);
  const [header, ...lines] = cellsOf(csv);
  expect(header).toEqual(SEARCH_FIELD_NAMES);
  return lines.map((cells) => Object.fromEntries(cells.map((cell, n) => [header![n]!, cell])));
}

const count = async (sql: string) =>
  (await queryRows<{ count: number }>(world.db, `select count(*) as count from ${sql}`))[0]!.count;

it('rules 20.14: has a row for each transaction and for each order without one, by the record or by the index', async () => {
  const expected = await count('orders o left join transactions t on t.order_id = o.id');
  const [by_record, by_index] = [await report({ query: '*' }), await report({ query: '* OR nobody' })];
  expect(by_record).toHaveLength(expected);
  expect(by_index).toEqual(by_record);
});

it('rules 20.14: orders that the index has refused are in it, by the record', async () => {
  const query = '* OR nobody';
  const before = await report({ query });
  const [lacking, outdated] = [...new Set(before.map(({ id }) => id!))] as [string, string];
  await world.writer.write(INDEX, [{ order_id: lacking, documents: [] }]);
  const refusals = [lacking, outdated].map((order_id) => ({ order_id, reason: 'invalid_document_id' }));
  await finishSearchChanges(world.db, [], refusals, Date.now());
  const after = await report({ query });
  const isTaken = ({ id }: Record<string, string>) => ![lacking, outdated].includes(id!);
  const taken = before.filter(isTaken);
  expect([after.length, after.slice(0, taken.length)]).toEqual([before.length, taken]);
  expect(after).toEqual(expect.arrayContaining(before));
  await addSearchChanges(world.db, [lacking, outdated]);
  await world.indexed();
});

it('another parser reads the same cells', async () => {
  const csv = await (await ask({ query: '*' })).text();
  const lines: string[][] = [];
  for await (const line of parseString(csv)) lines.push(line as string[]);
  expect(lines).toEqual(cellsOf(csv));
});

test.each([
  'created:2026-01-15',
  'created:{2026-01-15 TO *]',
  'NOT created:[* TO 2026-01-15}',
  'completed:',
  'modified:[2026-01-16 TO *] OR completed:',
])('the record and the index find the same: %s', async (query) => {
  const by_record = await report({ query, sort: 'created asc' });
  expect(by_record).not.toHaveLength(0);
  expect(await report({ query: `(${query}) -nobody`, sort: 'created asc' })).toEqual(by_record);
});

it('conditions on transactions choose rows', async () => {
  const declined = await report({ query: 'transaction.status:declined' });
  expect(declined).toHaveLength(await count("transaction_events where result = 'declined'"));
  expect(new Set(declined.map((row) => row['transaction.status']))).toEqual(new Set(['declined']));
});

test.each(['created asc', 'completed desc', 'amount', 'transaction.amount desc', 'modified'])(
  'has every row, sorted by %s',
  async (sort) => {
    const [field, direction = 'asc'] = sort.split(' ') as [string, string?];
    const sorted = await report({ query: '*', sort });
    expect(sorted).toHaveLength((await report({ query: '*' })).length);
    const values = sorted.map((row) => row[field]!);
    const filled = values.filter((value) => value !== '');
    // What has no value comes last.
    expect(values.slice(filled.length).every((value) => value === '')).toBe(true);
    const ordered = filled.map((value) => (field.includes('amount') ? value.padStart(20, '0') : value.slice(0, 23)));
    expect(ordered).toEqual(direction === 'asc' ? ordered.toSorted() : ordered.toSorted().toReversed());
  },
);

test.each(['modified asc', 'modified desc', 'completed asc', 'completed desc'] as const)(
  'rules 20.14: sorted by %s, a row that changes while the report is read is there once',
  async (sort) => {
    const [field, direction] = sort.split(' ') as ['modified' | 'completed', 'asc' | 'desc'];
    const all = await report({ query: '*', sort });
    const { query } = parseQuery('*') as { query: SearchQuery };
    const wanted = { project_id: PROJECT.id, query, sort: { field, direction } };
    const changing = all.filter((row) => row['completed'] !== '').map((row) => row['id']!);
    const found: string[] = [];
    for await (const rows of world.reader.rows(wanted, 10, (search) => search())) {
      // The first rows and the last ones now have the newest value, behind the place that was reached or before it.
      if (found.length === 0) {
        const order_ids = [...changing.slice(0, 5), ...changing.slice(-5)];
        await queryRows(
          world.db,
          `with changed as (
             update orders set modified = now(), version = version + 1 ${field === 'completed' ? ', completed = now()' : ''}
             where id = any(:order_ids::uuid[]) returning id
           ) insert into search_outbox (order_id) select id from changed`,
          { order_ids },
        );
        await world.indexed();
      }
      found.push(...rows.map(({ order_id, attempt }) => `${order_id} ${attempt}`));
    }
    expect(found).toHaveLength(all.length);
    expect(new Set(found).size).toBe(found.length);
  },
);

it('rules 20.14: is 503 while a change of more than a minute ago is not in the index', async () => {
  await world.stopIndexers();
  const change = `insert into search_outbox (order_id, changed) select id, now() - interval '61 seconds' from orders limit 1`;
  await queryRows(world.db, change);
  const response = await ask({ query: '* OR nobody' });
  expect([response.status, response.headers.get('retry-after'), await response.json()]).toEqual([
    503,
    expect.any(String),
    { error: { status: 503, type: 'ServerError', value: expect.stringContaining('The search index is behind') } },
  ]);
  expect((await ask({ query: '*' })).status).toBe(200);
  world.anIndexer();
  await world.indexed();
  expect((await ask({ query: '* OR nobody' })).status).toBe(200);
});

it('rules 20.14 and 20.15: shows amounts by the decimals of their currency, and neutralises what a spreadsheet would run', async () => {
  const cells = ['=1+1', '+cmd', '@sum', '-2+3', '\ttab', '-12.5', '+49123', 'a,"b"\r\nc'];
  await writeOrders(world.db, [
    ...cells.map((merchant_order_id) => ({ merchant_order_id, description: 'cells', transactions: [] })),
    ...['EUR', 'JPY', 'KWD'].map((currency) => ({ currency, description: 'decimals' })),
  ]);
  await world.indexed();
  const texts = (await report({ query: 'cells', sort: 'created' })).map((row) => row['merchant_order_id']);
  expect(texts).toEqual(["'=1+1", "'+cmd", "'@sum", "'-2+3", "'\ttab", '-12.5', '+49123', 'a,"b"\r\nc']);
  const amounts = (await report({ query: 'decimals' })).map((row) => [
    row['currency'],
    row['transaction.amount_with_decimals'],
  ]);
  expect(Object.fromEntries(amounts)).toEqual({ EUR: '12.50', JPY: '1250', KWD: '1.250' });
});

it('shows the texts of JSON columns as Postgres reads them', async () => {
  const fields = {
    customer: ['merchant_customer_id', 'email_address', 'last_name', 'country', 'locale'],
    'transaction.payment_method_details': ['truncated_pan', 'card_expiry'],
  };
  const columns = Object.entries(fields).flatMap(([column, keys]) => keys.map((key) => `${column}.${key}`));
  const expected = await queryRows<Record<string, string>>(
    world.db,
    `select ${columns.map((name) => `coalesce(${name.replace(/^transaction/, 't').replace(/\.(\w+)$/, " ->> '$1'")}, '') as "${name}"`).join(', ')}
     from orders o left join transactions t on t.order_id = o.id order by o.created, o.sequence, t.attempt`,
  );
  const found = await report({ query: '*', sort: 'created' });
  expect(found.map((row) => Object.fromEntries(columns.map((name) => [name, row[name]])))).toEqual(expected);
});

it('rules 20.15: is a file with a header, also when nothing is found', async () => {
  const response = await ask({ query: 'merchant_order_id:nobody' });
  expect(await response.text()).toBe(`${SEARCH_FIELD_NAMES.join(',')}\r\n`);
  expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(response.headers.get('content-disposition')).toMatch(
    /^attachment; filename="Test project \d{4}-\d\d-\d\d\.csv"$/,
  );
  // fetch accepts gzip and decompresses.
  expect(response.headers.get('content-encoding')).toBe('gzip');
  expect((await ask({ query: '*' }, { 'accept-encoding': 'identity' })).headers.get('content-encoding')).toBeNull();
});

test.each(['size', 'start', 'search_after'])('rules 20.14: refuses %s', async (name) => {
  const response = await ask({ query: '*', [name]: 1 });
  expect([response.status, await response.json()]).toMatchObject([400, { error: { property_path: name } }]);
});

it('refuses another format', async () => {
  const response = await world.api.send('/v1/search/orders/?format=xml', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"query": "*"}',
  });
  expect(response.status).toBe(400);
});

it('rules 20.17: goes on without the index for all orders and by creation, and else is 503', async () => {
  world.server.signal('SIGSTOP');
  const { status } = await ask({ query: 'status:completed' });
  world.server.signal('SIGCONT');
  expect(status).toBe(503);
  await world.server.kill();
  expect((await report({ query: '*' })).length).toBeGreaterThan(60);
  expect(await report({ query: 'created:2026-01-14' })).not.toHaveLength(0);
  const response = await ask({ query: 'status:completed' });
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)]);
  await world.server.start();
});

/** Rows as the record has them, by columns of the report; made by Postgres alone. */
async function recorded(where: string): Promise<Record<string, string>[]> {
  const instant = (column: string) =>
    `coalesce(to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"'), '')`;
  return await queryRows(
    world.db,
    `select o.id::text, coalesce(o.merchant_order_id, '') as merchant_order_id, ${instant('o.created')} as created,
       ${instant('o.completed')} as completed, o.currency, o.amount::text, o.status, t.id::text as "transaction.id",
       t.status as "transaction.status", t.payment_method as "transaction.payment_method",
       to_char(t.amount / 100.0, 'FM99999990.00') as "transaction.amount_with_decimals", o.project_id::text, o.kind,
       'is-test' as flags, ${instant('o.modified')} as modified, t.credit_debit as "transaction.credit_debit"
     from orders o join transactions t on t.order_id = o.id where ${where}`,
  );
}

/** Rows of 8,400 bytes and more: together more than the buffers between the API and its client hold. */
const LARGE = 3_000;
const PAGES = LARGE / 200;
const customer = { last_name: 'x'.repeat(8_400) };

describe('of 25 MB', () => {
  beforeAll(async () => {
    for (let n = 0; n < LARGE; n += 1_000) {
      const orders = Array.from({ length: 1_000 }, (_, k) => ({
        customer,
        merchant_order_id: k === 7 ? `L-${n + k}, "quoted"` : `L-${n + k}`,
        amount: n + k,
        description: 'large',
      }));
      await writeOrders(world.db, orders);
    }
    // As Postgres does by itself some time later: without statistics it sorts all orders for each page.
    await queryRows(world.db, 'analyze');
    await world.indexed();
  });

  test.each([
    ['no row', 'created:[2030-01-01 TO *]', 'false'],
    ['no row, by the index', 'large nobody', 'false'],
    ['one row', 'merchant_order_id:L-7*  amount:7', `o.merchant_order_id = 'L-7, "quoted"'`],
    ['all rows, by the record', 'created:[2026-01-01 TO *]', "o.created >= '2026-01-01'"],
    ['all rows, by the index', 'large', "o.description = 'large'"],
  ])('each cell is as Postgres has it: %s', async (_title, query, where) => {
    const expected = new Map(
      (await recorded(`o.description = 'large' and ${where}`)).map((row) => [row['transaction.id'], row]),
    );
    const found = (await report({ query })).filter((row) => row['merchant_order_id']!.startsWith('L-'));
    expect(found).toHaveLength(expected.size);
    // One comparison for all: thousands would take longer than the report.
    const differing = found.filter((row) => {
      const wanted = expected.get(row['transaction.id']!);
      return wanted === undefined || Object.entries(wanted).some(([column, value]) => row[column] !== value);
    });
    expect(differing).toEqual([]);
    expect(new Set(found.map((row) => row['transaction.id'])).size).toBe(expected.size);
  });

  /** A report whose bytes arrive as its client reads them. */
  async function begin() {
    const client = request(new URL('/v1/search/orders/?format=csv', world.api.url), {
      method: 'POST',
      headers: { authorization: 'Basic eDo=', 'content-type': 'application/json' },
    });
    client.on('error', () => undefined);
    client.end('{"query": "*"}');
    const [response] = (await once(client, 'response')) as [Readable];
    return { client, response };
  }

  it('rules 20.16: a client that reads slowly is waited for: nothing is read ahead of it but what buffers hold', async () => {
    const { response } = await begin();
    const [first] = (await once(response.setEncoding('utf8'), 'data')) as [string];
    response.pause();
    world.forget();
    let [pages, still] = [-1, 0];
    await until('no more pages are read', () => {
      const now = world.statements.filter((sql) => sql.includes('join lateral')).length;
      still = now === pages ? still + 1 : 0;
      pages = now;
      return still === 4;
    });
    expect(pages).toBeLessThan(0.7 * PAGES);
    let text = first;
    for await (const chunk of response) text += String(chunk);
    expect(text.split('\r\n').length).toBeGreaterThan(LARGE);
  });

  it('rules 20.22: one report at a time is sent to a project; a client that leaves makes room for the next', async () => {
    const leaver = await begin();
    await once(leaver.response, 'data');
    // Not read on, it is under way until its client leaves.
    leaver.response.pause();
    world.forget();
    const isFinding = (sql: string) => sql.includes('o.created, o.sequence from orders');
    const answers: number[] = [];
    const asked = Array.from({ length: 4 }, async () => {
      const response = await ask({ query: 'created:2030-01-01' });
      answers.push(response.status);
      return await response.text();
    });
    // Three may wait: once the fourth is refused, they do.
    await until('one is refused', () => answers.length > 0);
    expect([answers, world.statements.filter(isFinding)]).toEqual([[429], []]);
    leaver.client.destroy();
    const texts = await Promise.all(asked);
    expect(answers).toEqual([429, 200, 200, 200]);
    expect(texts.filter((text) => text === `${SEARCH_FIELD_NAMES.join(',')}\r\n`)).toHaveLength(3);
  });
});

it('rules 20.14: has each order once, also of more than the record looks for at a time', async () => {
  // One more than FOUND_PAGE of api/large-answers/report; seven are created at each instant.
  const orders = 20_001;
  await queryRows(
    world.db,
    `insert into orders (id, clock_id, project_id, currency, amount, status, attempts_max, charged_by, expiration_period,
       expires_at, created, modified, completed)
     select id, id, :project_id, 'EUR', 1250, 'completed', 1, 'token', 'PT30M', at, at, at, at
     from (select gen_random_uuid() as id, timestamptz '2027-01-01Z' + n / 7 * interval '1 millisecond' as at
           from generate_series(1, :orders::int) n) made`,
    { project_id: PROJECT.id, orders },
  );
  const found = (await report({ query: 'created:2027-01-01' })).map(({ id }) => id);
  expect([found.length, new Set(found).size]).toEqual([orders, orders]);
});
