import type { temporal } from '@temporalio/proto';
import { queryColumn, type Database } from '../../src/db/query';
import type { RunningStack } from '../../test/support/stack';

/** Everything that invariants look at. */
export interface Evidence {
  stack: RunningStack;
  /** The database of the service. */
  record: Database;
  /** The database of the processor simulator, and its address where it is not on the server of the record. */
  processor: Database;
  simulator_postgres_url?: string | undefined;
}

/** The history of one run of a workflow, decrypted. */
export interface WorkflowHistory {
  workflow_id: string;
  run_id: string;
  history: temporal.api.history.v1.IHistory;
  /** Its payloads as texts. */
  payloads: string[];
}

/** What must hold whenever nothing is under way. */
export interface Invariant {
  name: string;
  /** The promise, in one sentence. */
  title: string;
  /** Set if it may still be on its way to hold, as with polls and retries: it is then looked at again for a while. */
  eventual?: true;
  /** Each names the object that differs from the promise. */
  violations(place: Evidence): Promise<string[]>;
}

export interface HistoryOptions {
  /**
   * Gets each history that does not replay because Temporal lost a task (docs/promises.md). Absent where no Temporal is
   * killed: such a history is a violation.
   */
  onLostTask?: (workflow: WorkflowHistory) => void;
}

/** What must hold of the history of every workflow. */
export interface HistoryInvariant {
  name: string;
  /** The promise, in one sentence. */
  title: string;
  /** Gets all histories, a batch at a time. Each names the workflow that differs from the promise. */
  violations(histories: readonly WorkflowHistory[], options: HistoryOptions): Promise<string[]>;
}

/** An invariant of the record that is one SQL statement, which selects `violation`. */
export const inRecord =
  (sql: string): Invariant['violations'] =>
  ({ record }) =>
    queryColumn(record, sql);

/** As inRecord, of the processor's own database. */
export const atProcessor =
  (sql: string): Invariant['violations'] =>
  ({ processor }) =>
    queryColumn(processor, sql);
