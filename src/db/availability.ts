import { KnexTimeoutError } from 'knex';
import type { LabelsOf } from '../metrics/catalogue';
import { gauge } from '../metrics/recorder';
import { requireRow, type Database } from './query';

/** Classes of errors: by SQLSTATE or the code of Node, the first that fits, or by the text where there is no code. */
type ErrorClass = LabelsOf<'payments_db_errors_total'>['class'];

const CODES: readonly (readonly [RegExp, ErrorClass])[] = [
  // A standby, or a primary that was set to read-only.
  [/^25006$/, 'read_only'],
  [/^(40001|40P01)$/, 'conflict'],
  // No disk, memory or connection left.
  [/^53...$/, 'resources'],
  [/^(25P03|55P03|57014)$/, 'timeout'],
  // It stops or starts, or has ended a session that was idle.
  [/^57P..$/, 'shutdown'],
  [/^23...$/, 'constraint'],
  // No connection; role or password refused: they may be changed at this moment.
  [/^(08...|28...)$/, 'connection'],
  [/^E(CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|HOSTDOWN|NETUNREACH|NOTFOUND|AI_AGAIN)$/, 'connection'],
  // The certificate of the server is not accepted.
  [/^(CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_TLS_CERT_)/, 'connection'],
];

/** Errors that pg reports without a code. knex puts the statement before the text. */
const TEXTS: readonly (readonly [RegExp, ErrorClass])[] = [
  [/(Query read timeout|timeout expired)$/, 'timeout'],
  [/(Connection (terminated|ended)[\w ]*|not queryable)$/, 'connection'],
];

/** The class of an error of a statement, or of a connection that could not be opened. */
export function errorClassOf(error: unknown): ErrorClass {
  if (error instanceof KnexTimeoutError) return 'pool';
  const code = codeOf(error);
  const [table, text] = code === undefined ? [TEXTS, error instanceof Error ? error.message : ''] : [CODES, code];
  return table.find(([pattern]) => pattern.test(text))?.[1] ?? 'other';
}

/**
 * Whether the database was unreachable, refused for now or did not answer in time; the statement may have run. Not when
 * the statement itself is refused.
 */
export function isUnavailable(error: unknown): boolean {
  return !['constraint', 'other'].includes(errorClassOf(error));
}

/** The SQLSTATE of an error of Postgres, or the code of Node. */
export function codeOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}

/** The database answers, but cannot be used. The message states why, without details of the installation. */
export class DatabaseNotReady extends Error {}

/** How far the clock of this machine may be from the database's. Milliseconds. */
const CLOCK_DIFFERENCE_MS = 1_000;

let clock_ahead_ms: number | undefined;

function noteClock(ahead_ms: number): void {
  if (clock_ahead_ms === undefined) {
    gauge('payments_clock_difference_seconds', () => [{ value: clock_ahead_ms! / 1_000, labels: {} }]);
  }
  clock_ahead_ms = ahead_ms;
}

/**
 * Throws unless the database can be written to, and its clock agrees with this machine's (rules 2.7): the readiness
 * probe. Throws DatabaseNotReady if it answers.
 */
export async function checkWritable(db: Database, machineTime: () => number = Date.now): Promise<void> {
  const asked_at = machineTime();
  // A standby and a read-only server refuse to advance a sequence.
  const { clock } = await requireRow<{ clock: number }>(
    db,
    `select nextval('readiness_checks'), extract(epoch from clock_timestamp())::float8 * 1000 as clock`,
  ).catch((error: unknown) => {
    throw errorClassOf(error) === 'read_only' ? new DatabaseNotReady('is read-only', { cause: error }) : error;
  });
  // Of a slow statement the clock may have been read at any instant.
  const ahead_ms = Math.max(0, asked_at - clock) - Math.max(0, clock - machineTime());
  noteClock(ahead_ms);
  if (Math.abs(ahead_ms) > CLOCK_DIFFERENCE_MS) {
    throw new DatabaseNotReady(`has a clock that differs by ${(Math.abs(ahead_ms) / 1_000).toFixed(1)} s`);
  }
}
