import { setTimeout } from 'node:timers/promises';
import { requireSetting, type Config } from '../config';
import { countOpenAttentions } from '../db/recovery/attentions';
import { findArchive, findLastBackupCheck } from '../db/backups/backups';
import { openRestore } from '../db/backups/restores';
import { auditTrailWeakness } from '../db/projects/audit-trail';
import { checkWritable } from '../db/availability';
import { queryRows, type Database } from '../db/query';
import { findFigures } from '../db/metrics/figures';
import { schemaDifference } from '../db/migrate';
import { hasOperator } from '../db/projects/oauth-clients';
import { findPayloadKeyUses } from '../db/builds/payload-key-uses';
import { secretKeysInUse } from '../db/projects/secret-keys';
import { checkSession } from '../db/session';
import type { Logger } from '../log';
import { SearchWriter } from '../search/writer';
import { SecretKeys, parseKeys } from '../secrets';
import { missingSearchAttributes } from '../temporal/search-attributes';
import { connectTemporal, dataConverter, pingTemporal, type TemporalClient } from '../temporal/connect';
import { deploymentOf, findCurrentVersion, workOfVersions } from '../temporal/deployment';
import { findWorkers } from '../temporal/task-queues';
import { inspectSchedules } from '../temporal/schedules';
import { countBegunBefore } from '../temporal/visibility';
import { credentialsOf } from '../temporal/credentials';
import { buildOfService } from '../processes/build';
import { openProcessor, recordPool, searchServer } from '../processes/connections';

/** The result of one check. */
export interface Finding {
  readonly check: string;
  /** `skipped`: a precondition of the check is missing. */
  readonly result: 'ok' | 'wrong' | 'skipped';
  /** The fault and its remedy. */
  readonly problem?: string;
  readonly remedy?: string;
  /** What was found where nothing is wrong. */
  readonly note?: string;
}

interface Check {
  readonly name: string;
  /** The checks that have to be ok before. */
  readonly needs?: readonly string[];
  readonly remedy: string;
  /** Rejects with the fault. Returns a note, if there is something to say. */
  readonly run: () => Promise<string | void>;
}

/** Time limit of one check in milliseconds. */
const CHECK_MS = 10_000;

/** Checks every dependency, the schema and the keys of an installation, each by itself (rules 22.5). */
export async function diagnose(config: Config, log: Logger): Promise<Finding[]> {
  const open: { db?: Database; temporal?: TemporalClient } = {};
  const db = () => (open.db ??= recordPool(config, { pool_max: 2, quiet: true }));
  // Nothing that is asked here has a payload; the keys have a check of their own.
  const temporal = () =>
    (open.temporal ??= connectTemporal({
      address: requireSetting(config, 'TEMPORAL_ADDRESS'),
      namespace: config.TEMPORAL_NAMESPACE,
      payload_keys: undefined,
      credentials: credentialsOf(config),
      log,
    }));
  const found: Finding[] = [];
  try {
    for (const check of [
      ...recordChecks(config, db),
      ...keyChecks(config, db),
      ...backupChecks(db),
      ...otherChecks(config, temporal, log),
      payloadKeyUse(config, db, temporal),
      ...loopChecks(config, db, temporal),
    ]) {
      found.push(await findingOf(check, found));
    }
  } finally {
    await open.db?.destroy();
    await open.temporal?.connection.close();
  }
  return found;
}

async function findingOf({ name, needs = [], remedy, run }: Check, before: readonly Finding[]): Promise<Finding> {
  const missing = needs.find((need) => before.find(({ check }) => check === need)?.result !== 'ok');
  if (missing !== undefined) return { check: name, result: 'skipped', problem: `It needs ${missing}.` };
  const late = setTimeout(CHECK_MS, undefined, { ref: false });
  try {
    const note = await Promise.race([run(), late.then(() => refuse('It did not answer in time.'))]);
    return { check: name, result: 'ok', ...(typeof note === 'string' && { note }) };
  } catch (error) {
    return { check: name, result: 'wrong', problem: reasonOf(error), remedy };
  }
}

/** Errors of the network name their cause in `code` or `cause` only. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, cause, errors } = error as { code?: string; cause?: unknown; errors?: unknown[] };
  if (error.message !== '' && cause === undefined) return error.message;
  const inner = cause ?? errors?.[0];
  return [error.message, code, inner === undefined ? undefined : reasonOf(inner)].filter(Boolean).join(': ');
}

/** Rejects unless `problem` is undefined. */
function refuse(problem: string | undefined): void {
  if (problem !== undefined) throw new Error(problem);
}

function recordChecks(config: Config, db: () => Database): Check[] {
  return [
    {
      name: 'postgres',
      remedy: 'Start PostgreSQL, or correct POSTGRES_URL.',
      run: async () => void (await queryRows(db(), 'select 1')),
    },
    {
      name: 'schema',
      needs: ['postgres'],
      remedy: 'Run node dist/src/main/migrate.js of the version that is deployed.',
      run: async () => refuse(await schemaDifference(db())),
    },
    {
      name: 'postgres writes',
      needs: ['schema'],
      remedy:
        'Let POSTGRES_URL lead to the primary, end its read-only mode, or correct the clock of the machine that is wrong.',
      run: () => checkWritable(db()),
    },
    {
      name: 'restore',
      needs: ['schema'],
      remedy: 'Run restore reconcile until nothing is open, and then restore end.',
      async run() {
        const restore = await openRestore(db());
        refuse(restore && `A restore began at ${restore.began}: nothing new is accepted until its end.`);
      },
    },
    {
      name: 'postgres role',
      needs: ['postgres'],
      remedy: 'Run the statements above, or node dist/src/main/migrate.js with the role of the processes.',
      run: () => checkSession(db(), config.POSTGRES_CONNECTIONS_MAX),
    },
    {
      name: 'audit trail',
      needs: ['schema'],
      remedy:
        'Where the trigger is off, find out who switched it off, then: alter table audit_trail enable trigger audit_trail_keep; ' +
        'where the role is wrong, migrate with POSTGRES_OWNER_URL (docs/operations.md, Roles in Postgres).',
      run: async () => refuse(await auditTrailWeakness(db())),
    },
    {
      name: 'operator',
      needs: ['schema'],
      remedy: 'Create a client with the command line: client create --name "First operator" --role operator',
      run: async () => refuse((await hasOperator(db())) ? undefined : 'No client can call the bearer-token host.'),
    },
  ];
}

function keyChecks(config: Config, db: () => Database): Check[] {
  return [
    {
      name: 'secret keys',
      needs: ['schema'],
      remedy: 'Put the missing keys back into SECRET_KEYS, or roll what was made with them.',
      async run() {
        const keys = new SecretKeys(requireSetting(config, 'SECRET_KEYS'));
        const used = await secretKeysInUse(db(), new Date());
        const of = (id: string) => used.filter(({ secret_key_id }) => secret_key_id === id);
        const lost = [...new Set(used.map(({ secret_key_id }) => secret_key_id))].filter((id) => !keys.has(id));
        const needs = (id: string) =>
          of(id)
            .map(({ what, count }) => `${what} ${count}`)
            .join(', ');
        refuse(
          lost.length === 0 ? undefined : `SECRET_KEYS lacks ${lost.map((id) => `${id} (${needs(id)})`).join('; ')}.`,
        );
        return keys.ids.map((id) => `${id}: ${needs(id) || 'nothing needs it'}`).join('; ');
      },
    },
    {
      name: 'payload keys',
      remedy: 'Set PAYLOAD_KEYS as the worker has it: id:base64 of 32 bytes, with commas.',
      async run() {
        dataConverter(requireSetting(config, 'PAYLOAD_KEYS'));
      },
    },
  ];
}

/** As the alerts ArchiveOld and BackupCheckOld, in seconds. */
const ARCHIVE_AGE_MAX = 15 * 60;
const BACKUP_CHECK_AGE_MAX = 8 * 24 * 3_600;

function backupChecks(db: () => Database): Check[] {
  return [
    {
      name: 'archive',
      needs: ['schema'],
      remedy: 'See the log of Postgres for what archive_command answers (docs/operations.md, ArchiveFails).',
      async run() {
        const { is_on, age, fails, failed_count, ...files } = await findArchive(db());
        if (!is_on) {
          const live = files.live_projects === 0 ? '' : `, with ${files.live_projects} live projects`;
          return `archive_mode is off${live}: see Backup and restore in docs/operations.md`;
        }
        const words = [
          files.last_archived_wal === null ? 'nothing was archived' : `last archived ${files.last_archived_wal}`,
          `${Math.floor(age!)} s ago`,
          ...(failed_count > 0 ? [`${failed_count} failed attempts, the last with ${files.last_failed_wal}`] : []),
        ].join(', ');
        refuse(fails === 1 || age! > ARCHIVE_AGE_MAX ? `${words}.` : undefined);
        return words;
      },
    },
    {
      name: 'backup check',
      needs: ['schema'],
      remedy: 'Run backup check of the command line, and mend what it names (docs/operations.md, BackupCheckOld).',
      async run() {
        const last = await findLastBackupCheck(db());
        if (last === undefined) return 'no backup was ever checked: run backup check of the command line';
        if (last.age === null) throw new Error('No backup of the record has ever passed the check.');
        const days = `a backup of the record passed ${Math.floor(last.age / 86_400)} days ago`;
        refuse(last.passed ? undefined : `The check of ${last.at} failed; ${days}.`);
        refuse(last.age > BACKUP_CHECK_AGE_MAX ? `The last check: ${days}.` : undefined);
        return days;
      },
    },
  ];
}

/** Which workflows may have payloads that need each key: those that began while a process encrypted with it. */
function payloadKeyUse(config: Config, db: () => Database, temporal: () => TemporalClient): Check {
  return {
    name: 'payload key use',
    needs: ['schema', 'temporal', 'payload keys'],
    remedy: 'Put missing keys back into PAYLOAD_KEYS of every process: these workflows cannot be read without them.',
    async run() {
      const ids = parseKeys('PAYLOAD_KEYS', requireSetting(config, 'PAYLOAD_KEYS')).map(([id]) => id);
      const found = new Map<string, { is_needed: boolean; text: string }>();
      for (const { key_id, is_in_use, used_until } of await findPayloadKeyUses(db())) {
        if (is_in_use) found.set(key_id, { is_needed: true, text: `${key_id}: in use` });
        else {
          const { open, closed } = await countBegunBefore(temporal(), used_until);
          const is_needed = open + closed > 0;
          const needs = is_needed ? `${open} open and ${closed} closed workflows` : 'nothing needs it';
          found.set(key_id, { is_needed, text: `${key_id}, not used since ${used_until}: ${needs}` });
        }
      }
      const lost = [...found].filter(([id, { is_needed }]) => is_needed && !ids.includes(id));
      refuse(lost.length === 0 ? undefined : `PAYLOAD_KEYS lacks ${lost.map(([, { text }]) => text).join('; ')}.`);
      return ids.map((id) => found.get(id)?.text ?? `${id}: no process has it`).join('; ');
    },
  };
}

/** How long each loop of the workers may be behind, in seconds: long enough for a restart of all of them. */
const BEHIND_SECONDS_MAX = 15 * 60;

/** Work that workers do by themselves, and what they leave to an operator. */
function loopChecks(config: Config, db: () => Database, temporal: () => TemporalClient): Check[] {
  return [
    {
      name: 'workers',
      needs: ['temporal'],
      remedy:
        'Where none polls, start one with the role of that queue (WORKER_ROLES): node dist/src/main/worker.js. Where the ' +
        'build differs, finish the upgrade (docs/operations.md, Upgrade), or run doctor of the build that is deployed. ' +
        'A worker that has stopped is counted for two more minutes.',
      async run() {
        const { builds, unpolled } = await findWorkers(temporal(), Date.now());
        refuse(unpolled.length === 0 ? undefined : `Task queues that no worker polls: ${unpolled.join(', ')}.`);
        const { build, version } = buildOfService(config);
        const own = config.DEPLOYMENT_VERSIONING === 'off' ? build : version;
        const words = [...builds].map(([build, count]) => `${count} of build ${build}`).join(', ');
        refuse([...builds.keys()].every((build) => build === own) ? undefined : `${words}; this build is ${own}.`);
        return words;
      },
    },
    {
      name: 'current version',
      needs: ['temporal'],
      remedy:
        config.DEPLOYMENT_VERSIONING === 'off'
          ? 'Run deploy off of the command line, or start workers with another DEPLOYMENT_VERSIONING.'
          : 'Run deploy current of the command line, of the build whose workers should begin new orders.',
      async run() {
        const deployment = deploymentOf(config, temporal());
        if (config.DEPLOYMENT_VERSIONING === 'off') {
          const problem = await workOfVersions(deployment);
          return refuse(problem && `DEPLOYMENT_VERSIONING is off, and ${problem}.`);
        }
        const current = await findCurrentVersion(deployment);
        if (current === undefined) throw new Error('No version is current: no versioned worker begins new orders.');
        return current;
      },
    },
    {
      name: 'schedules',
      needs: ['temporal'],
      remedy:
        'Where one does not exist, start a worker, which creates it. Where one is due or runs too long, see the log of ' +
        'the workers and of Temporal. Where a run failed, look at its workflow in the Web UI, then trigger the schedule.',
      async run() {
        const { faults, notes } = await inspectSchedules(temporal(), Date.now());
        const words = [...faults, ...notes].join('; ');
        refuse(faults.length === 0 ? undefined : `${words}.`);
        return notes.length === 0 ? undefined : words;
      },
    },
    {
      name: 'lags',
      needs: ['schema'],
      remedy: 'See the log of the workers: the indexer, recovery or webhooks do not keep up.',
      async run() {
        const { outbox_rows, outbox_age, recovery_behind, delivery_age } = await findFigures(db());
        const words = [
          `search index ${outbox_rows} changes, ${Math.floor(outbox_age)} s`,
          recovery_behind === null ? 'recovery has never run' : `recovery ${Math.floor(recovery_behind)} s`,
          `webhooks ${Math.floor(delivery_age)} s`,
        ].join('; ');
        const is_behind = Math.max(outbox_age, recovery_behind ?? Infinity, delivery_age) > BEHIND_SECONDS_MAX;
        refuse(is_behind ? `Behind: ${words}.` : undefined);
        return words;
      },
    },
    {
      name: 'attention',
      needs: ['schema'],
      remedy: 'See attention list of the command line.',
      async run() {
        const open = (await countOpenAttentions(db())).map(({ kind, count }) => `${kind} ${count}`);
        return open.length === 0 ? undefined : `${open.join(', ')}: see attention list of the command line`;
      },
    },
  ];
}

function otherChecks(config: Config, temporal: () => TemporalClient, log: Logger): Check[] {
  return [
    {
      name: 'temporal',
      remedy: 'Start Temporal, or correct TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and its credentials.',
      run: () => pingTemporal(temporal()),
    },
    {
      name: 'search attributes',
      needs: ['temporal'],
      remedy: 'Register each: temporal operator search-attribute create --name <name> --type Keyword',
      async run() {
        const missing = await missingSearchAttributes(temporal());
        refuse(missing.length === 0 ? undefined : `The namespace lacks ${missing.join(', ')}.`);
      },
    },
    {
      name: 'search index',
      remedy:
        'Start Meilisearch, or correct MEILISEARCH_URL and MEILISEARCH_KEY; a worker makes a missing index by itself.',
      async run() {
        const state = await new SearchWriter(searchServer(config)).state();
        refuse(state === 'current' ? undefined : `The index is ${state}.`);
      },
    },
    {
      name: 'processor',
      remedy: 'Start the processor simulator, or correct PROCESSOR_URL or PROCESSOR_KEY.',
      async run() {
        const processor = openProcessor(config, log);
        refuse(await processor.findProblem().finally(() => void processor.close()));
      },
    },
  ];
}
