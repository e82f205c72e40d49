import { STATES, isAccountFunding, requireFundingInformation } from '../../../src/domain/account-funding';
import { ServiceError } from '../../../src/errors';

const RECEIVER = { receiver_account_number: 'NL02ABNA0123456789', receiver_account_number_type: 'bank-account' };
const CUSTOMER = {
  first_name: 'Ada',
  last_name: 'King',
  address_type: 'billing',
  address: 'Main Street 1',
  postal_code: '1011 AB',
  city: 'Amsterdam',
  country: 'NL',
};

/** `type: path` of the refusal, or `fine`. */
function required(receiver: object = RECEIVER, customer: object | undefined = CUSTOMER): string {
  try {
    requireFundingInformation('transactions.0', receiver, customer);
    return 'fine';
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return `${error.error}: ${error.fields[0]?.path}`;
  }
}

describe('a receiver makes a transaction an account funding one', () => {
  test.each<[string, Record<string, string> | undefined, boolean]>([
    ['no details', undefined, false],
    ['a card token only', { vault_token: 't' }, false],
    ['an account number only', { receiver_account_number: '1' }, true],
    ['its type only', { receiver_account_number_type: 'card-account' }, true],
    ['an empty number is one', { receiver_account_number: '' }, true],
    ['a field of the receiver that is misspelt', { receiver_acount_number: '1' }, true],
    ['a field of another name', { recipient_account_number: '1' }, false],
  ])('%s: %j is account funding: %s', (_title, details, expected) => {
    expect(isAccountFunding(details)).toBe(expected);
  });
});

describe('rules 14.1 and 14.2: what account funding needs', () => {
  test('everything there, from a country without states', () => {
    expect(required()).toBe('fine');
  });

  test.each(['receiver_account_number', 'receiver_account_number_type'])('%s', (field) => {
    expect(required({ ...RECEIVER, [field]: undefined })).toBe(
      `MissingInformationToCreateTransaction: transactions.0.payment_method_details.${field}`,
    );
  });

  test.each(['first_name', 'last_name', 'address_type', 'address', 'postal_code', 'city', 'country'])(
    '%s: absent, empty or blank',
    (field) => {
      for (const value of [undefined, '', ' \t']) {
        expect(required(RECEIVER, { ...CUSTOMER, [field]: value })).toBe(
          `MissingInformationToCreateTransaction: customer.${field}`,
        );
      }
    },
  );

  test('no customer at all: the first field is named', () => {
    expect(required(RECEIVER, {})).toBe('MissingInformationToCreateTransaction: customer.first_name');
    expect(() => requireFundingInformation('transactions.0', RECEIVER)).toThrow('customer.first_name');
  });

  test('every missing field is named; what is there and wrong, once nothing is missing', () => {
    const refused = (receiver: object, customer: object) => {
      try {
        requireFundingInformation('transactions.0', receiver, customer);
      } catch (error) {
        if (error instanceof ServiceError) return [error.error, ...error.fields.map(({ path }) => path)];
      }
      return 'fine';
    };
    expect(refused({}, { ...CUSTOMER, city: ' ', address_type: 'home', country: 'US' })).toEqual([
      'MissingInformationToCreateTransaction',
      'transactions.0.payment_method_details.receiver_account_number',
      'transactions.0.payment_method_details.receiver_account_number_type',
      'customer.city',
      'customer.state',
    ]);
    expect(refused(RECEIVER, { ...CUSTOMER, address_type: 'home', country: 'US', state: 'XX' })).toEqual([
      'ValidationError',
      'customer.address_type',
      'customer.state',
    ]);
  });

  test('the address is the billing address', () => {
    expect(required(RECEIVER, { ...CUSTOMER, address_type: 'shipping' })).toBe(
      'ValidationError: customer.address_type',
    );
  });
});

describe('rules 14.2 and 14.4: states', () => {
  /** Typed from rules 14.4, one by one. */
  const SPECIFIED = {
    CA: 'AB BC MB NB NL NS NT NU ON PE QC SK YT'.split(' '),
    US: `AA AE AK AL AP AR AZ CA CO CT DC DE FL GA HI IA ID IL IN KS KY LA MA MD ME MI MN MO MS MT NC ND NE
      NH NJ NM NV NY OH OK OR PA RI SC SD TN TX UT VA VT WA WI WV WY`.split(/\s+/),
  };

  test('rules 14.4: the lists have 13 and 54 states', () => {
    expect(STATES).toEqual(SPECIFIED);
    expect([SPECIFIED.CA.length, SPECIFIED.US.length]).toEqual([13, 54]);
  });

  const LETTERS = Array.from({ length: 26 }, (_, i) => String.fromCodePoint(65 + i));
  test.each(['CA', 'US'] as const)('%s: of all pairs of letters exactly the listed ones pass', (country) => {
    const passing = LETTERS.flatMap((a) => LETTERS.map((b) => a + b)).filter(
      (state) => required(RECEIVER, { ...CUSTOMER, country, state }) === 'fine',
    );
    expect(passing).toEqual(SPECIFIED[country]);
  });

  test.each([
    ['US', undefined, 'MissingInformationToCreateTransaction: customer.state'],
    ['CA', '', 'MissingInformationToCreateTransaction: customer.state'],
    ['US', 'ON', 'ValidationError: customer.state'],
    ['CA', 'NY', 'ValidationError: customer.state'],
    ['US', 'ny', 'ValidationError: customer.state'],
    ['US', 'PR', 'ValidationError: customer.state'],
    ['NL', undefined, 'fine'],
    ['NL', 'whatever', 'fine'],
  ])('country %s, state %s: %s', (country, state, expected) => {
    expect(required(RECEIVER, { ...CUSTOMER, country, state })).toBe(expected);
  });
});
