import { CAPTURE_MODES } from '../amounts';
import { CURRENCY_CODES } from '../currency';
import { FOLLOW_UPS, FOLLOW_UP_KINDS } from '../follow-up';
import { ORDER_STATUSES, TRANSACTION_STATUSES } from '../transitions';

/**
 * How values of a field are compared. `text`: without case. `uuid`, `choice`: likewise, and other values are refused.
 * `integer`: minor units. `decimal`: main units. `instant`: to the millisecond, or a whole day in UTC.
 */
export type FieldType = 'text' | 'uuid' | 'choice' | 'integer' | 'decimal' | 'instant';

export interface Field {
  readonly type: FieldType;
  /** The values of a `choice`. */
  readonly values?: readonly string[];
  /** The field with the currency of a `decimal`. */
  readonly currency?: string;
}

const text = { type: 'text' } as const;
const uuid = { type: 'uuid' } as const;
const integer = { type: 'integer' } as const;

const instant = { type: 'instant' } as const;
const decimal = (currency: string) => ({ type: 'decimal', currency }) as const;
const choice = (values: readonly string[]) => ({ type: 'choice', values }) as const;

/**
 * The report's word for an `error` that is an issuer's decline; a query finds a decline by either word (rules 20.4).
 */
export const DECLINED = 'declined';

const FLAGS = [
  'is-test',
  ...Object.values(FOLLOW_UPS).map(({ flag }) => flag),
  ...Object.values(FOLLOW_UPS).map(({ original_flag }) => original_flag),
];

/**
 * The fields of queries and the columns of the report, in its order. Each is a field of the order in JSON, or of one
 * of its transactions (`transaction.`). Every one costs time when an order is indexed.
 */
export const FIELDS = {
  id: uuid,
  merchant_order_id: text,
  created: instant,
  completed: instant,
  currency: choice(CURRENCY_CODES),
  amount: integer,
  status: choice(ORDER_STATUSES),
  'transaction.id': uuid,
  'transaction.status': choice([...TRANSACTION_STATUSES, DECLINED]),
  'transaction.payment_method': text,
  'transaction.payment_method_brand': text,
  'transaction.amount_with_decimals': decimal('currency'),
  'transaction.refund_of_transaction_id': uuid,
  'transaction.payment_method_details.truncated_pan': text,
  'transaction.settlement_currency': choice(CURRENCY_CODES),
  'transaction.settlement_amount': decimal('transaction.settlement_currency'),
  'transaction.fee_currency': choice(CURRENCY_CODES),
  'transaction.fee_amount': decimal('transaction.fee_currency'),
  'customer.merchant_customer_id': text,
  merchant_id: uuid,
  project_id: uuid,
  kind: choice(['payment', ...FOLLOW_UP_KINDS]),
  flags: choice(FLAGS),
  modified: instant,
  expires_at: instant,
  related_order_id: uuid,
  related_payment_link_id: uuid,
  'customer.email_address': text,
  'customer.last_name': text,
  'customer.country': text,
  'customer.locale': text,
  'transaction.amount': integer,
  'transaction.credit_debit': choice(['credit', 'debit']),
  'transaction.transaction_type': choice(['authorization', 'aft', ...FOLLOW_UP_KINDS]),
  'transaction.capture_mode': choice(CAPTURE_MODES),
  'transaction.payment_method_details.card_expiry': text,
  'transaction.outcomes.processing.response_code': text,
} as const satisfies Record<string, Field>;

export type FieldName = keyof typeof FIELDS;
export const SEARCH_FIELD_NAMES = Object.keys(FIELDS) as FieldName[];

export function isFieldName(name: string): name is FieldName {
  return Object.hasOwn(FIELDS, name);
}

/** Whether it is a field of a transaction: a condition on it is met by one transaction of the order. */
export function isOfTransaction(name: string): boolean {
  return name.startsWith('transaction.');
}

/** Fields that search results can be sorted by (rules 20.8). */
export const SORT_FIELDS = ['created', 'modified', 'completed', 'amount', 'transaction.amount'] as const;
export type SortField = (typeof SORT_FIELDS)[number];

export interface Sort {
  readonly field: SortField;
  readonly direction: 'asc' | 'desc';
}

/** `<field>`, `<field> asc` or `<field> desc`; `undefined` for anything else. */
export function parseSort(text: string): Sort | undefined {
  const [, name, direction = 'asc'] = /^\s*(\S+)(?:\s+(asc|desc))?\s*$/.exec(text) ?? [];
  const field = SORT_FIELDS.find((one) => one === name);
  return field && { field, direction: direction as Sort['direction'] };
}
