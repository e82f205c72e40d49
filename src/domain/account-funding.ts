import { refuseFields } from '../errors';

/** Account funding: a card is charged to load money into another account (rules 14). */

/** Details of the customer for the receiver's bank; `state` only for countries that have a list (rules 14.2). */
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
export type FundingReceiver = Fields<(typeof RECEIVER_FIELDS)[number]>;
/** The fields of the customer that account funding needs. */
export type FundingCustomer = Fields<(typeof CUSTOMER_FIELDS)[number] | 'state'>;

/**
 * Whether a transaction is account funding: any receiver_ field counts, even a misspelt one. As an ordinary sale it
 * would leave the account empty (rules 14.1).
 */
export function isAccountFunding(details: object | undefined): boolean {
  return Object.entries(details ?? {}).some(([field, value]) => field.startsWith('receiver_') && value !== undefined);
}

/**
 * Throws MissingInformationToCreateTransaction naming every field that is missing; else ValidationError for an address
 * that is no billing address and for a state its country does not have. `path`: that of the transaction.
 */
export function requireFundingInformation(
  path: string,
  receiver: FundingReceiver,
  customer: FundingCustomer = {},
): void {
  const states = STATES[customer.country ?? ''];
  const details = RECEIVER_FIELDS.filter((field) => isBlank(receiver[field]));
  const fields = [...CUSTOMER_FIELDS, ...(states === undefined ? [] : ['state' as const])];
  refuseFields(
    'MissingInformationToCreateTransaction',
    [
      ...details.map((field) => `${path}.payment_method_details.${field}`),
      ...fields.filter((field) => isBlank(customer[field])).map((field) => `customer.${field}`),
    ].map((missing) => ({ path: missing, text: 'Account funding needs this field.' })),
  );
  refuseFields('ValidationError', [
    ...(customer.address_type === ADDRESS_TYPE
      ? []
      : [{ path: 'customer.address_type', text: `Expected ${ADDRESS_TYPE}.` }]),
    ...(states === undefined || states.includes(customer.state ?? '')
      ? []
      : [{ path: 'customer.state', text: `Expected one of ${states.join(' ')}.` }]),
  ]);
}

const isBlank = (value: string | undefined) => value === undefined || value.trim() === '';
