import { QUERY_LIMITS, parseQuery } from '../../../../src/domain/query/parse';
import type { Bound, SearchQuery } from '../../../../src/domain/query/query';
import { RANDOM_TEXTS } from '../../../support/domain';
import { numbersFrom } from '../../../../proofs/support/random';

/** The tree in one line: `and(status=new, not(words=book))`. */
function shown(query: SearchQuery): string {
  const end = (bound: Bound | undefined) => (bound ? `${bound.inclusive ? '=' : ''}${bound.value}` : '*');
  switch (query.op) {
    case 'all':
      return 'all';
    case 'and':
    case 'or':
      return `${query.op}(${query.of.map(shown).join(', ')})`;
    case 'not':
      return `not(${shown(query.of)})`;
    case 'absent':
      return `absent(${query.field})`;
    case 'equals':
      return `${query.field}=${query.value}`;
    case 'prefix':
      return `${query.field}^${query.value}`;
    case 'range':
      return `${query.field}(${end(query.from)}..${end(query.to)})`;
  }
}

function read(text: string): string {
  const parsed = parseQuery(text);
  return 'query' in parsed ? shown(parsed.query) : parsed.problem;
}

describe('rules 20.2: terms', () => {
  test.each([
    ['*', 'all'],
    [' status:new ', 'status=new'],
    ['status:NEW', 'status=new'],
    ['merchant_order_id:order:1', 'merchant_order_id=order:1'],
    ['merchant_order_id:"two words"', 'merchant_order_id=two words'],
    ['merchant_order_id:"say \\"hi\\" \\\\ \\n*"', 'merchant_order_id=say "hi" \\ \\n*'],
    ['merchant_order_id:ord*', 'merchant_order_id^ord'],
    ['merchant_order_id:a*b', 'merchant_order_id=a*b'],
    ['merchant_order_id:AND', 'merchant_order_id=and'],
    ['merchant_order_id:"①②"', 'merchant_order_id=12'],
    ['merchant_order_id:', 'absent(merchant_order_id)'],
    ['merchant_order_id:*', 'not(absent(merchant_order_id))'],
    ['merchant_order_id:""', 'merchant_order_id='],
    [
      'transaction.payment_method_details.truncated_pan:411111******1111',
      'transaction.payment_method_details.truncated_pan=411111******1111',
    ],
    [
      'transaction.payment_method_details.truncated_pan:411111*',
      'transaction.payment_method_details.truncated_pan^411111',
    ],
    ['id:0190C000*', 'id^0190c000'],
    ['status:comp*', 'status^comp'],
    ['currency:eur', 'currency=eur'],
    ['amount:1250', 'amount=1250'],
    ['transaction.amount_with_decimals:12.50', 'transaction.amount_with_decimals=12.5'],
    ['book', 'words=book'],
    ['Boo*', 'words^boo'],
    ['"two Books"', 'and(words=two, words=books)'],
    ["O'Brien-Smi*", 'and(words=o, words=brien, words^smi)'],
  ])('%s', (text, expected) => {
    expect(read(text)).toBe(expected);
  });
});

test.each([
  ['amount:[100 TO 200]', 'amount(=100..=200)'],
  ['amount:{100 TO 200}', 'amount(100..200)'],
  ['amount:[100 TO 200}', 'amount(=100..200)'],
  ['amount:{* TO 200]', 'amount(*..=200)'],
  ['amount:[ 100   TO * ]', 'amount(=100..*)'],
  ['amount:[* TO *]', 'not(absent(amount))'],
  ['created:["2026-01-15T13:00+01:00" TO *]', `created(=${Date.UTC(2026, 0, 15, 12)}..*)`],
])('rules 20.5: range %s', (text, expected) => {
  expect(read(text)).toBe(expected);
});

describe('rules 20.2: NOT binds closest, then AND, then OR; keywords are capitals', () => {
  test.each([
    ['a b', 'and(words=a, words=b)'],
    ['a AND b', 'and(words=a, words=b)'],
    ['a and b', 'and(words=a, words=and, words=b)'],
    ['a OR b c', 'or(words=a, and(words=b, words=c))'],
    ['(a OR b) c', 'and(or(words=a, words=b), words=c)'],
    ['NOT a b', 'and(not(words=a), words=b)'],
    ['NOT NOT a', 'words=a'],
    ['-status:new', 'not(status=new)'],
    ['-(a OR b)', 'and(not(words=a), not(words=b))'],
    ['a NOT b OR -c', 'or(and(words=a, not(words=b)), not(words=c))'],
    ['* AND status:', 'and(all, absent(status))'],
    ['(merchant_order_id:)', 'absent(merchant_order_id)'],
  ])('%s', (text, expected) => {
    expect(read(text)).toBe(expected);
  });
});

describe('rules 20.3: a query that cannot be read says what is wrong, and where', () => {
  test.each([
    ['stauts:new', 'unknown field `stauts` at 1, did you mean `status`?'],
    ['a AND email_adress:x', 'unknown field `email_adress` at 7, did you mean `customer.email_address`?'],
    ['zzzzzzzz:x', 'unknown field `zzzzzzzz` at 1'],
    ['é zzzzzzzz:x', 'unknown field `zzzzzzzz` at 3'],
    [':x', 'a field is missing before the colon at 1'],
    ['currency:EUX', '`currency` at 10 cannot have this value, did you mean `EUR`?'],
    ['amount:[9 TO 1]', '`amount` at 8 has a range that ends before it begins'],
    ['merchant_order_id:[a TO b]', '`merchant_order_id` at 19 does not support ranges: only amounts and times do'],
    ['amount:[1 to 2]', '`TO` in capitals is missing at 11'],
    ['amount:[1 TO 2', '`]` or `}` is missing at 15'],
    ['amount:[TO 2]', 'an end of the range is missing at 9'],
    ['[1 TO 2]', '`[` without a field and a colon before it at 1'],
    ['status:(new OR error)', 'a parenthesis instead of a value: repeat the field before each value at 8'],
    ['(a', '`(` without `)` at 1'],
    ['a)', '`)` without `(` at 2'],
    ['()', 'a term is missing at 2'],
    ['', 'a term is missing at 1'],
    ['a AND', 'a term is missing at 6'],
    ['OR a', 'a term is missing before `OR` at 1'],
    ['a OR OR b', 'a term is missing before `OR` at 6'],
    ['NOT', 'a term is missing at 4'],
    ['"a', 'a quote that does not end at 1'],
    ['status:"new"x', 'a space is missing at 13'],
    ['...', 'no letter or digit at 1'],
    ['-', 'no letter or digit at 1'],
  ])('%s', (text, problem) => {
    expect(read(text)).toBe(problem);
  });

  it('rules 20.3: beyond the limits on length, terms and depth', () => {
    expect(read('a'.repeat(QUERY_LIMITS.characters + 1))).toBe('The query is longer than 8192 characters.');
    expect(read(`${'😀'.repeat(QUERY_LIMITS.characters - 2)} a`)).toBe('no letter or digit at 1');
    expect(read('a '.repeat(QUERY_LIMITS.terms))).toBe('words=a');
    expect(read('a '.repeat(QUERY_LIMITS.terms + 1))).toBe('more than 500 terms at 1001');
    expect(read(`${'('.repeat(50)}a${')'.repeat(50)}`)).toBe('words=a');
    expect(read(`${'('.repeat(51)}a${')'.repeat(51)}`)).toBe('nested deeper than 50 levels at 52');
    expect(read('-'.repeat(51) + 'a')).toBe('nested deeper than 50 levels at 52');
  });

  it('rules 20.23: beyond 10 prefix terms, equal ones of one group counted once', () => {
    const prefixes = (count: number) => Array.from({ length: count }, (_, n) => `id:0${n % 10}*`).join(' OR ');
    expect(read(prefixes(10))).toMatch(/^or/);
    expect(read(prefixes(500))).toBe(read(prefixes(10)));
    expect(read(`${prefixes(10)} OR -b*`)).toBe('more than 10 terms that end with * at 102');
    // The index would compare each of them.
    expect(read('(b* c) OR (b* d) OR '.repeat(3) + prefixes(9))).toBe('more than 10 terms that end with * at 141');
  });

  it('rules 20.24: beyond 48 times OR within AND', () => {
    const nested = (times: number) => 'a (b OR '.repeat(times) + 'c' + ')'.repeat(times);
    expect(read(nested(48))).toMatch(/^and/);
    expect(read(nested(49))).toBe('OR within AND deeper than 48 times at 388');
    expect(read(`NOT (${nested(48)})`)).toMatch(/^or/);
  });
});

it(`${RANDOM_TEXTS} texts of any kind are read, or refused in one line`, () => {
  // Not fast-check, which takes minutes for so many: what matters here is their number.
  const random = numbersFrom(12);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
  const pieces = [
    ...['status:', 'created:', 'amount:', 'id:', 'merchant_order_id:', 'new', '2026-01-15', '"', '\\', '(', ')'],
    ...[
      '[',
      ']',
      '{',
      '}',
      ' TO ',
      '*',
      '-',
      ' ',
      ' AND ',
      ' OR ',
      ' NOT ',
      ':',
      '\n',
      '\u0000',
      '\ud800',
      '😀',
      'ﬀ',
      'İ',
    ],
  ];
  const piece = () => (random() < 0.8 ? pick(pieces) : String.fromCharCode(Math.floor(random() * 0x1_0000)));
  const unread: string[] = [];
  // The stacks of so many refusals would take most of the time.
  const stack_lines = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  for (let n = 0; n < RANDOM_TEXTS; n += 1) {
    const text = Array.from({ length: Math.floor(random() * 9) }, piece).join('');
    const parsed = parseQuery(text);
    if ('problem' in parsed && (parsed.problem === '' || parsed.problem.includes('\n'))) unread.push(text);
  }
  Error.stackTraceLimit = stack_lines;
  expect(unread).toEqual([]);
});
