import { ServiceError, invalid } from '../errors';

/** Account funding: a card is charged to load money into another account (rules 14). */

/** What the receiver's bank must know about the customer; `state` only for countries that have a list (rules 14.2). */
const CUSTOMER_FIELDS = [
  'first_name',
  'last_name',
  'address_type',
  'address',
  'postal_code',
  'city',
  'country',
] as const;
const RECEIVER_FIELDS = ['receiver_account_number', 'receiver_account_number_type'] as const;
/** The only address type accepted (rules 14.2). */
const ADDRESS_TYPE = 'billing';

/** Accepted states, provinces and territories, by country (rules 14.4). */
export const STATES: Readonly<Record<string, readonly string[]>> = {
  CA: 'AB BC MB NB NL NS NT NU ON PE QC SK YT'.split(' '),
  US: (
    'AA AE AK AL AP AR AZ CA CO CT DC DE FL GA HI IA ID IL IN KS KY LA MA MD ME MI MN MO MS MT NC ND NE NH NJ NM NV NY ' +
    'OH OK OR PA RI SC SD TN TX UT VA VT WA WI WV WY'
  ).split(' '),
};

type Fields<Name extends string> = { readonly [K in Name]?: string | undefined };
/** The account to load; fields named as on the wire. */
export type Receiver = Fields<(typeof RECEIVER_FIELDS)[number]>;
/** The fields of the customer that account funding needs. */
export type FundingCustomer = Fields<(typeof CUSTOMER_FIELDS)[number] | 'state'>;

/**
 * Whether a transaction is account funding: any receiver_ field counts, even a misspelt one. Taken for an ordinary sale, it would
 * leave the account empty (rules 14.1).
 */
export function isAccountFunding(details: object | undefined): boolean {
  return Object.entries(details ?? {}).some(([field, value]) => field.startsWith('receiver_') && value !== undefined);
}

/**
 * An account number that is safe to compare and show: it may be a card number, so only its first six and last four characters and
 * its length are kept.
 */
export function truncatedAccount(number: string): string {
  return number.length <= 10
    ? '*'.repeat(number.length)
    : `${number.slice(0, 6)}${'*'.repeat(number.length - 10)}${number.slice(-4)}`;
}

/**
 * Throws MissingInformationToCreateTransaction naming the first field that is missing; ValidationError for an address that is no
 * billing address and for a state its country does not have. `path`: that of the transaction.
 */
export function requireFundingInformation(path: string, receiver: Receiver, customer: FundingCustomer = {}): void {
  for (const field of RECEIVER_FIELDS) requireField(`${path}.payment_method_details.${field}`, receiver[field]);
  for (const field of CUSTOMER_FIELDS) requireField(`customer.${field}`, customer[field]);
  if (customer.address_type !== ADDRESS_TYPE) throw invalid('customer.address_type', `Expected ${ADDRESS_TYPE}.`);
  const states = STATES[customer.country ?? ''];
  if (states === undefined) return;
  requireField('customer.state', customer.state);
  if (!states.includes(customer.state ?? '')) throw invalid('customer.state', `Expected one of ${states.join(' ')}.`);
}

function requireField(property_path: string, value: string | undefined): void {
  if (value !== undefined && value.trim() !== '') return;
  const property_description = 'Account funding needs this field.';
  throw new ServiceError('MissingInformationToCreateTransaction', `${property_path}: ${property_description}`, {
    property_path,
    property_description,
  });
}
