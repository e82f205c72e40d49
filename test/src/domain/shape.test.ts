import {
  anything,
  flag,
  integer,
  listOf,
  number,
  object,
  oneOf,
  optional,
  text,
  uuidText,
  type ShapeCheck,
} from '../../../src/domain/shape';

const UUID = '0b1b8c1e-54a4-4b7c-9a8e-0f4f2f7f3c11';
const nested = object<{ id: string; list: { n: number }[] }>({
  id: uuidText,
  list: listOf(object({ n: integer(1, 3) }), 2),
});

test.each<[string, ShapeCheck<unknown>, unknown[], unknown[]]>([
  ['anything', anything, [undefined, null, 'x', {}], []],
  ['a flag', flag, [true, false], [0, 'true', null, undefined]],
  ['a text', text(3), ['', ' ', 'abc', '😀😀😀'], ['abcd', '😀😀😀😀', 1, null, undefined, ['a']]],
  ['a text that is not blank', text(3, 1), ['a'], ['', '   ']],
  ['a uuid', uuidText, [UUID, UUID.toUpperCase()], ['', `${UUID}0`, `${UUID}\n`, UUID.replaceAll('-', ''), 1]],
  ['a whole number', integer(0, 10), [0, 10], [-1, 11, 1.5, Number.NaN, Infinity, '1', null, undefined, [1], {}]],
  ['an amount', integer(0), [Number.MAX_SAFE_INTEGER], [2 ** 53, 1e308]],
  ['an instant', number(0, 10), [0, 1.5, 10], [-0.1, 10.1, Number.NaN, -Infinity, '1', null, undefined, [1]]],
  ['one of several', oneOf(['a', 'b']), ['a', 'b'], ['c', '', null, ['a']]],
  ['an optional flag', optional(flag), [undefined, true], [null, 'x']],
  ['a list', listOf(flag, 2), [[], [true, false]], [[true, true, true], [1], 'x', { length: 0 }, null]],
  ['an object', object({ a: flag }), [{ a: true }, { a: true, b: 'unknown' }], [{}, { a: 1 }, [true], null, 'x']],
  ['an object in lists', nested, [{ id: UUID, list: [{ n: 1 }] }], [{ id: UUID }, { id: UUID, list: [{ n: 4 }] }]],
])('%s', (_title, check, right, wrong) => {
  expect(right.map((value) => check(value))).toEqual(right.map(() => undefined));
  for (const value of wrong) expect(check(value)).toMatchObject({ text: expect.stringMatching(/^Expected /) });
});

test('what is wrong is named by its path, and never repeated', () => {
  const wrong = { id: UUID, list: [{ n: 1 }, { n: '4111111111111111' }] };
  expect(nested(wrong)).toEqual({ path: 'list.1.n', text: 'Expected a whole number from 1 to 3.' });
  expect(nested('4111111111111111')).toEqual({ path: '', text: 'Expected an object.' });
});
