import type { Database, SqlTransaction } from '../../src/db/query';
import { readWithin } from '../../src/db/query';
import { ConcurrencyLimit, type Release } from '../http/concurrency-limit';

/** Time limit of one statement in Postgres, in milliseconds: shorter than that of other statements. */
const STATEMENT_MS = 5_000;
/** Reads of a project that wait for their turn. */
const WAITING_MAX = 100;
/**
 * Maximum number of streamed answers: per project, and in this process. A merchant has a hundred projects at most (rules
 * 21.24), which together do not take all that other projects get.
 */
const STREAMS = { per_caller: { running: 4, waiting: 60 }, running: 20, running_first: 150 };
const REPORTS = { ...STREAMS, per_caller: { running: 1, waiting: 3 } };

/**
 * Objects that are read at a time: so few that the process does nothing else for some milliseconds only, and that an
 * answer whose client does not read it holds little. Of large objects Postgres makes more than the bytes allow.
 */
const PART = { first: 50, most: 400, bytes: 256 * 1_024 } as const;

/** The limits of a part, by the number of rows that were asked for and came the last time. */
export function partLimits(before?: { asked: number; came: number }) {
  const { first, most, bytes } = PART;
  if (before === undefined) return { rows: first, bytes };
  // Rows that the bytes do not allow are made in vain.
  const { asked, came } = before;
  // One at least: none may have come, of found orders that are not in the record.
  return { rows: Math.min(most, Math.max(1, came < asked ? Math.ceil(came * 1.1) : 2 * came)), bytes };
}

/** Takes a place, which is held until the result is called. Rejects with the reason of `signal`. */
export type TakePlace = (signal: AbortSignal) => Promise<Release>;

/**
 * Reads of many rows: searches, lists and reports. They use separate connections, one read at a time per project, so
 * that payments do not wait for them (rules 20.22), and few answers are streamed at a time (rules 18.8).
 */
export interface BulkReads {
  /** Rejects with the reason of `signal`: a read that waits for its turn is not made then. */
  readonly read: <T>(project_id: string, work: (trx: SqlTransaction) => Promise<T>, signal?: AbortSignal) => Promise<T>;
  /** For a list or a large search answer. */
  readonly stream: (project_id: string) => TakePlace;
  readonly report: (project_id: string) => TakePlace;
}

/** `db` has so many connections, which nothing else uses. */
export function createBulkReads(db: Database, connections: number): BulkReads {
  const reads = new ConcurrencyLimit({
    what: 'reads of lists, searches and reports',
    per_caller: { running: 1, waiting: WAITING_MAX },
    running: connections,
  });
  const streams = new ConcurrencyLimit({ what: 'lists, reports and large searches', ...STREAMS });
  const reports = new ConcurrencyLimit({ what: 'reports', ...REPORTS });
  return {
    read: (project_id, work, signal) => reads.run(project_id, () => readWithin(db, STATEMENT_MS, work), signal),
    stream: (project_id) => (signal) => streams.acquire(project_id, signal),
    report: (project_id) => async (signal) => {
      const releaseReport = await reports.acquire(project_id, signal);
      try {
        const releaseStream = await streams.acquire(project_id, signal);
        return () => {
          releaseStream();
          releaseReport();
        };
      } catch (error) {
        releaseReport();
        throw error;
      }
    },
  };
}
