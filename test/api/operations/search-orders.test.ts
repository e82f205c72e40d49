import fc from 'fast-check';
import { SEARCH_FIELD_NAMES } from '../../../src/domain/query/fields';
import { parseQuery } from '../../../src/domain/query/parse';
import type { SearchQuery } from '../../../src/domain/query/query';
import { queryRows } from '../../../src/db/connection';
import { upsertProject } from '../../../src/db/projects/projects';
import { secrets } from '../../support/database';
import { PROJECT } from '../../support/domain';
import { writeOrders } from '../../support/rows';
import { aSearchWorld } from '../../support/search';
import { plainOrders, plainSearch, someOrders, type PlainOrder } from '../../support/search-orders';
import { setUp } from '../../support/set-up';

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
      { numRuns: 75 },
    );
  });
});

it('texts that are no queries, and 150 of any kind, never get a 5xx', async () => {
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
    { numRuns: 150 },
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
