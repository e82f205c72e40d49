import { existsSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { ManageContext } from '../../api/manage/manager';
import { requireSetting, type Config } from '../config';
import type { Input } from '../contract/routes';
import {
  BACKUP_CHECK,
  BACKUP_OBJECT,
  brokenReferences,
  countRows,
  findArchived,
  findRestored,
  relationFiles,
  wrongSums,
  type Archived,
  type Restored,
} from '../db/backups/backups';
import type { Database } from '../db/query';
import { schemaDifference } from '../db/migrate';
import { newestChange } from '../db/backups/restores';
import { toIsoTime } from '../time';
import { auditCommand } from './audit-trail';
import type { CommandRoute } from './commands';
import {
  MAINTENANCE_DATABASE,
  CheckStopped,
  RestoreFailure,
  withRestoredCopy,
  type RestoredCopy,
} from './restored-copy';

/** Whether the newest backup can be restored (rules 28.7). */

const CHECK = {
  summary: 'Restore the newest backup and check it',
  description:
    'Restores it with BACKUP_RESTORE_COMMAND into a folder that is removed afterwards, and runs PostgreSQL on it. ' +
    'Prints how old its newest commit is and how long the restore took; ends with 1 if anything is wrong.',
  body: z.object({
    databases: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe('Databases that the backup must contain; default: the database of the record.'),
    role: z.string().min(1).default('postgres').describe('A superuser of the restored server; default: postgres.'),
    directory: z
      .string()
      .min(1)
      .optional()
      .describe('Absolute path of a folder with room for all data; default: the folder for temporary files.'),
  }),
} as const satisfies CommandRoute;

interface BackupServices {
  config: Config;
  db: Database;
}

/** What was found in a backup. */
interface Found {
  newest_commit?: string;
  rpo_seconds?: number;
  rto_seconds?: number;
  /** Rows by table, of each database. */
  rows?: Record<string, Record<string, number>>;
  problems: string[];
  /** Stand for them in the audit trail, which keeps nothing that other programs print. */
  kept?: string[];
}

/** The commands of the noun `backup`. */
export const BACKUP_COMMANDS = [
  {
    verb: 'check',
    route: CHECK,
    run: async ({ config, db }: BackupServices, context: ManageContext, { body }: Input<typeof CHECK>) => {
      const command = requireSetting(config, 'BACKUP_RESTORE_COMMAND');
      // What is archived by now has to be in the backup.
      const archived = await findArchived(db);
      const { databases = [archived.record], role, directory } = body;
      const began = Date.now();
      const found = await withRestoredCopy({ command, role, directory }, (copy) =>
        inspect(copy, { databases, archived, began }),
      ).catch((error: unknown): Found => {
        if (error instanceof CheckStopped) throw error;
        const kept = error instanceof RestoreFailure ? error.reason : 'The check failed.';
        return { problems: [(error as Error).message], kept: [kept] };
      });
      const { rows, kept = found.problems, ...figures } = found;
      const checked = { passed: found.problems.length === 0, databases, ...figures };
      const after = { ...checked, problems: kept, of_record: databases.includes(archived.record) };
      await db.transaction((trx) => auditCommand(trx, context, { action: BACKUP_CHECK, object: BACKUP_OBJECT, after }));
      return { ...checked, ...(rows && { rows }) };
    },
    failed: ({ passed }: { passed: boolean }) => !passed,
  },
];

interface Wanted {
  databases: readonly string[];
  archived: Archived;
  began: number;
}

async function inspect(copy: RestoredCopy, { databases, archived, began }: Wanted): Promise<Found> {
  const { record } = archived;
  const restored = await copy.inDatabase(MAINTENANCE_DATABASE, findRestored);
  const rows: Record<string, Record<string, number>> = {};
  const is_other = databases.includes(record) && archived.system_identifier !== restored.system_identifier;
  const problems = [...(is_other ? ['The backup is of another server.'] : []), ...logProblems(archived, restored)];
  let newest = restored.newest_commit;
  for (const name of databases) {
    if (!restored.databases.includes(name)) {
      problems.push(`The database ${name} is not in the backup.`);
      continue;
    }
    await copy.inDatabase(name, async (db) => {
      const read = await readAll(db, copy.data);
      rows[name] = read.rows;
      const wrong = read.problems.length > 0 || name !== record ? read.problems : await recordProblems(db);
      problems.push(...wrong.map((problem) => `${name}: ${problem}.`));
      if (name === record && read.problems.length === 0) newest ??= (await newestChange(db)) ?? null;
    });
  }
  return {
    ...(newest !== null && {
      newest_commit: toIsoTime(newest),
      rpo_seconds: Math.max(0, Math.round((began - newest) / 1_000)),
    }),
    rto_seconds: copy.seconds,
    rows,
    problems,
  };
}

/** Of the same server, the backup has to have the log as far as it was archived. */
function logProblems({ system_identifier, archived_from, last_archived_wal }: Archived, restored: Restored): string[] {
  if (archived_from === null || system_identifier !== restored.system_identifier) return [];
  if ((restored.replayed_to ?? 0) > archived_from) return [];
  return [`The log ends before ${last_archived_wal}, which Postgres has archived: a file of the archive is missing.`];
}

/** Reads every row of a database. */
async function readAll(db: Database, data: string): Promise<{ rows: Record<string, number>; problems: string[] }> {
  const files = await relationFiles(db);
  const counts = Object.entries(await countRows(db));
  const problems = [
    ...(counts.length === 0 ? ['there is no table'] : []),
    ...files.flatMap(({ relation, file, is_cut }) => {
      if (!existsSync(path.join(data, file))) return [`the file ${file} of ${relation} is missing`];
      return is_cut ? [`a part of the file ${file} of ${relation} is missing`] : [];
    }),
    ...counts.flatMap(([name, count]) => (typeof count === 'string' ? [`${name} cannot be read: ${count}`] : [])),
  ];
  return {
    rows: Object.fromEntries(counts.flatMap(([name, count]) => (typeof count === 'number' ? [[name, count]] : []))),
    problems,
  };
}

/** What is wrong with a record whose rows can be read. */
async function recordProblems(db: Database): Promise<string[]> {
  const difference = await schemaDifference(db);
  if (difference !== undefined) return [difference.replace(/\.$/, '')];
  return [...(await brokenReferences(db)), ...(await wrongSums(db))];
}
