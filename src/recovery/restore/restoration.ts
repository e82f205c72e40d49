import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../db/query';
import { findStoredOrder } from '../../db/orders/stored-order';
import { acceptRequest, type AcceptedRequest } from '../../domain/accepted-request';
import type { Processor } from '../../processor/client';
import { unlessClosed } from '../../temporal/call';
import type { TemporalClient } from '../../temporal/connect';
import type { SeenWorkflow } from '../../temporal/sent-inputs';
import type { WorkflowClients } from '../../temporal/workflows';
import type { KnownOperations } from './known-operations';

/** What all objects share that a restored record lacks (rules 28.3): how requests are sent again, and waited for. */

export interface RestoreServices {
  db: Database;
  client: TemporalClient;
  processor: Pick<Processor, 'findOperation'>;
  workflows: Pick<WorkflowClients, 'orders' | 'follow_ups' | 'payment_links' | 'processor_notifications'>;
}

/** One pass over the objects of a type. */
export interface Restoration extends RestoreServices {
  /** All that the processor has carried out since the backup. */
  operations: KnownOperations;
  /** Takes the ends of payment links, which are written last: a link that has ended takes no attempt. */
  ends: Missing[];
}

/** An object that the record lacks, or has in an older state. */
export interface Missing {
  /** The id of its workflow. */
  object: string;
  /** Objects with the same value share a limit: attempts of a link, follow-up orders of a payment. */
  in_turn_with: string;
  /** If writing it fails, later objects of the same group are skipped. */
  is_needed_by_later: boolean;
  /** Sends again what was sent to it. Returns whether the record was changed. */
  write: () => Promise<boolean>;
}

/**
 * An object that is not written on purpose: a person has to decide, and a repeated reconciliation finds the same (rules
 * 28.3). Any other error may be gone when the reconciliation is repeated.
 */
export class LeftForPerson extends Error {}

/** As LeftForPerson: it is ended again as it had ended, so that a repeated reconciliation does not find it any more. */
export class EndedAgain extends LeftForPerson {}

/** A request of the reconciliation is answered within this time. Milliseconds. */
const DEADLINE_MS = 20_000;
/** Pause before an object is looked for again. Milliseconds. */
export const TRY_AGAIN_MS = 500;

/** When a call that begins now has to be answered. Epoch milliseconds. */
export const deadline = () => Date.now() + DEADLINE_MS;

/**
 * The same request, which may be carried out now. It has an id of its own and no Idempotency-Key: by its update id
 * Temporal would answer with the result of the lost one.
 */
export function again({ first_received_at }: AcceptedRequest): AcceptedRequest {
  const received_at = Date.now();
  const request = acceptRequest({ request_id: randomUUID(), received_at, deadline_at: received_at + DEADLINE_MS });
  return { ...request, is_repeat: true, first_received_at };
}

/** A running workflow whose record is missing holds a copy of it; a new run begins without. */
export async function endRun(
  { client }: Restoration,
  { workflow_id, open_run_id }: Pick<SeenWorkflow, 'workflow_id' | 'open_run_id'>,
): Promise<void> {
  if (open_run_id === undefined) return;
  const handle = client.workflow.getHandle(workflow_id, open_run_id);
  // It may have ended itself, as its record is missing (rules 10.19).
  await unlessClosed(() => handle.terminate('its record was lost, and is written again'));
}

/** Waits until something is done; calls `resume` every fourth time that it is not. Throws `problem` after the deadline. */
export async function untilDone(
  problem: Error,
  isDone: () => Promise<boolean>,
  resume: () => Promise<unknown> = async () => {},
): Promise<void> {
  const give_up = deadline();
  for (let tries = 1; !(await isDone()); tries += 1) {
    if (Date.now() > give_up) throw problem;
    await sleep(TRY_AGAIN_MS);
    if (tries % 4 === 0) await resume();
  }
}

/** Waits for a follow-up order, which is refused while the outcome of its payment is not known again. */
export async function untilStored(
  { db }: Restoration,
  id: string,
  kind: string,
  resume: () => Promise<unknown>,
): Promise<void> {
  const refused = new LeftForPerson(`The ${kind} is refused.`);
  await untilDone(refused, async () => (await findStoredOrder(db, id)) !== undefined, resume);
}
