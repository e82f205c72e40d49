import { closingOrderId, requestedId, processorOrderId, reversalOrderId, transactionId } from '../../src/ids';

const ID = '0190c000-0000-7000-8000-00000000aaaa';
const OTHER = '0190c000-0000-7000-8000-00000000bbbb';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe('rules 11.7: a repeat derives the same id', () => {
  /** Every function with every argument that makes a difference. */
  const NAMES: [string, () => string][] = [ID, OTHER].flatMap((id): [string, () => string][] => [
    ...['order', 'capture', 'void', 'refund'].flatMap((what) =>
      ['a', 'b'].map((idempotency_key): [string, () => string] => [
        `${what} ${idempotency_key} in ${id}`,
        () => requestedId(what, { idempotency_key, id_namespace: id }),
      ]),
    ),
    ...[1, 2].map((n): [string, () => string] => [`attempt ${n} of ${id}`, () => transactionId(id, n)]),
    ...[1, 2].map((n): [string, () => string] => [`closing ${n} of ${id}`, () => closingOrderId(id, n)]),
    ...['chargeback:1', 'reversal', 'closing:1', 'transaction:1'].map((key): [string, () => string] => [
      `what the processor did under ${key} to ${id}`,
      () => processorOrderId(id, key),
    ]),
    [`reversal of ${id}`, () => reversalOrderId(id)],
  ]);

  test.each(NAMES)('%s', (_title, name) => {
    expect(name()).toMatch(UUID);
    expect(name()).toBe(name());
  });

  test('no two of them are the same', () => {
    expect(new Set(NAMES.map(([, name]) => name())).size).toBe(NAMES.length);
  });
});

test('without an Idempotency-Key every order is another one', () => {
  const names = Array.from({ length: 100 }, () =>
    requestedId('order', { idempotency_key: undefined, id_namespace: ID }),
  );
  expect(new Set(names).size).toBe(100);
  expect(names.every((name) => UUID.test(name))).toBe(true);
});

test('ids outlive releases: a repeat after an update is still the same thing', () => {
  expect([
    requestedId('order', { idempotency_key: 'k', id_namespace: ID }),
    transactionId(ID, 1),
    reversalOrderId(ID),
    closingOrderId(ID, 1),
    processorOrderId(ID, 'k'),
  ]).toEqual([
    'c238d732-32dc-5a88-ae5e-51e11f624a7c',
    '233cfcc8-f794-5003-906d-258ef353b158',
    '2d480a2b-555a-589c-9908-6e0feacc5856',
    'cf4c0ba2-12ff-548c-96ac-83ce34f56008',
    '5966e175-465d-56d8-942b-1459a8b826f1',
  ]);
});
