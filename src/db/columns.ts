type Listed<Text extends string> = Text extends `${infer Name}, ${infer Rest}` ? Name | Listed<Rest> : Text;

/** The columns that have the names of a row's fields. A list that lacks a field, or has another, does not compile. */
export const columnsOf =
  <Row>() =>
  <Text extends string>(
    columns: Text & ([keyof Row, Listed<Text>] extends [Listed<Text>, keyof Row] ? unknown : never),
  ): string =>
    columns;

/** The columns of `columnsOf`, read from a table by its name in the statement. */
export const columnsFrom = (table: string, columns: string): string => columns.replaceAll(/\w+/g, `${table}.$&`);

/** An instant as epoch milliseconds, in SQL; null stays null. */
export const epochMsSql = (column: string): string => `floor(extract(epoch from ${column}) * 1000)::bigint`;

/** A sum of amounts, in SQL: a text of its digits, as neither a number nor bigint holds every sum. */
export const exactSum = (amount: string): string => `coalesce(sum(${amount}), 0)::text`;

/** An object as a row: its optional fields are null where they are absent. */
export type RowOf<T> = { [Name in keyof T]-?: Partial<Pick<T, Name>> extends Pick<T, Name> ? T[Name] | null : T[Name] };

/** The object of a row. */
export function objectOf<T extends object>(row: RowOf<T>): T {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as T;
}

/** Fields for `select`: the SQL of each, under its name. */
export const fieldsAs = (fields: Readonly<Record<string, string>>): string =>
  Object.entries(fields)
    .map(([name, sql]) => `${sql} as ${name}`)
    .join(', ');

/** The fields of `fieldsAs` as one JSON object. */
export const jsonOf = (fields: Readonly<Record<string, string>>): string =>
  `json_build_object(${Object.entries(fields)
    .map(([name, sql]) => `'${name}', ${sql}`)
    .join(', ')})`;
