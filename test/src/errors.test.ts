import { ERRORS, ServiceError, validationError, isErrorName, errorTypeOf, type ErrorName } from '../../src/errors';

const NAMES = Object.keys(ERRORS) as ErrorName[];

/** Statuses and meanings, written a second time (rules 3.4). */
test.each([
  ['ValidationError', 400, 'Request does not match the schema, for example a missing or invalid field.'],
  ['MissingInformationToCreateTransaction', 422, 'Information needed to create the transaction is missing.'],
  ['TransactionAlreadyStarted', 409, 'Transaction has already started and cannot be started again.'],
  ['CanNotCancelTransaction', 409, 'Transaction cannot be cancelled in its current state.'],
  ['RefundError', 400, 'Refund not possible, for example exceeds the remaining amount.'],
  ['FailedToFetchTransactionInformation', 502, 'Transaction information could not be retrieved.'],
  ['ServerError', 500, 'Unexpected error inside the service.'],
] as const)('rules 3.4: %s has status %i and its meaning', (name, status, meaning) => {
  expect(ERRORS[name]).toMatchObject({ status, meaning });
  expect(errorTypeOf(name)).toBe(name);
});

test('rules 3.4: 422 is for the named types only', () => {
  expect(NAMES.filter((name) => Number(ERRORS[name].status) === 422)).toEqual(
    expect.arrayContaining(['MissingInformationToCreateTransaction']),
  );
  expect(
    NAMES.filter(
      (name) =>
        Number(ERRORS[name].status) === 422 &&
        !['MissingInformationToCreateTransaction', 'IdempotencyKeyReused'].includes(name),
    ),
  ).toEqual([]);
});

test('invalid names the field twice: for people and for programs', () => {
  const error = validationError('customer.country', 'Expected two capital letters.');
  expect([error.error, error.value, error.fields]).toEqual([
    'ValidationError',
    'customer.country: Expected two capital letters.',
    [{ path: 'customer.country', text: 'Expected two capital letters.' }],
  ]);
  expect(error).toBeInstanceOf(ServiceError);
});

test('names from outside are checked', () => {
  expect([isErrorName('RefundError'), isErrorName('toString'), isErrorName(undefined)]).toEqual([true, false, false]);
});
