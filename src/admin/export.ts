import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readdir, rename, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { csvOf } from '../../api/large-answers/report-cells';
import type { ManageContext } from '../../api/manage/manager';
import type { Config } from '../config';
import type { Input } from '../contract/routes';
import { connectDatabase } from '../db/connection';
import type { Database } from '../db/query';
import type { RequireLease } from '../db/lease';
import { allParts } from '../db/pages';
import { auditLines, createdInMonth, eventLines, projectIds } from '../db/retention/month-export';
import { MONTH_EXPORTED, ownsAuditTrail, removeAuditEntries, removeOrders } from '../db/retention/month-removal';
import { orderIdsByCreation, reportTexts } from '../db/search/report-rows';
import { READ_IN_UTC } from '../db/session';
import type { TimeSpan } from '../domain/period';
import { SEARCH_FIELD_NAMES } from '../domain/query/fields';
import { ServiceError, validationError } from '../errors';
import { recordPool } from '../processes/connections';
import { flushFolder, writeWhole } from '../stack/files';
import { toIsoTime } from '../time';
import { alone } from './alone';
import { auditCommand, type CommandAuthor } from './audit-trail';
import type { CommandRoute } from './commands';

/** Files of a month for an auditor (rules 29.7), and the removal of what they hold (29.8). */

const OF_MONTH = {
  params: z.object({ month: z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'Expected a month such as 2026-11.') }),
  body: z.object({
    directory: z.string().min(1).describe('Where the files are written; it is made if it is missing.'),
  }),
};

const MONTH = {
  summary: 'Write the files of a month',
  description:
    'Orders with their transactions as CSV, their events and the audit trail as JSON lines, and SHA-256 sums, of a month (UTC) that is over.',
  ...OF_MONTH,
} as const satisfies CommandRoute;

const REMOVE = {
  summary: 'Write the files of a month, then remove its orders and audit trail from the database',
  description: 'Of a month that ended RETENTION_ORDERS_YEARS ago or earlier. It cannot be undone.',
  ...OF_MONTH,
} as const satisfies CommandRoute;

/** Orders that are read and written at a time. */
const PAGE = 200;

/** The columns of the report that name a customer: an erasure does not reach files. */
const OF_CUSTOMER = SEARCH_FIELD_NAMES.flatMap((field, at) => (field.startsWith('customer.') ? [at] : []));

/** Two commands that write the same files would mix them; what a removal wrote is all that is left of the month. */
const ONE_EXPORT = { name: 'export', another: 'Another export' };

/** The commands of the noun `export`. */
export const EXPORT_COMMANDS = [
  {
    verb: 'month',
    route: MONTH,
    run: async (
      { db }: { db: Database },
      context: ManageContext,
      { params: { month }, body: { directory } }: Input<typeof MONTH>,
    ) => ({
      items: await alone(db, ONE_EXPORT, (requireLease) =>
        exportMonth(db, month, directory, Date.now(), { author: context, requireLease }),
      ),
    }),
  },
  {
    verb: 'remove',
    route: REMOVE,
    run: async (
      { config }: { config: Config },
      context: ManageContext,
      { params: { month }, body: { directory } }: Input<typeof REMOVE>,
    ) => {
      const db = ownersPool(config);
      try {
        const years = config.RETENTION_ORDERS_YEARS;
        return await alone(db, ONE_EXPORT, (requireLease) =>
          removeMonth(db, month, directory, Date.now(), { years, author: context, requireLease }),
        );
      } finally {
        await db.destroy();
      }
    },
  },
];

/** A pool of the owner of the schema: of the role of the processes where the configuration names no other. */
function ownersPool(config: Config): Database {
  const options = { pool_max: 2, session_sql: READ_IN_UTC };
  const { POSTGRES_OWNER_URL: owner_url } = config;
  return owner_url === undefined ? recordPool(config, options) : connectDatabase(owner_url, options);
}

/** A file that was written. */
export interface ExportedFile {
  name: string;
  /** Without the header. */
  rows: number;
  sha256: string;
}

/** Who writes files. `requireLease` throws once another command may write them too. */
interface Exporter {
  author: CommandAuthor;
  requireLease: RequireLease;
}

/** The time of a month such as 2026-11, in UTC. */
function monthOf(month: string): TimeSpan {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return { since: Date.UTC(year, number - 1), until: Date.UTC(year, number) };
}

/**
 * Writes the files of a month, in place of those of an earlier export, and an entry with their sums into the audit
 * trail. `removes`: the month is removed afterwards. Throws ValidationError for a month that is not over at `now`, epoch
 * milliseconds, and for a directory that has the files of a month that was removed. A removal also refuses one with
 * files of the month, whole or in part: it must be sure which files hold what it removes.
 */
export async function exportMonth(
  db: Database,
  month: string,
  directory: string,
  now: number,
  { author, requireLease, removes = false }: Exporter & { removes?: boolean },
): Promise<ExportedFile[]> {
  const period = monthOf(month);
  if (period.until > now) throw validationError('month', 'Expected a month that is over.');
  const has = (name: string) => existsSync(path.join(directory, name));
  if (has(removedName(month)) || (removes && has(sumsName(month)))) {
    throw validationError(
      'directory',
      'It has the files of this month already, which hold what a repeat no longer finds.',
    );
  }
  if (removes && (await hasPartOf(month, directory))) {
    throw validationError(
      'directory',
      'It has .part files of an interrupted export of this month: name another directory, or delete them.',
    );
  }
  const files = await writeFiles(db, month, period, directory, requireLease);
  const after = { files, read_from: toIsoTime(now) };
  const change = { action: MONTH_EXPORTED, object: { kind: 'export', id: month }, after };
  await db.transaction((trx) => auditCommand(trx, author, change));
  return files;
}

/** What was removed with a month. */
export interface RemovedMonth {
  files: ExportedFile[];
  removed: { orders: number; audit_entries: number };
  /** Orders of the month that stay, with their transactions and events. */
  orders_kept: number;
}

/**
 * Writes the files of a month, then removes its orders and its audit trail from the record (rules 29.8). `db` is a
 * connection of the owner of the schema. Repeat-safe: after an interruption a repeat removes the rest, and writes files
 * without what was removed, so it needs another directory. Throws ValidationError for a month that ended less than
 * `years` before `now`, epoch milliseconds, or for a directory that has files of the month; Forbidden for another role.
 */
export async function removeMonth(
  db: Database,
  month: string,
  directory: string,
  now: number,
  { years, author, requireLease }: Exporter & { years: number },
): Promise<RemovedMonth> {
  const period = monthOf(month);
  const retained_until = new Date(period.until);
  retained_until.setUTCFullYear(retained_until.getUTCFullYear() + years);
  if (retained_until.getTime() > now) {
    throw validationError('month', `Expected a month that ended at least ${years} years ago.`);
  }
  if (!(await ownsAuditTrail(db))) {
    throw new ServiceError('Forbidden', 'POSTGRES_OWNER_URL has to name the role that owns the schema.');
  }
  const files = await exportMonth(db, month, directory, now, { author, requireLease, removes: true });
  const kept = `The orders of ${month} were removed from the database: these files are what is left of them.\n`;
  // Durable, and with it the names of all files: what is removed next would be lost with them in a power failure.
  writeWhole(path.join(directory, removedName(month)), kept, { is_durable: true });
  const record = async (after: object) => {
    const change = { action: 'export.remove', object: { kind: 'export', id: month }, after };
    await db.transaction((trx) => auditCommand(trx, author, change));
  };
  // Each part is removed for good by itself, and a process that is killed writes no end.
  await record({ state: 'begun' });
  const removed = { orders: 0, audit_entries: 0 };
  let orders_kept = 0;
  try {
    for await (const order_ids of ordersOf(db, period)) {
      await requireLease();
      removed.orders += await removeOrders(db, order_ids, period);
    }
    for await (const entries of removeAuditEntries(db, period)) {
      removed.audit_entries += entries;
      await requireLease();
    }
    for await (const order_ids of ordersOf(db, period)) orders_kept += order_ids.length;
  } catch (error) {
    // What ended the removal is told, also where Postgres is away.
    await record({ state: 'interrupted', removed }).catch(() => undefined);
    throw error;
  }
  await record({ state: 'ended', removed, orders_kept });
  return { files, removed, orders_kept };
}

async function writeFiles(
  db: Database,
  month: string,
  period: TimeSpan,
  directory: string,
  requireLease: RequireLease,
): Promise<ExportedFile[]> {
  await makeDirectory(directory);
  const file = (name: string) => ExportFile.create(directory, name, requireLease);
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
  const sums = await file(sumsName(month));
  await sums.writeLines(written.map(({ name, sha256 }) => `${sha256}  ${name}`));
  await sums.close();
  return written;
}

/** Makes a directory, and what is missing above it; they are there after a power failure too. */
async function makeDirectory(directory: string): Promise<void> {
  const last = path.resolve(directory);
  const first = await mkdir(last, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = last; made.length >= first.length; made = path.dirname(made)) flushFolder(path.dirname(made));
}

/** Whether an export of the month was interrupted in the directory. */
async function hasPartOf(month: string, directory: string): Promise<boolean> {
  const names = existsSync(directory) ? await readdir(directory) : [];
  return names.some((name) => name.includes(`-${month}.`) && name.endsWith(PART));
}

const PART = '.part';
const sumsName = (month: string) => `SHA256SUMS-${month}`;
/** Marks a folder whose files hold what the record no longer has. */
const removedName = (month: string) => `REMOVED-${month}`;

/** The ids of the orders of all projects that were created in a month, in parts. */
async function* ordersOf(db: Database, period: TimeSpan): AsyncGenerator<string[]> {
  const condition = createdInMonth(period);
  for (const project_id of await projectIds(db)) {
    const wanted = { project_id, condition, direction: 'asc' } as const;
    const parts = allParts((after) => orderIdsByCreation(db, wanted, { rows: PAGE, after }));
    for await (const rows of parts) yield rows.map(({ order_id }) => order_id);
  }
}

/** A file under a name of its own until it is whole; only its owner may read it. */
class ExportFile {
  private readonly hash = createHash('sha256');
  private rows = 0;

  private constructor(
    private readonly target: string,
    private readonly part: string,
    private readonly file: FileHandle,
    private readonly requireLease: RequireLease,
  ) {}

  static async create(directory: string, name: string, requireLease: RequireLease): Promise<ExportFile> {
    const target = path.join(directory, name);
    const part = `${target}.${randomUUID()}${PART}`;
    return new ExportFile(target, part, await open(part, 'wx', 0o600), requireLease);
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
    await this.requireLease();
    await rename(this.part, this.target);
    return { name: path.basename(this.target), rows: this.rows, sha256: this.hash.digest('hex') };
  }
}
