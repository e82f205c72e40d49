import { createHash } from 'node:crypto';
import { mkdir, open, rename, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { csvOf } from '../../api/large-answers/report-cells';
import type { ManageContext } from '../../api/manage/manager';
import type { Input } from '../contract/routes';
import type { Database } from '../db/connection';
import { auditLines, createdInMonth, eventLines, projectIds, type Month } from '../db/month-export';
import type { PagePosition } from '../db/pages';
import { orderIdsByCreation, reportTexts } from '../db/search/report-rows';
import { SEARCH_FIELD_NAMES } from '../domain/query/fields';
import { validationError } from '../errors';
import { auditCommand } from './audit';
import type { CommandRoute } from './commands';

/** Files of a month for an auditor (rules 29.7). */

const MONTH = {
  summary: 'Write the files of a month',
  description:
    'Orders with their transactions as CSV, their events and the audit trail as JSON lines, and SHA-256 sums, of a month (UTC) that is over.',
  params: z.object({ month: z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'Expected a month such as 2026-11.') }),
  body: z.object({
    directory: z.string().min(1).describe('Where the files are written; it is made if it is missing.'),
  }),
} as const satisfies CommandRoute;

/** Orders that are read and written at a time. */
const PAGE = 200;

/** The columns of the report that name a customer: an erasure does not reach files. */
const OF_CUSTOMER = SEARCH_FIELD_NAMES.flatMap((field, at) => (field.startsWith('customer.') ? [at] : []));

/** The commands of the noun `export`. */
export const EXPORT_COMMANDS = [
  {
    verb: 'month',
    route: MONTH,
    run: async (
      { db }: { db: Database },
      context: ManageContext,
      { params: { month }, body: { directory } }: Input<typeof MONTH>,
    ) => {
      const files = await exportMonth(db, month, directory, Date.now());
      const change = { action: 'export.month', object: { kind: 'export', id: month }, after: { files } };
      await db.transaction((trx) => auditCommand(trx, context, change));
      return { items: files };
    },
  },
];

/** A file that was written. */
export interface ExportedFile {
  name: string;
  /** Without the header. */
  rows: number;
  sha256: string;
}

/**
 * Writes the files of a month, in place of those of an earlier export. Throws ValidationError for a month that is not
 * over at `now`, epoch milliseconds.
 */
export async function exportMonth(
  db: Database,
  month: string,
  directory: string,
  now: number,
): Promise<ExportedFile[]> {
  const [year = 0, number = 0] = month.split('-').map(Number);
  const period = { since: Date.UTC(year, number - 1), until: Date.UTC(year, number) };
  if (period.until > now) throw validationError('month', 'Expected a month that is over.');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const file = (name: string) => ExportFile.create(directory, name);
  const orders = await file(`orders-${month}.csv`);
  const events = await file(`events-${month}.jsonl`);
  await orders.write(Buffer.from(`${SEARCH_FIELD_NAMES.join(',')}\r\n`), 0);
  for await (const order_ids of ordersOf(db, period)) {
    const rows = await reportTexts(db, order_ids, SEARCH_FIELD_NAMES);
    const kept = rows.map(({ texts }) => ({
      texts: texts.map((text, at) => (OF_CUSTOMER.includes(at) ? null : text)),
    }));
    await orders.write(await csvOf(kept), kept.length);
    await events.writeLines(await eventLines(db, order_ids));
  }
  const trail = await file(`audit-trail-${month}.jsonl`);
  for await (const lines of auditLines(db, period)) await trail.writeLines(lines);
  const written = [await orders.close(), await events.close(), await trail.close()];
  const sums = await file(`SHA256SUMS-${month}`);
  await sums.writeLines(written.map(({ name, sha256 }) => `${sha256}  ${name}`));
  await sums.close();
  return written;
}

/** The ids of the orders of all projects that were created in a month, in parts. */
async function* ordersOf(db: Database, period: Month): AsyncGenerator<string[]> {
  const condition = createdInMonth(period);
  for (const project_id of await projectIds(db)) {
    for (let after: PagePosition | undefined; ;) {
      const wanted = { project_id, condition, direction: 'asc' } as const;
      const part = await orderIdsByCreation(db, wanted, { rows: PAGE, after });
      if (part.rows.length > 0) yield part.rows.map(({ order_id }) => order_id);
      if (part.is_last) break;
      after = part.end;
    }
  }
}

/** A file under a name of its own until it is whole; only its owner may read it. */
class ExportFile {
  private readonly hash = createHash('sha256');
  private rows = 0;

  private constructor(
    private readonly directory: string,
    private readonly name: string,
    private readonly file: FileHandle,
  ) {}

  static async create(directory: string, name: string): Promise<ExportFile> {
    return new ExportFile(directory, name, await open(path.join(directory, `${name}.part`), 'w', 0o600));
  }

  async write(data: Buffer, rows: number): Promise<void> {
    this.hash.update(data);
    this.rows += rows;
    await this.file.appendFile(data);
  }

  async writeLines(lines: readonly string[]): Promise<void> {
    await this.write(Buffer.from(lines.map((line) => `${line}\n`).join('')), lines.length);
  }

  async close(): Promise<ExportedFile> {
    await this.file.sync();
    await this.file.close();
    await rename(path.join(this.directory, `${this.name}.part`), path.join(this.directory, this.name));
    return { name: this.name, rows: this.rows, sha256: this.hash.digest('hex') };
  }
}
