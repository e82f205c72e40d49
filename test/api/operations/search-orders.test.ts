import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import pino from 'pino';
import { createBulkReads } from '../../../api/large-answers/bulk-reads';
import { searchOrders } from '../../../api/operations/search-orders';
import { SEARCH_FIELD_NAMES } from '../../../src/domain/query/fields';
import { QUERY_LIMITS, parseQuery } from '../../../src/domain/query/parse';
import type { SearchQuery } from '../../../src/domain/query/query';
import { queryRows } from '../../../src/db/query';
import { findProject, upsertProject } from '../../../src/db/projects/projects';
import { SearchReader } from '../../../src/search/reader';
import { CUTOFF_MS } from '../../../src/search/settings';
import { secrets } from '../../support/database';
import { PROJECT } from '../../support/domain';
import { writeOrders } from '../../support/rows';
import { aSearchWorld, type SearchAnswer } from '../../support/search';
import { plainOrders, plainSearch, someOrders, type PlainOrder } from '../../support/search-orders';
import { setUp } from '../../support/set-up';
import { serveTestApi } from '../../support/test-api';
import { sendUntilAnswered, until } from '../../support/waits';

/** Random searches of a test. SEARCHES=300 to look for differences. */
const SEARCHES = Number(process.env['SEARCHES'] ?? 12);

const world = setUp(aSearchWorld);
beforeAll(async () => {
  world.anIndexer();
  await writeOrders(world.db, someOrders(60, 247));
  await world.indexed();
});

function read(text: string): SearchQuery {
  const parsed = parseQuery(text);
  if ('problem' in parsed) throw new Error(`${text}: ${parsed.problem}`);
  return parsed.query;
}

/** The ids that a search finds, sorted. */
async function found(query: string): Promise<string[]> {
  const { status, body } = await world.search({ query, size: 1_000 });
  if (status !== 200) throw new Error(`${query}: ${status} ${JSON.stringify(body)}`);
  expect(body.hits).toBe(body.orders.length);
  return body.orders.map(({ id }) => id).toSorted();
}

describe('rules 20.24: the index reads every query that is not refused', () => {
  const closed = (opening: string, levels: number) => opening + ')'.repeat(levels);
  const alternating = (levels: number) =>
    closed(
      Array.from({ length: levels }, (_, n) => (n % 2 === 0 ? '-kind:refund AND (' : 'status:new OR (')).join('') + 'a',
      levels,
    );
  const oneLevelEach = (levels: number) => closed(`${'status:new (amount:1 OR '.repeat(levels)}a`, levels);
  test.each([
    ['40 times NOT', `${'NOT '.repeat(40)}status:new`],
    ['49 times NOT with parentheses', closed(`${'NOT ('.repeat(24)}-status:new`, 24)],
    ['OR and AND in turn, 49 deep', alternating(49)],
    ['below NOT', `NOT (${alternating(48)})`],
    ['OR within AND, as deep as allowed', oneLevelEach(48)],
    ['a range below NOT, as deep as allowed', `-(${oneLevelEach(47)} OR amount:[1 TO 99])`],
    ['500 terms', Array.from({ length: 500 }, (_, n) => `amount:${n}`).join(' OR ')],
    ['8,192 characters', `merchant_order_id:"${'語'.repeat(QUERY_LIMITS.characters - 20)}"`],
  ])('%s', async (_, query) => {
    const { status, body } = await world.search({ query, size: 1_000 });
    expect([status, body.error]).toEqual([200, undefined]);
    const expected = plainSearch(await plainOrders(world.db), read(query));
    expect(body.orders.map(({ id }) => id).toSorted()).toEqual(expected.toSorted());
  });

  it('one level deeper is a ValidationError with the position', async () => {
    const { status, body } = await world.search({ query: oneLevelEach(49) });
    expect([status, body.error]).toMatchObject([400, { type: 'ValidationError', property_path: 'query' }]);
    expect(body.error?.property_description).toBe('OR within AND deeper than 48 times at 1165');
  });

  it('random queries of up to the allowed length and depth', async () => {
    const term = fc.oneof(
      fc.constantFrom('a', '-b', '*', '"two books"', 'amount:[1 TO 99]', 'created:{2026-01-15 TO *]', 'completed:'),
      fc.constantFrom(...SEARCH_FIELD_NAMES).map((name) => `${name}:`),
    );
    const opening = fc.constantFrom('(', 'NOT (', '-(', 'NOT -(');
    const level = fc.tuple(term, fc.constantFrom(' ', ' OR ', ' AND '), opening).map((parts) => parts.join(''));
    const nested = fc.tuple(fc.array(level, { maxLength: 52, size: 'max' }), fc.array(term, { minLength: 1 }));
    const query = nested.map(([levels, terms]) => closed(levels.join('') + terms.join(' OR '), levels.length));
    let deep = 0;
    await fc.assert(
      fc.asyncProperty(query, async (text) => {
        const { status, body } = await sendUntilAnswered<SearchAnswer>(() => world.search({ query: text }));
        expect([text, status, body.error?.type]).toEqual([
          text,
          ...('query' in parseQuery(text) ? [200, undefined] : [400, 'ValidationError']),
        ]);
        if (status === 200 && text.split('(').length > 20) deep += 1;
      }),
      { numRuns: 3 * SEARCHES },
    );
    expect(deep).toBeGreaterThan(0);
  });
});

it('rules 20.23: prefix terms beyond the limit are a ValidationError that says how many are allowed, and where', async () => {
  const query = (count: number) => Array.from({ length: count }, (_, n) => `merchant_order_id:a${n}*`).join(' OR ');
  expect((await world.search({ query: query(10) })).status).toBe(200);
  const { status, body } = await world.search({ query: query(500).slice(0, 8_000) + '*' });
  expect([status, body.error]).toMatchObject([400, { type: 'ValidationError', property_path: 'query' }]);
  expect(body.error?.property_description).toBe('more than 10 terms that end with * at 251');
});

describe('rules 20.2, 20.4, 20.6 and 20.7: finds what a look at every order finds', () => {
  let orders: PlainOrder[];
  beforeAll(async () => {
    orders = await plainOrders(world.db);
  });

  test.each([
    ...['status:completed', 'status:see-transactions', '-status:completed', 'NOT (status:new OR status:error)'],
    ...[
      'merchant_order_id:A-1001',
      'merchant_order_id:a-10*',
      'merchant_order_id:" A-1001"',
      'merchant_order_id:"A 1001"',
    ],
    ...['merchant_order_id:12', 'merchant_order_id:abc', 'merchant_order_id:Ä-1', 'merchant_order_id:order:1'],
    ...['merchant_order_id:cafe', 'merchant_order_id:cafe*', 'NOT merchant_order_id:cafe*', 'merchant_order_id:café'],
    ...['merchant_order_id:"say \\"hi\\""', 'merchant_order_id:"back\\\\slash"', 'merchant_order_id:"star*"'],
    ...['merchant_order_id:star*', 'merchant_order_id:', 'merchant_order_id:""', '-merchant_order_id:'],
    ...['merchant_order_id:"OR"', `merchant_order_id:${'x'.repeat(255)}`, `merchant_order_id:${'語'.repeat(255)}`],
    ...[`merchant_order_id:${'語'.repeat(254)}*`, `NOT merchant_order_id:${'語'.repeat(255)}*`],
    ...['amount:1250', 'amount:[1 TO 99]', 'amount:{1 TO *]', 'amount:[* TO 1}', 'amount:9007199254740991', 'amount:0'],
    ...[
      'created:2026-01-15',
      'created:[2026-01-15 TO 2026-01-15]',
      'created:{2026-01-15 TO *]',
      'created:[* TO 2026-01-15}',
    ],
    ...['created:2026-01-15T12:00:00Z', 'created:[2026-01-15T12:00:00.123Z TO 2026-01-15T12:00:00.123Z]'],
    ...[
      'completed:',
      '-completed:',
      'completed:[2026-01-01 TO 2026-01-15]',
      'modified:[2026-01-16 TO *]',
      'expires_at:',
    ],
    ...[
      'currency:JPY',
      'currency:kwd amount:[1 TO *]',
      'kind:payment',
      'kind:refund',
      'flags:is-test',
      'flags:is-refund',
    ],
    ...['flags:has-refunds', 'flags:has*', '-flags:has*', 'related_order_id:', '-related_order_id:'],
    ...[
      'transaction.status:declined',
      'transaction.status:error',
      'transaction.status:error -transaction.status:declined',
    ],
    ...['NOT transaction.status:accepted', 'transaction.id:', '-transaction.id:', 'transaction.amount:[1000 TO *]'],
    ...[
      'transaction.amount_with_decimals:12.5',
      'transaction.amount_with_decimals:1.25',
      'transaction.amount_with_decimals:[1 TO 20}',
    ],
    ...['transaction.payment_method:apple-pay transaction.status:declined', 'transaction.payment_method:APPLE*'],
    ...[
      'transaction.payment_method_details.truncated_pan:411111******1111',
      'transaction.payment_method_details.truncated_pan:5544*',
    ],
    ...['transaction.payment_method_details.card_expiry:122034', 'transaction.outcomes.processing.response_code:05'],
    ...['transaction.capture_mode:manual', 'transaction.transaction_type:refund', 'transaction.credit_debit:debit'],
    ...['transaction.settlement_currency:', 'transaction.settlement_amount:12.3', 'transaction.fee_amount:[0.1 TO *]'],
    ...[
      'customer.last_name:SMITH',
      'customer.last_name:öztürk',
      'customer.last_name:王',
      'customer.country:NL',
      'customer.locale:nl*',
    ],
    ...['customer.email_address:A@B.EXAMPLE', 'customer.merchant_customer_id:""', 'customer.merchant_customer_id:'],
    ...[
      'books',
      'BOOK*',
      'two blue',
      'smith',
      'नमस्ते',
      '"O\'Brien"',
      'a@b.example',
      '-books',
      'bücher OR zoë',
      'boo* -books',
    ],
    ...['related_payment_link_id:', 'project_id:0190c000*', 'merchant_id:0190c000-0000-7000-8000-00000000bbbb', '*'],
  ])('%s', async (query) => {
    const expected = plainSearch(orders, read(query)).toSorted();
    expect(await found(query)).toEqual(expected);
    // Otherwise the row says nothing.
    expect(expected).not.toHaveLength(0);
  });

  it('for random queries over random orders, alone and combined', async () => {
    const seed = Math.floor(Math.random() * 1_000_000);
    await writeOrders(world.db, someOrders(140, seed));
    await world.indexed();
    const all = await plainOrders(world.db);
    const term = fc
      .oneof(
        fc.constantFrom('*', 'books', 'smith', 'a*', '12', 'x-y'),
        fc
          .constantFrom(...SEARCH_FIELD_NAMES)
          .chain((field) =>
            fc
              .constantFrom(
                '',
                '*',
                '""',
                'a*',
                'A-1001',
                'cafe*',
                '1250',
                '[1 TO 99]',
                '{* TO 12}',
                'completed',
                'error',
                'EUR',
                '2026-01-15',
                '[2026-01-15 TO *]',
                'is*',
                'declined',
                'visa',
                'refund',
                '0190c000*',
                '05',
              )
              .map((value) => `${field}:${value}`),
          ),
      )
      .filter((text) => 'query' in parseQuery(text));
    const query = fc.letrec<{ any: string; all: string }>((tie) => ({
      any: fc.oneof({ depthSize: 'small' }, term, tie('all')),
      all: fc.oneof(
        fc.tuple(tie('any'), tie('any')).map(([a, b]) => `(${a}) (${b})`),
        fc.tuple(tie('any'), tie('any')).map(([a, b]) => `(${a} OR ${b})`),
        tie('any').map((a) => `-(${a})`),
      ),
    })).any;
    await fc.assert(
      fc.asyncProperty(query, async (text) => {
        const expected = plainSearch(all, read(text)).toSorted();
        expect([seed, text, await found(text)]).toEqual([seed, text, expected]);
      }),
      { numRuns: SEARCHES },
    );
  });
});

it(`texts that are no queries, and ${2 * SEARCHES} of any kind, never get a 5xx`, async () => {
  const piece = fc.oneof(
    fc.constantFrom(
      ...SEARCH_FIELD_NAMES.map((name) => `${name}:`),
      ...'"\\()[]{}*-: '.split(''),
      ' TO ',
      ' OR ',
      ' NOT ',
      'a',
      '1',
    ),
    fc.string({ unit: 'binary' }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
      const { status, body } = await world.search({ query: pieces.join('') });
      expect([200, 400]).toContain(status);
      expect(status === 200 || body.error?.type === 'ValidationError').toBe(true);
    }),
    { numRuns: 2 * SEARCHES },
  );
});

describe('rules 20.1: nothing of a query leaves its project or reaches the index as anything but a value', () => {
  const OTHER = '0190c000-0000-7000-8000-00000000cccc';
  beforeAll(async () => {
    const { merchant_id } = PROJECT;
    const project = { id: OTHER, name: 'Other', is_test: true, currencies: ['EUR'], payment_methods: ['credit-card'] };
    await upsertProject({ db: world.db, secrets }, merchant_id, project, new Date(0));
    await writeOrders(world.db, [{ project_id: OTHER, merchant_order_id: 'secret', description: 'secret' }]);
    await world.indexed();
  });

  const ATTEMPTS = String.raw`
    *
    secret
    merchant_order_id:secret
    project_id:${OTHER}
    NOT status:new OR secret
    -(status:new) OR *
    status:completed OR merchant_order_id:s*
    merchant_order_id:* OR *
    NOT NOT *
    * OR NOT *
    -project_id:
    project_id:* OR *
    merchant_order_id:"x\" OR project_id EXISTS OR id = \"y"
    merchant_order_id:"x\\\" OR lead = true --"
    merchant_order_id:"\\" OR project_id EXISTS"
    "\") OR (project_id EXISTS"
    merchant_order_id:"x\" OR project_id = \"=${OTHER}\" OR id = \""
    merchant_order_id:' OR 1=1 --
    merchant_order_id:';drop/**/table/**/orders;--
    merchant_order_id:$1
    merchant_order_id:${'\u2028'}OR
    merchant_order_id:\
    merchant_order_id:x\
    merchant_order_id:"x\\"
    merchant_order_id:"x\"
    merchant_order_id:=secret
    merchant_order_id:"=secret"
    merchant_order_id:~
    merchant_order_id:"x" OR lead=true
    merchant_order_id:x) OR (*
    words:secret
    lead:true
    pk:x
    _t:secret
    _geoRadius(0,0,1)
    id:"x\" OR *"
    created:["2026-01-01\" OR *" TO *]
    amount:1e5
    amount:[1 TO 2] OR secret
    amount:"1 OR project_id EXISTS"
    __proto__:x
    constructor:x OR toString:
  `
    .trim()
    .split('\n')
    .map((line) => line.trim());

  test.each(ATTEMPTS)('%j', async (query) => {
    const { status, body } = await world.search({ query, size: 1_000 });
    expect([200, 400]).toContain(status);
    expect(JSON.stringify(body)).not.toContain('"merchant_order_id":"secret"');
    expect(JSON.stringify(body)).not.toMatch(/EXISTS|filter|attribute/i);
  });
});

describe('a request that makes no sense is refused by the field', () => {
  const start = 'Expected start and size of 10000 at most together: beyond that use search_after.';
  test.each<[object, string, string | RegExp]>([
    [{}, 'query', 'This field is required.'],
    [{ query: '' }, 'query', /./],
    [{ query: ' ' }, 'query', 'a term is missing at 2'],
    [{ query: 'stauts:new' }, 'query', 'unknown field `stauts` at 1, did you mean `status`?'],
    [{ query: '*', size: 0 }, 'size', /./],
    [{ query: '*', size: 1_001 }, 'size', /./],
    [{ query: '*', start: -1 }, 'start', /./],
    [{ query: '*', start: 9_981 }, 'start', start],
    [{ query: '*', start: 9_001, size: 1_000 }, 'start', start],
    [{ query: '*', sort: 'status desc' }, 'sort', /^Expected one of created, modified/],
    [{ query: '*', sort: 'created, amount' }, 'sort', /^Expected one of/],
    [{ query: '*', search_after: -1, start: 0 }, 'search_after', 'Expected start or search_after, not both.'],
    [{ query: '*', search_after: -2 }, 'search_after', /./],
    [{ query: '*', search_after: 'x' }, 'search_after', 'Expected -1, or the sort of the answer before.'],
    [{ query: '*', search_after: 'W10' }, 'search_after', 'Expected -1, or the sort of the answer before.'],
    [{ query: null }, 'query', /./],
  ])('%j', async (body, property_path, description) => {
    const answer = await world.search(body);
    expect([answer.status, answer.body.error]).toMatchObject([400, { type: 'ValidationError', property_path }]);
    expect(answer.body.error?.property_description).toEqual(
      typeof description === 'string' ? description : expect.stringMatching(description),
    );
  });

  it('rules 20.9: a cursor of another query, sort or size', async () => {
    const first = { query: '*', sort: 'created desc', size: 5, search_after: -1 };
    const { sort: search_after } = (await world.search(first)).body;
    expect((await world.search({ ...first, search_after })).status).toBe(200);
    // The same sort, written otherwise.
    expect((await world.search({ ...first, sort: ' created  desc ', search_after })).status).toBe(200);
    for (const other of [{ query: 'status:new' }, { sort: 'created' }, { sort: 'amount' }, { size: 6 }]) {
      const { status, body } = await world.search({ ...first, search_after, ...other });
      expect([status, body.error?.property_path]).toEqual([400, 'search_after']);
    }
  });
});

it('ignores an Idempotency-Key and unknown fields', async () => {
  const init = (query: string) => ({
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': 'same' },
    body: JSON.stringify({ query, colour: 'blue' }),
  });
  const statuses = [];
  for (const query of ['*', 'status:new']) {
    statuses.push((await world.api.send('/v1/search/orders/', init(query))).status);
  }
  expect(statuses).toEqual([200, 200]);
});

it('rules 20.10: a change is found within moments, and an order that no longer meets the query is left out at once', async () => {
  const [id] = await writeOrders(world.db, [{ merchant_order_id: 'changing', status: 'new', transactions: [] }]);
  await world.indexed();
  expect(await found('merchant_order_id:changing status:new')).toEqual([id]);
  await queryRows(world.db, "update orders set status = 'cancelled' where id = :id", { id });
  // The index may still have it as it was.
  expect((await world.search({ query: 'merchant_order_id:changing status:new' })).body).toMatchObject({
    hits: 0,
    orders: [],
  });
  await world.indexed();
  expect(await found('merchant_order_id:changing status:cancelled')).toEqual([id]);
});

describe('rules 20.25: a project has one search under way', () => {
  /** Answers when the test says so, as a server does that is busy with a search. */
  async function aBusyServer() {
    const asked: ServerResponse[] = [];
    const answer = { processingTimeMs: 1 };
    const server = createServer(
      (_, response) => void asked.push(response.setHeader('content-type', 'application/json')),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const release = () => {
      for (const response of asked) response.end(JSON.stringify({ hits: [], estimatedTotalHits: 0, ...answer }));
    };
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      asked,
      answer,
      release,
      close: () => (server.closeAllConnections(), new Promise((resolve) => server.close(resolve))),
    };
  }
  let server: Awaited<ReturnType<typeof aBusyServer>>;
  let api: Awaited<ReturnType<typeof serveTestApi>>;
  beforeEach(async () => {
    server = await aBusyServer();
    const project = (await findProject(world.db, PROJECT.id))!;
    const search = new SearchReader(
      server,
      async () => ({ is_behind: false, oldest_ms: 0 }),
      pino({ level: 'silent' }),
    );
    api = await serveTestApi({
      // Each key is a project of its own.
      findOwner: async (id) => ({ project: { ...project, id }, api_key_id: '0123456789ab' }),
      operations: {
        searchOrders: searchOrders({ bulk: createBulkReads(world.db, 2), search, public_url: 'https://pay.example' }),
      },
    });
  });
  afterEach(async () => {
    await api.close();
    await server.close();
  });
  const OTHER = '0190c000-0000-7000-8000-00000000dddd';
  async function search(project_id: string, options: RequestInit & { format?: string } = {}) {
    const { format = '', ...rest } = options;
    const headers = { authorization: `Basic ${btoa(`${project_id}:`)}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ query: 'status:new' });
    const response = await api.send(`/v1/search/orders/${format}`, { method: 'POST', headers, body, ...rest });
    await response.arrayBuffer();
    return [response.status, response.headers.get('retry-after')] as [number, string | null];
  }

  it('until the index has ended with it, also when nobody waits for the answer any longer', async () => {
    const first = await Promise.all(Array.from({ length: 5 }, () => search(PROJECT.id)));
    expect(first).toEqual(Array.from({ length: 5 }, () => [503, expect.any(String)]));
    expect(server.asked).toHaveLength(1);
    expect(await search(PROJECT.id)).toEqual([503, expect.any(String)]);
    expect(server.asked).toHaveLength(1);

    // A merchant has a hundred projects at most.
    const of_merchant = Array.from({ length: 100 }, (_, n) => search(`${OTHER.slice(0, -3)}${n + 100}`));
    await until('a search of each of them is under way', () => server.asked.length === 101);
    const of_other = search(OTHER);
    await until('the search of the other project is under way', () => server.asked.length === 102);
    const next = search(PROJECT.id);
    server.release();
    expect((await of_other)[0]).toBe(200);
    await Promise.all(of_merchant);
    await until('the next search is under way', () => server.asked.length === 103);
    server.release();
    expect((await next)[0]).toBe(200);
  });

  it('also of a report, until the index has ended with it, and when its client has left', async () => {
    const client = new AbortController();
    const report = search(PROJECT.id, { format: '?format=csv', signal: client.signal });
    await until('the report is under way', () => server.asked.length === 1);
    client.abort();
    await expect(report).rejects.toThrow('abort');
    const next = [search(PROJECT.id, { format: '?format=csv' }), search(PROJECT.id)];
    expect(await Promise.all(next)).toEqual(Array.from({ length: 2 }, () => [503, expect.any(String)]));
    expect(server.asked).toHaveLength(1);
    server.release();
    const answering = setInterval(server.release, 5);
    expect(await search(PROJECT.id, { format: '?format=csv' })).toEqual([200, null]);
    clearInterval(answering);
  });

  it('others wait, and beyond 30 that wait the answer is 429 with Retry-After', async () => {
    const answers: [number, string | null][] = [];
    const sent = Array.from({ length: 34 }, async () => answers.push(await search(PROJECT.id)));
    await until('the last ones are refused', () => answers.length === 3);
    const answering = setInterval(server.release, 5);
    await Promise.all(sent);
    clearInterval(answering);
    expect(answers.filter(([status]) => status === 429)).toEqual(Array.from({ length: 3 }, () => [429, '1']));
    // On a busy machine the last ones may wait too long.
    const waited = answers.map(([status]) => status).filter((status) => status !== 429);
    expect(waited.every((status) => status === 200 || status === 503)).toBe(true);
    expect(waited.filter((status) => status === 200).length).toBeGreaterThan(1);
  });

  it('an answer that the index has cut off is none', async () => {
    server.answer.processingTimeMs = CUTOFF_MS;
    const answer = search(PROJECT.id);
    await until('the search is under way', () => server.asked.length === 1);
    server.release();
    expect(await answer).toEqual([503, expect.any(String)]);
  });
});

it('an index of an earlier version gets the limit on the time of a search without a rebuild', async () => {
  const headers = { authorization: `Bearer ${world.server.master_key}`, 'content-type': 'application/json' };
  const setting = `${world.server.url}/indexes/orders/settings/search-cutoff-ms`;
  const uid = async () => (await (await fetch(`${world.server.url}/indexes/orders`, { headers })).json()) as object;
  await world.stopIndexers();
  await fetch(setting, { method: 'PUT', headers, body: '60000' });
  const before = await uid();
  world.anIndexer();
  await until('the setting is changed', async () => {
    return ((await (await fetch(setting, { headers })).json()) as number) === CUTOFF_MS;
  });
  // A rebuild makes the index anew.
  expect(await uid()).toMatchObject({ createdAt: (before as { createdAt: string }).createdAt });
});
