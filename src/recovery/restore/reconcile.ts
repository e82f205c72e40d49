import { findDifferences } from '../../../activities/audit-comparison';
import {
  ERASURE_WORKFLOW,
  FOLLOW_UP_WORKFLOW,
  ORDER_WORKFLOW,
  PAYMENT_LINK_WORKFLOW,
  objectIdOf,
  type ErasureInput,
} from '../../../workflows/messages';
import { setTimeout as sleep } from 'node:timers/promises';
import { holdErasures, postponeEnds, type OpenItem } from '../../db/backups/restores';
import type { RequireLease } from '../../db/lease';
import { endLostRecords } from '../../db/recovery/attentions';
import { reopenErasure } from '../../db/retention/erasures';
import { isProcessorInitiated } from '../../domain/follow-up';
import { severalAtOnce } from '../../domain/several-at-once';
import { minorUnitsInWords } from '../../domain/waits';
import { ERRORS, ServiceError } from '../../errors';
import type { Processor } from '../../processor/client';
import { operationPages } from '../../processor/operation-pages';
import type { ReportedOperation } from '../../processor/wire';
import { lackingSince, sentInputs, workflowsSince, type SeenWorkflow } from '../../temporal/sent-inputs';
import type { WorkflowClients } from '../../temporal/workflows';
import { CHECKS_AT_ONCE } from '../row-checks';
import { KnownOperations } from './known-operations';
import { missingInitiated, missingOf } from './missing';
import { EndedAgain, LeftForPerson, type Missing, type Restoration, type RestoreServices } from './restoration';

interface Services extends RestoreServices {
  workflows: RestoreServices['workflows'] & Pick<WorkflowClients, 'erasures'>;
  processor: Pick<Processor, 'operations' | 'totals' | 'findOperation'>;
  requireLease: RequireLease;
}

/** The restore that is reconciled. Instants in epoch milliseconds. */
export interface RestoreUnderWay {
  /** What is newer may be missing in the record. */
  since: number;
  began: number;
}

/** What a reconciliation has done. */
export interface Reconciliation {
  /** Workflows that were compared with the record. */
  compared: number;
  /** Objects that were missing, or behind, and were written again. */
  rewritten: number;
  open_items: OpenItem[];
  /** How many of the open items could not be read or written because of a failure: a repeat may succeed (rules 28.3). */
  failed: number;
}

/** What was open in the backup ends this much later at the earliest, counted again from each step (rules 28.4). */
export const ENDS_AFTER_MS = 60 * 60_000;

/** How long the processor and the record may take to agree, in all and without any progress. Milliseconds. */
const AGREED_WITHIN_MS = { most: 120_000, unchanged: 15_000 };

/** Links come before the orders that pay them, orders before what follows them. */
const TYPES = [PAYMENT_LINK_WORKFLOW, ORDER_WORKFLOW, FOLLOW_UP_WORKFLOW] as const;

/**
 * Compares a restored record with what Temporal and the processor know since an instant, and writes again what is
 * missing: the inputs in the histories of the workflows are sent once more. Ids and the keys of the processor derive
 * from the objects, so that nothing is done twice: the processor answers a repeated charge with the first one's outcome.
 * What cannot be written again is left for a person. Safe to repeat (rules 28.3).
 */
export async function reconcile(services: Services, restore: RestoreUnderWay): Promise<Reconciliation> {
  const { db, client, processor, requireLease } = services;
  const { since } = restore;
  await holdErasures(db, true);
  const seen = await workflowsSince(client, TYPES, since);
  const run = new ReconciliationRun(requireLease, seen.length);
  const { found } = run;
  await run.attempt('temporal', async () => {
    const lacking = await lackingSince(client, since);
    if (lacking !== undefined) throw new LeftForPerson(lacking);
  });
  const ends: Missing[] = [];
  const restorationWith = (operations: readonly ReportedOperation[]): Restoration => ({
    ...services,
    operations: new KnownOperations(processor, operations),
    ends,
  });
  for (const type of TYPES) {
    // The processor may go on with what was under way: its operations are asked for again.
    const restoration = restorationWith(await operationsSince(processor, since));
    const of_type = seen.filter((one) => one.type === type);
    const read = await severalAtOnce(CHECKS_AT_ONCE, of_type, (workflow) =>
      run.attempt(workflow.workflow_id, () => missingOf(restoration, type, workflow)),
    );
    await requireLease();
    await postponeEnds(db, since, Date.now() + ENDS_AFTER_MS);
    await run.writeAll(read.filter((one) => one !== undefined));
  }
  // A link that has ended takes no attempt.
  await run.writeAll(ends);
  const operations = await operationsSince(processor, since);
  const restoration = restorationWith(operations);
  const initiated = operations.filter(
    ({ operation, result }) => isProcessorInitiated(operation) && result === 'approved',
  );
  await run.writeAll(initiated.map((operation) => missingInitiated(restoration, operation)));
  const erasures = await workflowsSince(client, [ERASURE_WORKFLOW], since);
  if (found.failed === 0) {
    await requireLease();
    await holdErasures(db, false);
    await eraseAgain(services, run, { erasures, began: restore.began });
  } else {
    // Histories are needed once more.
    const reason = 'It has to be carried out again.';
    found.open_items.push(...erasures.map(({ workflow_id }) => ({ object: workflow_id, reason })));
  }
  found.open_items.push(...(await differences(services, new Set(operations.map(({ order_id }) => order_id)))));
  const open = new Set(found.open_items.map(({ object }) => object));
  const restored = seen.filter(({ workflow_id }) => !open.has(workflow_id));
  await requireLease();
  await endLostRecords(
    db,
    restored.map(({ workflow_id }) => objectIdOf(workflow_id)),
  );
  return found;
}

/** One reconciliation: what it has done so far, and what it could not do. */
class ReconciliationRun {
  readonly found: Reconciliation;

  constructor(
    private readonly requireLease: RequireLease,
    compared: number,
  ) {
    this.found = { compared, rewritten: 0, open_items: [], failed: 0 };
  }

  /** Does something about an object. What fails becomes an open item; the result is `undefined` then. */
  async attempt<T>(object: string, work: () => Promise<T>): Promise<T | undefined> {
    return await work().catch((error: Error) => {
      const is_ended_again = error instanceof EndedAgain;
      this.found.open_items.push({ object, reason: error.message, ...(is_ended_again && { is_ended_again }) });
      if (!isForPerson(error)) this.found.failed += 1;
      return undefined;
    });
  }

  /** Writes what is missing, several at once; what shares a limit is written in its order. */
  async writeAll(missing: readonly Missing[]): Promise<void> {
    const groups = new Map<string, Missing[]>();
    for (const one of missing) groups.set(one.in_turn_with, [...(groups.get(one.in_turn_with) ?? []), one]);
    await severalAtOnce(CHECKS_AT_ONCE, [...groups.values()], async (group) => {
      for (const { object, write, is_needed_by_later } of group) {
        await this.requireLease();
        const is_changed = await this.attempt(object, write);
        if (is_changed === undefined && is_needed_by_later) return;
        if (is_changed) this.found.rewritten += 1;
      }
    });
  }
}

/** Whether a person has to look: it was left on purpose, or the service refused it by its rules. */
const isForPerson = (error: Error) =>
  error instanceof LeftForPerson || (error instanceof ServiceError && ERRORS[error.error].status < 500);

/** How long an erasure may take until a person has to look. Milliseconds. */
const ERASURE_MS = 60_000;

/** Carries out again the erasures since the backup, which the restored record does not know (rules 29.6). */
async function eraseAgain(
  { db, client, workflows, requireLease }: Services,
  run: ReconciliationRun,
  { erasures, began }: { erasures: readonly SeenWorkflow[]; began: number },
): Promise<void> {
  const started: string[] = [];
  for (const { workflow_id: object } of erasures) {
    await requireLease();
    await run.attempt(object, async () => {
      const { start } = await sentInputs(client, object);
      const erasure = start as ErasureInput;
      // One may have begun on the restored record, before what that lacked was written again.
      await reopenErasure(db, erasure.erasure_id, { completed_before: began, now: Date.now() });
      await workflows.erasures.start(erasure);
      started.push(object);
    });
  }
  // A worker carries out one of a project at a time: while one is waited for, others go on.
  for (const object of started) {
    const handle = client.workflow.getHandle(object);
    await run.attempt(object, async () => {
      await client
        .withDeadline(Date.now() + ERASURE_MS, () => handle.result())
        .catch((error: Error) => {
          throw new LeftForPerson(`It is not completed, and goes on: ${error.message}`);
        });
    });
  }
}

async function operationsSince(processor: Services['processor'], since: number): Promise<ReportedOperation[]> {
  const operations: ReportedOperation[] = [];
  for await (const page of operationPages(processor, { since, until: Date.now() })) operations.push(...page);
  return operations;
}

/** Waits until the record equals the processor's account of these orders; returns what differs in the end. */
async function differences({ db, processor }: Services, order_ids: ReadonlySet<string>): Promise<OpenItem[]> {
  const give_up = Date.now() + AGREED_WITHIN_MS.most;
  let last = { found: '', since: 0 };
  for (;;) {
    const now = Date.now();
    // Settlements are fetched later; the audit compares them.
    const comparison = { until: now, approved_before: now, fetched_up_to: 0, waits_since: 0 };
    const found = await findDifferences({ db, processor }, [...order_ids], comparison);
    const has_agreed = found.differences.length === 0 && found.in_flight === 0;
    const current = JSON.stringify([found.differences, found.in_flight]);
    if (current !== last.found) last = { found: current, since: now };
    if (has_agreed || now > give_up || now - last.since > AGREED_WITHIN_MS.unchanged) {
      return found.differences.map(({ order_id, object_id, description, currency, ...amounts }) => ({
        object: `order:${order_id ?? object_id}`,
        reason: `${description} The record has ${minorUnitsInWords(amounts.record_amount, currency)}, the processor ${minorUnitsInWords(amounts.processor_amount, currency)}.`,
      }));
    }
    await sleep(1_000);
  }
}
