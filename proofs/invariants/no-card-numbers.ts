import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { queryRows, type Database } from '../../src/db/query';
import { replaceCardNumbers } from '../../src/domain/card';
import { TEST_CARDS } from '../../src/simulator/cards';
import type { HistoryInvariant, Invariant, Evidence } from './invariant';

const PUBLISHED = Object.values(TEST_CARDS).map(({ number }) => number);
const MARK = '\u2588';

/** Whether a text holds a card number: one that passes as a card's, or a published test card. */
function holdsCard(text: string): boolean {
  return PUBLISHED.some((number) => text.includes(number)) || replaceCardNumbers(text, MARK).includes(MARK);
}

export const noCardNumbers: Invariant = {
  name: 'no-card-numbers',
  title: 'No card number is in a table or in a log.',
  async violations({ stack, record, processor }) {
    return [...(await inTables(record, 'record')), ...(await inTables(processor, 'processor')), ...inLogs(stack)];
  },
};

export const noCardNumbersInPayloads: HistoryInvariant = {
  name: 'no-card-numbers',
  title: 'No card number is in a payload of Temporal.',
  violations: (histories) =>
    Promise.resolve(
      histories.flatMap(({ workflow_id, payloads }) =>
        payloads.some(holdsCard) ? [`a payload of ${workflow_id} holds a card number`] : [],
      ),
    ),
};

async function inTables(db: Database, name: string): Promise<string[]> {
  const tables = await queryRows<{ table: string }>(
    db,
    `select format('%I.%I', schemaname, tablename) as table from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')`,
  );
  const found: string[] = [];
  for (const { table } of tables) {
    const rows = await queryRows<{ line: string }>(db, `select row_to_json(t)::text as line from ${table} t`);
    const lines = rows.filter(({ line }) => holdsCard(withBytes(line))).length;
    if (lines > 0) found.push(`${lines} rows of ${table} (${name}) hold a card number`);
  }
  return found;
}

/** A row with the bytes of its `bytea` columns. In hexadecimal, random bytes look like a card number now and then. */
const withBytes = (line: string) =>
  line.replace(/"\\\\x([0-9a-f]*)"/g, (_, hex: string) => Buffer.from(hex, 'hex').toString('latin1'));

function inLogs({ data_dir }: Evidence['stack']): string[] {
  const folder = path.join(data_dir, 'logs');
  return readdirSync(folder).flatMap((name) => {
    const lines = readFileSync(path.join(folder, name), 'utf8').split('\n').filter(holdsCard).length;
    return lines === 0 ? [] : [`${lines} lines of the log ${name} hold a card number`];
  });
}
