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
