import { DECLINED, FIELDS, SEARCH_FIELD_NAMES, type Field, type FieldName } from '../../domain/query/fields';
import { conditionsOf, type SearchQuery, type Subject } from '../../domain/query/query';
import { SUBJECTS, type ReportRow } from '../../domain/query/report';
import { FOLLOW_UPS } from '../../domain/follow-up';
import { OPEN_ORDER_STATUSES } from '../../domain/transitions';
import { queryTexts, sqlList, type Database } from '../query';
import { BY_SEQUENCE, readPart, type Part, type PagePosition } from '../pages';

const kinds = (flag: 'flag' | 'original_flag', kind: string) =>
  `case ${kind} ${Object.entries(FOLLOW_UPS)
    .map(([name, row]) => `when '${name}' then '${row[flag]}'`)
    .join(' ')} end`;

/** JSON columns, read whole: extracting texts in SQL would parse the column once for each of them. */
const CUSTOMER = 'o.customer';
const DETAILS = 't.payment_method_details';

/**
 * The SQL of each field, over orders `o`, transactions `t` and projects `p`. In a JSON column the key is the last part
 * of the field's name.
 */
const COLUMNS: Readonly<Record<Subject, string>> = {
  id: 'o.id',
  merchant_order_id: 'o.merchant_order_id',
  created: 'o.created',
  completed: 'o.completed',
  currency: 'o.currency',
  amount: 'o.amount',
  status: 'o.status',
  'transaction.id': 't.id',
  // `limit` instead of `exists`, for which the planner would read the events of all orders into a hash.
  'transaction.status': `case when t.status = 'error' and (
      select e.result from transaction_events e where e.transaction_id = t.id and e.event = 'error' and e.source = 'processor' limit 1
    ) = 'declined' then '${DECLINED}' else t.status end`,
  'transaction.payment_method': 't.payment_method',
  'transaction.payment_method_brand': 't.payment_method_brand',
  'transaction.amount_with_decimals': 't.amount',
  'transaction.refund_of_transaction_id': `case when o.kind = 'refund' then t.original_transaction_id end`,
  'transaction.payment_method_details.truncated_pan': DETAILS,
  'transaction.settlement_currency': 't.settlement_currency',
  'transaction.settlement_amount': 't.settlement_amount',
  'transaction.fee_currency': 't.fee_currency',
  'transaction.fee_amount': 't.fee_amount',
  'customer.merchant_customer_id': CUSTOMER,
  merchant_id: 'p.merchant_id',
  project_id: 'o.project_id',
  kind: 'o.kind',
  flags: `nullif(concat_ws(' ', case when p.is_test then 'is-test' end, ${kinds('flag', 'o.kind')}, (
      select string_agg(distinct ${kinds('original_flag', 'f.kind')}, ' ') from orders f
      where f.related_order_id = o.id and f.status = 'completed'
    )), '')`,
  modified: 'o.modified',
  expires_at: `case when o.kind = 'payment' and o.status in ${sqlList(OPEN_ORDER_STATUSES)} and coalesce((
      select last.status from transactions last where last.order_id = o.id order by last.attempt desc limit 1
    ), '') <> 'processing' then o.expires_at end`,
  related_order_id: 'o.related_order_id',
  related_payment_link_id: 'o.related_payment_link_id',
  'customer.email_address': CUSTOMER,
  'customer.last_name': CUSTOMER,
  'customer.country': CUSTOMER,
  'customer.locale': CUSTOMER,
  'transaction.amount': 't.amount',
  'transaction.credit_debit': 't.credit_debit',
  'transaction.transaction_type': 't.transaction_type',
  'transaction.capture_mode': 't.capture_mode',
  'transaction.payment_method_details.card_expiry': DETAILS,
  'transaction.outcomes.processing.response_code': 't.response_code',
  // The description comes last: it may be long, and only the first words count.
  words: `concat_ws(' ', o.merchant_order_id, o.customer ->> 'merchant_customer_id', o.customer ->> 'first_name',
      o.customer ->> 'last_name', o.customer ->> 'email_address', o.description)`,
};

/** A row as texts, absent values null, in the order of the fields it was read for. */
export interface ReportTexts {
  readonly order_id: string;
  readonly order_sequence: number;
  readonly attempt: number;
  readonly texts: readonly (string | null)[];
}

/** The rows of some orders as texts, each order's by attempt. An order without transactions has one row. */
export async function reportTexts(
  db: Database,
  order_ids: readonly string[],
  fields: readonly Subject[],
): Promise<ReportTexts[]> {
  const sql = statementFor(fields);
  const ofCustomer = keysIn(CUSTOMER, fields);
  const ofDetails = keysIn(DETAILS, fields);
  const rows = await queryTexts(db, PREPARED.get(sql), sql, { order_ids });
  const words_at = fields.indexOf('words');
  let customerTexts: Record<string, string | null> = {};
  let words: string | null = null;
  return rows.map((texts) => {
    const [customer, details, order_id, order_sequence, attempt] = texts.splice(fields.length);
    const detailTexts = objectOf(details);
    if (Number(attempt) === 1) {
      customerTexts = objectOf(customer);
      words = texts[words_at] ?? null;
    } else if (words_at > -1) texts[words_at] = words;
    for (const { at, key } of ofCustomer) texts[at] = customerTexts[key] ?? null;
    for (const { at, key } of ofDetails) texts[at] = detailTexts[key] ?? null;
    return { order_id: order_id!, order_sequence: Number(order_sequence), attempt: Number(attempt), texts };
  });
}

/** The rows of some orders, each order's by attempt, with the values for the fields. */
export async function reportRows(
  db: Database,
  order_ids: readonly string[],
  fields: readonly Subject[],
): Promise<ReportRow[]> {
  const needed = neededFor(fields);
  const read = rowReader(needed, needed);
  return (await reportTexts(db, order_ids, needed)).map(read);
}

/** Reads some of the fields from rows that were read for more fields. */
export function rowReader(fields: readonly Subject[], of: readonly Subject[]): (row: ReportTexts) => ReportRow {
  const values = neededFor(fields).map((field) => ({ field, at: of.indexOf(field), isNumber: isNumber(field) }));
  return ({ order_id, order_sequence, attempt, texts }) => {
    const row: ReportRow = { order_id, order_sequence, attempt };
    for (const { field, at, isNumber } of values) {
      const text = texts[at] ?? null;
      row[field] = isNumber && text !== null ? Number(text) : text;
    }
    return row;
  };
}

const isInJson = (field: Subject) => COLUMNS[field] === CUSTOMER || COLUMNS[field] === DETAILS;
/** The fields in a JSON column: their positions in the list, and their keys. */
const keysIn = (column: string, fields: readonly Subject[]) =>
  fields.flatMap((field, at) =>
    COLUMNS[field] === column ? [{ at, key: field.slice(field.lastIndexOf('.') + 1) }] : [],
  );
const objectOf = (json: string | null | undefined) =>
  (JSON.parse(json ?? 'null') ?? {}) as Record<string, string | null>;

function isNumber(field: Subject): boolean {
  const type = field === 'words' ? 'text' : FIELDS[field].type;
  return type === 'integer' || type === 'decimal';
}

/** The fields, and the currencies that format their amounts with decimals. */
function neededFor(fields: readonly Subject[]): Subject[] {
  return [...new Set(fields.flatMap((field) => [field, ...(field === 'words' ? [] : currencyOf(field))]))];
}

function statementFor(fields: readonly Subject[]): string {
  // Large texts of an order come only with its first row: 25 attempts would repeat them 25 times.
  const ofFirst = (column: string) => `case when coalesce(t.attempt, 1) = 1 then ${column} end`;
  const columns = fields.map((field) => {
    if (isInJson(field)) return 'null';
    return field === 'words' ? ofFirst(COLUMNS.words) : COLUMNS[field];
  });
  return `select ${columns.join(', ')}, ${ofFirst(CUSTOMER)}, ${DETAILS}, o.id, o.sequence, coalesce(t.attempt, 1)
   from (select * from orders where id = any(:order_ids::uuid[])) o join projects p on p.id = o.project_id
     -- With offset each order's are looked up; a hash join would read the transactions of all orders.
     left join lateral (select * from transactions where order_id = o.id offset 0) t on true
   order by o.sequence, t.attempt`;
}

/** The prepared statements of reports and of the index: planning one takes as long as looking up a hundred orders. */
const PREPARED = new Map([
  [statementFor(SEARCH_FIELD_NAMES), 'report_rows'],
  [statementFor(SUBJECTS), 'report_rows_with_words'],
]);

function currencyOf(field: FieldName): FieldName[] {
  const { currency }: Field = FIELDS[field];
  return currency === undefined ? [] : [currency as FieldName];
}

/** A condition in SQL on orders `o`, and its bindings. */
export interface RecordCondition {
  sql: string;
  bindings: Record<string, number>;
}

/** The fields by which Postgres finds the orders of a project without reading all of them. */
const INDEXED: readonly Subject[] = ['created', 'completed'];

/** A query as a condition on the record; `undefined` for a query with other fields, which the search index answers. */
export function recordCondition(query: SearchQuery): RecordCondition | undefined {
  if (conditionsOf(query).some(({ field }) => !INDEXED.includes(field))) return undefined;
  const bindings: RecordCondition['bindings'] = {};
  /** Instants are compared by the millisecond: a bound includes all of its millisecond. */
  const instant = (epoch_ms: number) => {
    const name = `instant_${Object.keys(bindings).length}`;
    bindings[name] = epoch_ms;
    return `to_timestamp(:${name}::numeric / 1000)`;
  };
  /** Of an absent value a comparison is null. That counts as false, except within NOT; without it an index serves. */
  const sqlOf = (one: SearchQuery, is_negated = false): string => {
    switch (one.op) {
      case 'all':
        return 'true';
      case 'and':
      case 'or':
        return `(${one.of.map((part) => sqlOf(part, is_negated)).join(` ${one.op} `)})`;
      case 'not':
        return `not (${sqlOf(one.of, true)})`;
      case 'absent':
        return `${COLUMNS[one.field]} is null`;
      case 'range': {
        const { from, to } = one;
        const column = COLUMNS[one.field];
        const ends = [
          ...(from === undefined ? [] : [`${column} >= ${instant(from.value + (from.inclusive ? 0 : 1))}`]),
          ...(to === undefined ? [] : [`${column} < ${instant(to.value + (to.inclusive ? 1 : 0))}`]),
        ].join(' and ');
        return is_negated ? `coalesce(${ends}, false)` : `(${ends})`;
      }
      default:
        return 'false';
    }
  };
  return { sql: sqlOf(query), bindings };
}

/** The ids of a project's orders that meet a condition, by creation, after a position. */
export async function orderIdsByCreation(
  db: Database,
  { project_id, condition, direction }: { project_id: string; condition: RecordCondition; direction: 'asc' | 'desc' },
  { rows, after }: { rows: number; after: PagePosition | undefined },
): Promise<Part<{ order_id: string }>> {
  const select = `select o.id as order_id, o.created, o.sequence from orders o
    where o.project_id = :project_id and ${condition.sql}`;
  const bindings = { ...condition.bindings, project_id };
  return await readPart(db, { select, bindings, key: BY_SEQUENCE, direction }, { rows }, after);
}
