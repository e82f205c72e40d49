import path from 'node:path';

/** A process that is killed. */
export type Victim = 'api' | 'worker';
/** Where a process dies: before it sends a call, or with the answer that no caller has seen yet. */
export type Side = 'before' | 'after';

/** One crash point of a flow: `calls` counts the flow's outside calls in one process, from 1. */
export interface CrashPoint {
  call: number;
  side: Side;
}

/** What the proof tells a process: the flows whose calls it numbers, by their markers, and where each stops. */
export interface Orders {
  flows: { marker: string; point?: CrashPoint | undefined }[];
  /** Whether the calls of the indexer are numbered too: it writes the orders of several flows at once. */
  with_index: boolean;
  /** Ids that several flows share, such as that of the project. */
  shared_ids: string[];
}

/** What a process tells the proof. `is_read`: the call changes nothing, whether it is made or not. */
export type Report =
  | { kind: 'started'; victim: Victim; pid: number }
  | { kind: 'obeys' }
  | { kind: 'call'; marker: string; call: number; what: string; is_read: boolean }
  | { kind: 'stopped'; marker: string; point: CrashPoint; what: string };

/** Where the processes of a stack find the proof. */
export const socketOf = (data_dir: string) => path.join(data_dir, 'crash.sock');

/** The header that names the flow of an HTTP request. */
export const FLOW_HEADER = 'x-proof-flow';
