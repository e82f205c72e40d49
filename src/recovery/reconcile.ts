import { findDifferences } from '../../activities/audit-comparison';
import {
  ERASURE_WORKFLOW,
  FOLLOW_UP_WORKFLOW,
  ORDER_WORKFLOW,
  PAYMENT_LINK_WORKFLOW,
  cancelOrderUpdate,
  createOrderUpdate,
  createPaymentLinkUpdate,
  endPaymentLinkUpdate,
  orderWorkflowId,
  submitPaymentUpdate,
  type CreateOrderInput,
  type ErasureInput,
  type CreatePaymentLinkInput,
  type FollowUpInput,
  type SubmitPaymentInput,
} from '../../workflows/messages';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../db/connection';
import { findStoredOrder } from '../db/orders/stored-order';
import { findStoredPaymentLink } from '../db/payment-links';
import type { OpenItem } from '../db/restores';
import { followUpIdempotencyKey, isProcessorInitiated } from '../domain/follow-up';
import { acceptRequest, type AcceptedRequest } from '../domain/accepted-request';
import { ORDER_MOVES, PAYMENT_LINK_MOVES, isFinal } from '../domain/transitions';
import { minorUnitsInWords } from '../domain/waits';
import { chargeIdempotencyKey } from '../domain/transaction';
import { processorOrderId, transactionId } from '../ids';
import type { Processor } from '../processor/client';
import { REPORT_LIMIT, type ReportedOperation } from '../processor/wire';
import { unlessClosed } from '../temporal/call';
import type { TemporalClient } from '../temporal/connect';
import {
  sentInputs,
  workflowsSince,
  type SeenWorkflow,
  type SentInputs,
  type SentUpdate,
} from '../temporal/sent-inputs';
import type { WorkflowClients } from '../temporal/workflows';
import { CHECKS_AT_ONCE } from './row-checks';

interface Services {
  db: Database;
  client: TemporalClient;
  workflows: Pick<WorkflowClients, 'orders' | 'follow_ups' | 'payment_links' | 'erasures' | 'processor_notifications'>;
  processor: Pick<Processor, 'operations' | 'totals'>;
}

/** What a reconciliation has done. */
export interface Reconciliation {
  /** Workflows that were compared with the record. */
  compared: number;
  /** Objects that were missing, or behind, and were written again. */
  rewritten: number;
  open_items: OpenItem[];
}

/** A request of the reconciliation is answered within this time. Milliseconds. */
const DEADLINE_MS = 20_000;
/** How long the processor and the record may take to agree, in all and without any progress. Milliseconds. */
const SETTLE_MS = { most: 120_000, unchanged: 15_000 };

/** Pause before a follow-up order is looked for again. Milliseconds. */
const TRY_AGAIN_MS = 500;

/** Links come before the orders that pay them, orders before what follows them. */
const TYPES = [PAYMENT_LINK_WORKFLOW, ORDER_WORKFLOW, FOLLOW_UP_WORKFLOW] as const;
type Type = (typeof TYPES)[number];

/**
 * Compares a restored record with what Temporal and the processor know since an instant (epoch milliseconds), and writes
 * again what is missing: the inputs in the histories of the workflows are sent once more. Ids and the keys of the
 * processor derive from the objects, so that nothing is done twice: the processor answers a repeated charge with the
 * first one's outcome. What cannot be written again is left for a person. Safe to repeat (rules 28.3).
 */
export async function reconcile(services: Services, since: number): Promise<Reconciliation> {
  const seen = await workflowsSince(services.client, TYPES, since);
  const found: Reconciliation = { compared: seen.length, rewritten: 0, open_items: [] };
  const attempt = async <T>(object: string, work: () => Promise<T>): Promise<T | undefined> =>
    await work().catch((error: Error) => {
      found.open_items.push({ object, reason: error.message });
      return undefined;
    });
  /** What shares a limit is written in its order, up to the first that cannot be. */
  const writeAll = async (missing: readonly Missing[]) => {
    const groups = new Map<string, Missing[]>();
    for (const one of missing) groups.set(one.in_turn_with, [...(groups.get(one.in_turn_with) ?? []), one]);
    await severalAtOnce([...groups.values()], async (group) => {
      for (const { object, write } of group) {
        const is_changed = await attempt(object, write);
        if (is_changed === undefined) return;
        if (is_changed) found.rewritten += 1;
      }
    });
  };
  const ends: Missing[] = [];
  for (const type of TYPES) {
    // The processor may go on with what was under way: its operations are asked for again.
    const restorer = new Restorer(services, await operationsSince(services.processor, since), ends);
    const of_type = seen.filter((one) => one.type === type);
    const read = await severalAtOnce(of_type, (workflow) =>
      attempt(workflow.workflow_id, () => restorer.read(type, workflow)),
    );
    await writeAll(read.filter((one) => one !== undefined));
  }
  // A link that has ended takes no attempt.
  await writeAll(ends);
  const operations = await operationsSince(services.processor, since);
  const restorer = new Restorer(services, operations, ends);
  await writeAll(operations.map((operation) => restorer.initiated(operation)));
  found.open_items.push(...(await eraseAgain(services, since)));
  found.open_items.push(...(await differences(services, new Set(operations.map(({ order_id }) => order_id)))));
  return found;
}

/** An object that the record lacks, or has in an older state. */
interface Missing {
  /** The id of its workflow. */
  object: string;
  /** Objects with the same value share a limit: attempts of a link, follow-up orders of a payment. */
  in_turn_with: string;
  /** Sends again what was sent to it. Returns whether the record was changed. */
  write: () => Promise<boolean>;
}

/** Finds out what the record lacks, from the histories of workflows, and writes it again. */
class Restorer {
  /** By their keys. */
  private readonly operations: ReadonlyMap<string, ReportedOperation>;

  /** `operations`: all that the processor has carried out since. `ends`: takes the ends of payment links. */
  constructor(
    private readonly services: Services,
    operations: readonly ReportedOperation[],
    private readonly ends: Missing[],
  ) {
    this.operations = new Map(operations.map((operation) => [operation.idempotency_key, operation]));
  }

  /** `undefined`: the record has it in its final state. */
  async read(type: Type, workflow: SeenWorkflow): Promise<Missing | undefined> {
    const object = workflow.workflow_id;
    const id = object.slice(object.indexOf(':') + 1);
    const { db, client } = this.services;
    if (type === PAYMENT_LINK_WORKFLOW) {
      const link = await findStoredPaymentLink(db, id);
      if (link !== undefined && isFinal(PAYMENT_LINK_MOVES, link.status)) return undefined;
      const sent = await sentInputs(client, object);
      return { object, in_turn_with: id, write: () => this.paymentLink(id, workflow, sent) };
    }
    const stored = await findStoredOrder(db, id);
    if (stored !== undefined && isFinal(ORDER_MOVES, stored.status)) return undefined;
    const sent = await sentInputs(client, object);
    if (type === FOLLOW_UP_WORKFLOW) {
      const input = sent.start as FollowUpInput;
      const write = () => this.followUp(id, workflow, { ...sent, start: input });
      return { object, in_turn_with: input.original_order_id, write };
    }
    const creation = inputIn<CreateOrderInput>(sent.updates, createOrderUpdate.name);
    const write = () => this.order(id, workflow, sent);
    return { object, in_turn_with: creation?.payment_link?.id ?? id, write };
  }

  private async paymentLink(id: string, workflow: SeenWorkflow, { updates }: SentInputs): Promise<boolean> {
    const { db, workflows } = this.services;
    const link = await findStoredPaymentLink(db, id);
    if (link !== undefined) await workflows.payment_links.resume(link, Date.now() + DEADLINE_MS);
    const creation = doneIn<CreatePaymentLinkInput>(updates, createPaymentLinkUpdate.name);
    const end = doneIn<{ request: AcceptedRequest }>(updates, endPaymentLinkUpdate.name);
    if (link === undefined) {
      if (creation === undefined) return false;
      await this.endRun(workflow);
      await workflows.payment_links.create({ ...creation, request: again(creation.request) });
    }
    if (end !== undefined) {
      const write = async () => {
        await workflows.payment_links.end(id, again(end.request));
        return link !== undefined;
      };
      this.ends.push({ object: workflow.workflow_id, in_turn_with: id, write });
    }
    return link === undefined;
  }

  private async order(id: string, workflow: SeenWorkflow, { updates }: SentInputs): Promise<boolean> {
    const { db, workflows } = this.services;
    const stored = await findStoredOrder(db, id);
    if (stored !== undefined) {
      await workflows.orders.resume({ order_id: id, project_id: stored.project_id }, Date.now() + DEADLINE_MS);
    }
    const sent = updates.filter((update) => update.result === 'done' || this.wasCharged(id, update));
    const creation = inputIn<CreateOrderInput>(sent, createOrderUpdate.name);
    if (stored === undefined) {
      if (creation === undefined) return false;
      await this.endRun(workflow);
      await workflows.orders.create({ ...creation, request: again(creation.request) });
    }
    let is_changed = stored === undefined;
    for (const { input } of sent.filter(({ name }) => name === submitPaymentUpdate.name)) {
      is_changed = (await this.pay(id, input as SubmitPaymentInput)) || is_changed;
    }
    const cancellation = doneIn<{ source: 'customer' | 'merchant'; request: AcceptedRequest }>(
      updates,
      cancelOrderUpdate.name,
    );
    if (cancellation === undefined) return is_changed;
    const { source, request } = cancellation;
    await workflows.orders.cancel(id, { source, request: again(request) });
    return true;
  }

  private async pay(order_id: string, input: SubmitPaymentInput): Promise<boolean> {
    const { db, workflows } = this.services;
    const order = await findStoredOrder(db, order_id);
    const attempt = order?.transactions.find(({ id }) => id === input.transaction.id);
    if (attempt !== undefined && attempt.status !== 'new') return false;
    await workflows.orders.pay(order_id, { ...input, request: again(input.request) });
    return true;
  }

  /** Its amount is set aside and its operation sent again; the processor knows it by its key. */
  private async followUp(
    id: string,
    workflow: SeenWorkflow,
    { start: input, is_refused }: SentInputs & { start: FollowUpInput },
  ): Promise<boolean> {
    const { db, workflows } = this.services;
    const stored = await findStoredOrder(db, id);
    if (stored === undefined) {
      // It was never written, or there was nothing to record.
      if (is_refused) return false;
      await this.endRun(workflow);
    }
    // All that was left then may be more than is left now.
    const key = followUpIdempotencyKey(input.original_transaction_id, input.kind, id);
    const amount = input.amount ?? this.operations.get(key)?.amount;
    const resume = async () => {
      const request = input.request && again(input.request);
      const sent = { ...input, ...(request && { request }), ...(amount !== undefined && { amount }) };
      await workflows.follow_ups.resume(sent, Date.now() + DEADLINE_MS);
    };
    await resume();
    // A possible reversal has no record until there is something to reverse.
    if (stored !== undefined || (input.kind === 'reversal' && input.requested_by === 'service')) return false;
    await this.untilStored(id, input.kind, resume);
    return true;
  }

  /**
   * Records what the processor has initiated: a notification that came while the record lacked the payment was ignored.
   */
  initiated(operation: ReportedOperation): Missing {
    const { db, workflows } = this.services;
    const { operation: kind, result, order_id, transaction_id, idempotency_key } = operation;
    const write = async () => {
      if (!isProcessorInitiated(kind) || result !== 'approved') return false;
      const id = processorOrderId(transaction_id, idempotency_key);
      if ((await findStoredOrder(db, order_id)) === undefined) return false;
      if ((await findStoredOrder(db, id)) !== undefined) return false;
      const notify = () => workflows.processor_notifications.handle(operation, Date.now() + DEADLINE_MS);
      await notify();
      await this.untilStored(id, kind, notify);
      return true;
    };
    return { object: orderWorkflowId(order_id), in_turn_with: order_id, write };
  }

  /** Waits for a follow-up order, which is refused while the outcome of its payment is not known again. */
  private async untilStored(id: string, kind: string, resume: () => Promise<unknown>): Promise<void> {
    const give_up = Date.now() + DEADLINE_MS;
    for (let tries = 1; (await findStoredOrder(this.services.db, id)) === undefined; tries += 1) {
      if (Date.now() > give_up) throw new Error(`The ${kind} is refused.`);
      await sleep(TRY_AGAIN_MS);
      if (tries % 4 === 0) await resume();
    }
  }

  /** A running workflow whose record is missing holds a copy of it; a new run begins without. */
  private async endRun({ workflow_id, open_run_id }: SeenWorkflow): Promise<void> {
    if (open_run_id === undefined) return;
    const handle = this.services.client.workflow.getHandle(workflow_id, open_run_id);
    // It may have ended itself, as its record is missing (rules 10.19).
    await unlessClosed(() => handle.terminate('its record was lost, and is written again'));
  }

  /** The processor has carried out the charge of an update that was not answered. */
  private wasCharged(order_id: string, { name, input, result }: SentUpdate): boolean {
    if (result !== 'unanswered') return false;
    const transaction_id =
      name === submitPaymentUpdate.name
        ? (input as SubmitPaymentInput).transaction.id
        : name === createOrderUpdate.name
          ? transactionId(order_id, 1)
          : undefined;
    return transaction_id !== undefined && this.operations.has(chargeIdempotencyKey(transaction_id));
  }
}

/**
 * The same request, which may be carried out now. It has an id of its own and no Idempotency-Key: by its update id
 * Temporal would answer with the result of the lost one.
 */
function again({ first_received_at }: AcceptedRequest): AcceptedRequest {
  const received_at = Date.now();
  const request = acceptRequest({ request_id: randomUUID(), received_at, deadline_at: received_at + DEADLINE_MS });
  return { ...request, is_repeat: true, first_received_at };
}

const inputIn = <Input>(updates: readonly SentUpdate[], name: string) =>
  updates.find((update) => update.name === name)?.input as Input | undefined;

const doneIn = <Input>(updates: readonly SentUpdate[], name: string) =>
  inputIn<Input>(
    updates.filter(({ result }) => result === 'done'),
    name,
  );

/** Reads or writes these, in their order, several at a time. Returns the results in the same order. */
async function severalAtOnce<One, Result>(all: readonly One[], work: (one: One) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const lane = async () => {
    while (next < all.length) {
      const n = next++;
      results[n] = await work(all[n]!);
    }
  };
  await Promise.all(Array.from({ length: CHECKS_AT_ONCE }, lane));
  return results;
}

/** How long an erasure may take until a person has to look. Milliseconds. */
const ERASURE_MS = 60_000;

/** Carries out again the erasures since the backup, which the restored record does not know (rules 29.6). */
async function eraseAgain({ client, workflows }: Services, since: number): Promise<OpenItem[]> {
  const open: OpenItem[] = [];
  for (const { workflow_id: object } of await workflowsSince(client, [ERASURE_WORKFLOW], since)) {
    const { start } = await sentInputs(client, object);
    await workflows.erasures.start(start as ErasureInput);
    const handle = client.workflow.getHandle(object);
    await client
      .withDeadline(Date.now() + ERASURE_MS, () => handle.result())
      .catch((error: Error) => open.push({ object, reason: `It is not completed: ${error.message}` }));
  }
  return open;
}

async function operationsSince(processor: Services['processor'], since: number): Promise<ReportedOperation[]> {
  const operations: ReportedOperation[] = [];
  for (;;) {
    const after = operations.at(-1)?.number ?? 0;
    const page = await processor.operations({ since, until: Date.now() }, after);
    operations.push(...page);
    if (page.length < REPORT_LIMIT) return operations;
  }
}

/** Waits until the record equals the processor's account of these orders; returns what differs in the end. */
async function differences({ db, processor }: Services, order_ids: ReadonlySet<string>): Promise<OpenItem[]> {
  const give_up = Date.now() + SETTLE_MS.most;
  let last = { found: '', since: 0 };
  for (;;) {
    const now = Date.now();
    // Settlements are fetched later; the audit compares them.
    const comparison = { until: now, approved_before: now, fetched_up_to: 0, waits_since: 0 };
    const found = await findDifferences({ db, processor }, [...order_ids], comparison);
    const is_settled = found.differences.length === 0 && found.in_flight === 0;
    const current = JSON.stringify([found.differences, found.in_flight]);
    if (current !== last.found) last = { found: current, since: now };
    if (is_settled || now > give_up || now - last.since > SETTLE_MS.unchanged) {
      return found.differences.map(({ order_id, object_id, description, currency, ...amounts }) => ({
        object: `order:${order_id ?? object_id}`,
        reason: `${description} The record has ${minorUnitsInWords(amounts.record_amount, currency)}, the processor ${minorUnitsInWords(amounts.processor_amount, currency)}.`,
      }));
    }
    await sleep(1_000);
  }
}
