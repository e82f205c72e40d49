import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  FOLLOW_UP_WORKFLOW,
  type ORDER_WORKFLOW,
  PAYMENT_LINK_WORKFLOW,
  cancelOrderUpdate,
  createOrderUpdate,
  createPaymentLinkUpdate,
  endPaymentLinkUpdate,
  firstAnswerUpdate,
  orderWorkflowId,
  setOutcomeUpdate,
  submitPaymentUpdate,
  type CancelOrderInput,
  type CreateOrderInput,
  type CreatePaymentLinkInput,
  type FollowUpInput,
  type SetOutcomeInput,
  type SubmitPaymentInput,
} from '../../workflows/messages';
import { setChargeOutcome, setFollowUpOutcome } from '../../activities/manual-outcome';
import { writeAttempt, writeOrder } from '../../activities/order';
import { signalPayment } from '../../activities/order-signals';
import type { Database, SqlTransaction } from '../db/connection';
import { insertFollowUp, recordFollowUpOutcome } from '../db/orders/follow-ups';
import { moveAsPlanned, moveOrder } from '../db/orders/move-order';
import { findOrderSnapshot, loadOrderSnapshot } from '../db/orders/order-snapshot';
import { findStoredOrder } from '../db/orders/stored-order';
import { findStoredPaymentLink } from '../db/payment-links';
import { endPeriod } from '../db/backups/restores';
import { acceptRequest, type AcceptedRequest } from '../domain/accepted-request';
import { followUpIdempotencyKey } from '../domain/follow-up';
import type { StatusChange } from '../domain/move';
import { isAttemptOpen, type Ending } from '../domain/order';
import {
  lastTransaction,
  outcomeAwaitedFrom,
  transactionOf,
  type OrderSnapshot,
  type TransactionSnapshot,
} from '../domain/order-snapshot';
import { chargeIdempotencyKey, type EventSource } from '../domain/transaction';
import {
  OPEN_ATTEMPT_STATUSES,
  ORDER_MOVES,
  PAYMENT_LINK_MOVES,
  UNPAID_ATTEMPT_STATUSES,
  isFinal,
} from '../domain/transitions';
import { processorOrderId, reversalOrderId, transactionId } from '../ids';
import type { Processor } from '../processor/client';
import type { ReportedOperation } from '../processor/wire';
import { unlessClosed } from '../temporal/call';
import { timeOf } from '../object-time';
import type { TemporalClient } from '../temporal/connect';
import { sentInputs, type SeenWorkflow, type SentInputs, type SentUpdate } from '../temporal/sent-inputs';
import type { WorkflowClients } from '../temporal/workflows';

/** What the record lacks after a restore, and how it is written again (rules 28.3). */

export interface RestorerServices {
  db: Database;
  client: TemporalClient;
  processor: Pick<Processor, 'findOperation'>;
  workflows: Pick<WorkflowClients, 'orders' | 'follow_ups' | 'payment_links' | 'processor_notifications'>;
}

/** A request of the reconciliation is answered within this time. Milliseconds. */
const DEADLINE_MS = 20_000;
/** Pause before a follow-up order is looked for again. Milliseconds. */
const TRY_AGAIN_MS = 500;

type Type = typeof PAYMENT_LINK_WORKFLOW | typeof ORDER_WORKFLOW | typeof FOLLOW_UP_WORKFLOW;

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

/** An attempt that was approved after its end. `ended`: how its order ended with it; absent: it did not. */
interface LateAttempt {
  transaction_id: string;
  ended: Ending | undefined;
  source: EventSource;
}

/** How an attempt of the record had ended. `is_last`: no later attempt is known. */
type KnownEnd = LateAttempt & { is_last: boolean };
type EndOf = (attempt: TransactionSnapshot) => KnownEnd | undefined;

/** Finds out what the record lacks, from the histories of workflows, and writes it again. */
export class Restorer {
  /** By their keys. */
  private readonly operations: ReadonlyMap<string, ReportedOperation>;
  /** Transactions that were approved after their end, and reversed: nothing else is (rules 10.11). */
  private readonly given_back: ReadonlySet<string>;

  /** `operations`: all that the processor has carried out since. `ends`: takes the ends of payment links. */
  constructor(
    private readonly services: RestorerServices,
    operations: readonly ReportedOperation[],
    private readonly ends: Missing[],
  ) {
    this.operations = new Map(operations.map((operation) => [operation.idempotency_key, operation]));
    const reversals = operations.filter(({ operation, result }) => operation === 'reversal' && result === 'approved');
    this.given_back = new Set(reversals.map(({ transaction_id }) => transaction_id));
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
      const write = () => this.paymentLink(id, workflow, sent);
      return { object, in_turn_with: id, is_needed_by_later: true, write };
    }
    const stored = await findStoredOrder(db, id);
    if (stored !== undefined && isFinal(ORDER_MOVES, stored.status)) return undefined;
    const sent = await sentInputs(client, object);
    if (type === FOLLOW_UP_WORKFLOW) {
      const input = sent.start as FollowUpInput;
      const write = () => this.followUp(id, workflow, { ...sent, start: input });
      // One that failed moved no money of the payment, nor does one that is left for a person.
      const is_left = isUnanswered(input, sent) && !this.operations.has(keyOf(id, input));
      const is_needed_by_later = sent.result !== 'error' && !is_left;
      return { object, in_turn_with: input.original_order_id, is_needed_by_later, write };
    }
    const creation = inputIn<CreateOrderInput>(sent.updates, createOrderUpdate.name);
    const write = () => this.order(id, workflow, sent);
    // Attempts of a link: one that had failed and is left for a person was no obstacle for the next payer.
    return { object, in_turn_with: creation?.payment_link?.id ?? id, is_needed_by_later: false, write };
  }

  private async paymentLink(id: string, workflow: SeenWorkflow, { updates, result }: SentInputs): Promise<boolean> {
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
    if (end !== undefined || result === 'expired') {
      const write = async () => {
        if (end !== undefined) await workflows.payment_links.end(id, again(end.request));
        else await this.expirePaymentLink(id);
        return link !== undefined;
      };
      this.ends.push({ object: workflow.workflow_id, in_turn_with: id, is_needed_by_later: true, write });
    }
    return link === undefined;
  }

  private async order(id: string, workflow: SeenWorkflow, inputs: SentInputs): Promise<boolean> {
    const { db, workflows } = this.services;
    const { creation, cancellation, submitted, by_token, by_hand, result, lateAttempt, endOf } = this.sentTo(
      id,
      inputs,
    );
    const stored = await findStoredOrder(db, id);
    const late = lateAttempt(by_token);
    const load = (trx: Database) => loadOrderSnapshot(trx, id);
    let is_changed = stored === undefined || late !== undefined;
    if (stored !== undefined) {
      const last = stored.transactions.at(-1)?.id;
      const is_set = await this.setByHand(id, by_hand.get(last), endOf);
      // A late attempt is ended below: its workflow would find it paid.
      if (lateAttempt(last) === undefined) {
        const end = await this.endUncharged(id, endOf);
        await this.resumeOrder(stored);
        if (end?.is_last === true && end.ended !== 'cancelled') {
          throw new Error(
            `It had ended as ${end.ended ?? 'error'} without a charge. It is ended again, and nothing was sent.`,
          );
        }
        is_changed ||= end !== undefined;
      }
      is_changed ||= is_set;
      if (late !== undefined) await this.endLate(late, load);
    } else {
      if (creation === undefined) return false;
      const outcome = by_hand.get(by_token);
      const is_over = result === 'error' || result === 'expired';
      if (is_over && by_token !== undefined && outcome === undefined && !(await this.isCharged(by_token))) {
        throw new Error(`It had ended as ${result} without a charge, which would be made now.`);
      }
      await this.endRun(workflow);
      const payment_link = await this.currentLink(creation.payment_link);
      const input = { ...creation, ...(payment_link && { payment_link }), request: again(creation.request) };
      const write = (trx: Database) => writeOrder({ db: trx }, { ...input, now: Date.now() });
      if (outcome !== undefined) {
        const order = await write(db);
        await this.setByHand(id, outcome, endOf);
        await this.resumeOrder(order);
      }
      if (late !== undefined) await this.endLate(late, outcome === undefined ? write : load);
      else if (outcome === undefined) await workflows.orders.create(input);
    }
    for (const input of submitted) {
      const { id: attempt } = input.transaction;
      const is_paid = await this.pay(id, input, { late: lateAttempt(attempt), outcome: by_hand.get(attempt), endOf });
      is_changed ||= is_paid;
    }
    const order = await loadOrderSnapshot(db, id);
    if (isFinal(ORDER_MOVES, order.status)) return is_changed;
    if (cancellation !== undefined) {
      const { source, request } = cancellation;
      await workflows.orders.cancel(id, { source, request: again(request) });
      return true;
    }
    if (result !== 'expired') return is_changed;
    await this.expireOrder(order);
    return true;
  }

  /**
   * What was sent to an order and is to be written again. `by_hand`: outcomes that an operator set, by their
   * transactions. `result`: how it ended. `lateAttempt`: whether an attempt was approved after its end, or given back
   * (rules 10.11): sent again, or polled by its workflow, it would count as paid. `endOf`: how an attempt of the record
   * had ended, if its order, or a later attempt, says that it had.
   */
  private sentTo(id: string, { updates, result }: SentInputs) {
    const sent = updates.filter((update) => update.result === 'done' || this.wasCharged(id, update, updates));
    const creation = inputIn<CreateOrderInput>(sent, createOrderUpdate.name);
    const cancellation = doneIn<CancelOrderInput>(updates, cancelOrderUpdate.name);
    const submitted = sent
      .filter(({ name }) => name === submitPaymentUpdate.name)
      .map(({ input }) => input as SubmitPaymentInput);
    const by_token = creation?.order.charged_by === 'token' ? transactionId(id, 1) : undefined;
    const by_hand = new Map(
      allDoneIn<SetOutcomeInput>(updates, setOutcomeUpdate.name).map((one): [string | undefined, SetOutcomeInput] => [
        one.transaction_id,
        one,
      ]),
    );
    const attempts = [by_token, ...submitted.map(({ transaction }) => transaction.id)];
    const source = cancellation?.source ?? 'service';
    const ended = result === 'cancelled' || result === 'expired' ? result : undefined;
    const lateAttempt = (transaction_id: string | undefined): LateAttempt | undefined => {
      if (transaction_id === undefined || !attempts.includes(transaction_id)) return undefined;
      const is_last = attempts.at(-1) === transaction_id;
      const had_ended = !is_last || ended !== undefined || result === 'error';
      const charge = this.operations.get(chargeIdempotencyKey(transaction_id));
      const is_late = this.given_back.has(transaction_id) || (had_ended && charge?.result === 'approved');
      if (!is_late) return undefined;
      return { transaction_id, ended: is_last ? ended : undefined, source };
    };
    const endOf: EndOf = ({ id: transaction_id, attempt }) => {
      const is_last = !submitted.some(({ transaction }) => transaction.attempt > attempt);
      if (is_last && ended === undefined && result !== 'error') return undefined;
      return { transaction_id, ended: is_last ? ended : undefined, source, is_last };
    };
    return { creation, cancellation, submitted, by_token, by_hand, result, lateAttempt, endOf };
  }

  /**
   * Sets an outcome that an operator had set since the backup, unless it is known. It comes before the workflow reads
   * the record: an operation that the processor does not know would be sent again. Returns whether it was set.
   */
  private async setByHand(
    order_id: string,
    manual_outcome: SetOutcomeInput | undefined,
    endOf: EndOf,
  ): Promise<boolean> {
    if (manual_outcome === undefined) return false;
    const { db } = this.services;
    const { transaction_id } = manual_outcome;
    const order = await loadOrderSnapshot(db, order_id);
    const last = lastTransaction(order);
    if (last?.id !== transaction_id || !isAttemptOpen(last.status)) return false;
    const now = timeOf(order);
    // A decline after the time for paying ends the order as expired.
    if (endOf(last)?.ended === 'expired') await endPeriod(db, 'orders', order_id, new Date(now));
    // It was processing when the outcome was set.
    if (outcomeAwaitedFrom(order) !== 'processor') {
      await moveOrder(db, order, { transaction_id, to: 'processing' }, { source: 'service', now });
    }
    await setChargeOutcome(this.services, { order_id, manual_outcome, now });
    return true;
  }

  /**
   * Ends the last attempt of the record as it had ended, if the processor does not know its charge, or does not say: its
   * workflow would send it now. An approval that comes all the same is given back (rules 10.11). Returns how it had
   * ended; `undefined` without such an attempt.
   */
  private async endUncharged(order_id: string, endOf: EndOf): Promise<KnownEnd | undefined> {
    const { db } = this.services;
    const order = await loadOrderSnapshot(db, order_id);
    const last = lastTransaction(order);
    const end = last && outcomeAwaitedFrom(order) !== undefined ? endOf(last) : undefined;
    if (end === undefined || (await this.processorKnows(chargeIdempotencyKey(end.transaction_id)))) return undefined;
    await endAttempt(db, order, end);
    return end;
  }

  private async pay(
    order_id: string,
    input: SubmitPaymentInput,
    { late, outcome, endOf }: { late: LateAttempt | undefined; outcome: SetOutcomeInput | undefined; endOf: EndOf },
  ): Promise<boolean> {
    const { db, workflows } = this.services;
    const { id } = input.transaction;
    const sent = { ...input, request: again(input.request) };
    const isNew = (order: OrderSnapshot) => (transactionOf(order, id)?.status ?? 'new') === 'new';
    const write = async (trx: Database) => {
      const order = await loadOrderSnapshot(trx, order_id);
      return isNew(order) ? await writeAttempt({ db: trx }, { ...sent, order, now: timeOf(order) }) : order;
    };
    if (outcome !== undefined && isNew(await loadOrderSnapshot(db, order_id))) {
      await this.untilOutcomeBefore(order_id, id);
      await this.setByHand((await write(db)).id, outcome, endOf);
      await this.resumeOrder({ id: order_id, project_id: input.project_id });
      if (late === undefined) return true;
    }
    if (late !== undefined) return await this.endLate(late, write);
    if (!isNew(await loadOrderSnapshot(db, order_id))) return false;
    // It had failed; made now, it might charge a customer who has paid elsewhere.
    if (!(await this.isCharged(id))) return false;
    await workflows.orders.pay(order_id, sent);
    return true;
  }

  /**
   * Records a late attempt as it had ended, in one SQL transaction. The workflow of its reversal then finds the
   * approval, and gives it back by the key that it had.
   */
  private async endLate(late: LateAttempt, write: (trx: SqlTransaction) => Promise<OrderSnapshot>): Promise<boolean> {
    const { db, workflows } = this.services;
    const { transaction_id } = late;
    const { order, is_ended } = await db.transaction(async (trx) => {
      const written = await write(trx);
      const ended = await endAttempt(trx, written, late);
      return { order: ended, is_ended: ended.version !== written.version };
    });
    await this.resumeOrder(order);
    const reverse = () => workflows.follow_ups.startReversal({ transaction_id });
    await reverse();
    await this.untilStored(reversalOrderId(transaction_id), 'reversal', reverse);
    return is_ended;
  }

  /** Ends the period of an order that had expired: its merchant was told so. */
  private async expireOrder(order: OrderSnapshot): Promise<void> {
    const { db } = this.services;
    await endPeriod(db, 'orders', order.id, new Date());
    await this.resumeOrder(order);
    await this.until('It does not expire.', async () =>
      isFinal(ORDER_MOVES, (await loadOrderSnapshot(db, order.id)).status),
    );
  }

  private async expirePaymentLink(id: string): Promise<void> {
    const { db, workflows } = this.services;
    const link = (await findStoredPaymentLink(db, id))!;
    if (isFinal(PAYMENT_LINK_MOVES, link.status)) return;
    await endPeriod(db, 'payment_links', id, new Date());
    await workflows.payment_links.resume(link, Date.now() + DEADLINE_MS);
    await this.until('It does not expire.', async () =>
      isFinal(PAYMENT_LINK_MOVES, (await findStoredPaymentLink(db, id))!.status),
    );
  }

  private async resumeOrder({ id, project_id }: { id: string; project_id: string }): Promise<void> {
    await this.services.workflows.orders.resume({ order_id: id, project_id }, Date.now() + DEADLINE_MS);
  }

  /** A link ends later than before the restore, and its sandbox clock may be another one. */
  private async currentLink(link: CreateOrderInput['payment_link']): Promise<CreateOrderInput['payment_link']> {
    const stored = link && (await findStoredPaymentLink(this.services.db, link.id));
    if (stored === undefined) return link;
    const { id, expires_at, clock_offset_ms } = stored;
    return { id, expires_at: Date.parse(expires_at), clock_offset_ms };
  }

  /**
   * Its amount is set aside and its operation sent again; the processor knows it by its key. One whose outcome was set
   * by hand, or that had failed without the processor, is not sent again.
   */
  private async followUp(
    id: string,
    workflow: SeenWorkflow,
    { start: input, is_refused, updates, result }: SentInputs & { start: FollowUpInput },
  ): Promise<boolean> {
    const { db, workflows } = this.services;
    const stored = await findStoredOrder(db, id);
    const key = keyOf(id, input);
    if (stored === undefined) {
      // Without an answer it is there only if the processor has carried it out, as after any lost answer.
      if (isUnanswered(input, { updates, result }) ? !(await this.isKnown(key)) : is_refused) {
        // It was never written, or there was nothing to record.
        if (is_refused) return false;
        await this.endRun(workflow);
        throw new Error('It has no answer, and the processor does not know it: sent now, it would be carried out.');
      }
    }
    // All that was left then may be more than is left now.
    const amount = input.amount ?? this.operations.get(key)?.amount;
    const sent = () => {
      const request = input.request && again(input.request);
      return { ...input, ...(request && { request }), ...(amount !== undefined && { amount }) };
    };
    const resume = () => workflows.follow_ups.resume(sent(), Date.now() + DEADLINE_MS);
    const outcome = doneIn<SetOutcomeInput>(updates, setOutcomeUpdate.name);
    const is_over = outcome !== undefined || result === 'error';
    if (stored === undefined) {
      const is_written = outcome !== undefined && amount !== undefined;
      if (is_over && !is_written && !(await this.isKnown(key))) {
        throw new Error('It had ended without the processor, which would carry it out now.');
      }
      await this.endRun(workflow);
      if (is_written) {
        const now = timeOf(await loadOrderSnapshot(db, input.original_order_id));
        await insertFollowUp(db, { ...sent(), transaction_id: transactionId(id, 1), now });
      }
    }
    const is_ended = is_over && (await this.endFollowUp(id, input, outcome));
    await resume();
    if (is_ended && outcome === undefined) {
      throw new Error('It had ended as error without the processor. It is ended again, and nothing was sent.');
    }
    if (is_ended) return true;
    // A possible reversal has no record until there is something to reverse.
    if (stored !== undefined || (input.kind === 'reversal' && input.requested_by === 'service')) return false;
    await this.untilStored(id, input.kind, resume);
    return true;
  }

  /**
   * Ends a follow-up order of the record before its workflow could send it again: with the outcome that an operator had
   * set, or as failed, if the processor does not know it, or does not say. Returns whether it was ended.
   */
  private async endFollowUp(id: string, input: FollowUpInput, outcome: SetOutcomeInput | undefined): Promise<boolean> {
    const { db } = this.services;
    const order = await findOrderSnapshot(db, id);
    if (order === undefined || isFinal(ORDER_MOVES, order.status)) return false;
    const now = timeOf(order);
    if (outcome !== undefined) {
      await setFollowUpOutcome(this.services, { ...input, manual_outcome: outcome, now });
      return true;
    }
    if (await this.processorKnows(keyOf(id, input))) return false;
    await recordFollowUpOutcome(db, order, { ...input, amount: order.amount }, 'error', { source: 'service', now });
    await signalPayment(this.services, input);
    return true;
  }

  /** Whether the processor says that it knows an operation. */
  private async processorKnows(idempotency_key: string): Promise<boolean> {
    const operation = await this.services.processor.findOperation(idempotency_key, {});
    return operation !== 'not_found' && operation !== 'unknown';
  }

  /**
   * Records an operation that the processor has initiated: a notification that came while the record lacked the payment
   * was ignored.
   */
  initiated(operation: ReportedOperation): Missing {
    const { db, workflows } = this.services;
    const { operation: kind, order_id, transaction_id, idempotency_key } = operation;
    const write = async () => {
      const id = processorOrderId(transaction_id, idempotency_key);
      if ((await findStoredOrder(db, order_id)) === undefined) return false;
      if ((await findStoredOrder(db, id)) !== undefined) return false;
      const notify = () => workflows.processor_notifications.handle(operation, Date.now() + DEADLINE_MS);
      await notify();
      await this.untilStored(id, kind, notify);
      return true;
    };
    return { object: orderWorkflowId(order_id), in_turn_with: order_id, is_needed_by_later: true, write };
  }

  /** Waits for a follow-up order, which is refused while the outcome of its payment is not known again. */
  private async untilStored(id: string, kind: string, resume: () => Promise<unknown>): Promise<void> {
    const isStored = async () => (await findStoredOrder(this.services.db, id)) !== undefined;
    await this.until(`The ${kind} is refused.`, isStored, resume);
  }

  /** Waits for the outcome of the attempts before this one, which the order's workflow polls. */
  private async untilOutcomeBefore(order_id: string, transaction_id: string): Promise<void> {
    await this.until('An attempt before it has no outcome.', async () => {
      const last = lastTransaction(await loadOrderSnapshot(this.services.db, order_id));
      return last === undefined || last.id === transaction_id || !isAttemptOpen(last.status);
    });
  }

  private async until(
    problem: string,
    isDone: () => Promise<boolean>,
    resume: () => Promise<unknown> = async () => {},
  ): Promise<void> {
    const give_up = Date.now() + DEADLINE_MS;
    for (let tries = 1; !(await isDone()); tries += 1) {
      if (Date.now() > give_up) throw new Error(problem);
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

  /** Whether the processor knows the charge of an attempt. Throws when it does not say. */
  private async isCharged(transaction_id: string): Promise<boolean> {
    return await this.isKnown(chargeIdempotencyKey(transaction_id));
  }

  /** Whether the processor knows an operation. Throws when it does not say. */
  private async isKnown(key: string): Promise<boolean> {
    const found = await this.services.processor.findOperation(key, {});
    if (found === 'unknown') throw new Error('The processor does not say whether it has carried it out.');
    return found !== 'not_found';
  }

  /**
   * The processor has carried out the charge of an update that was not answered, or that was refused when the record
   * had been lost meanwhile. Of several for one attempt, refused ones are repeats.
   */
  private wasCharged(order_id: string, update: SentUpdate, updates: readonly SentUpdate[]): boolean {
    const transaction_id = chargedBy(order_id, update);
    if (transaction_id === undefined || !this.operations.has(chargeIdempotencyKey(transaction_id))) return false;
    if (update.result === 'unanswered') return true;
    const of_attempt = updates.filter(
      (other) => other.name === update.name && chargedBy(order_id, other) === transaction_id,
    );
    return (of_attempt.find(({ result }) => result !== 'refused') ?? of_attempt[0]) === update;
  }
}

/** The key under which the processor knows a follow-up order. */
const keyOf = (id: string, { original_transaction_id, kind }: FollowUpInput) =>
  followUpIdempotencyKey(original_transaction_id, kind, id);

/** Whether nobody has got an answer about a merchant's follow-up order, as far as Temporal knows. */
const isUnanswered = ({ requested_by }: FollowUpInput, { updates, result }: Pick<SentInputs, 'updates' | 'result'>) =>
  requested_by === 'merchant' &&
  (result === undefined || result === 'refused') &&
  !updates.some((update) => update.result === 'done' && ANSWERS.includes(update.name));
const ANSWERS = [firstAnswerUpdate.name, setOutcomeUpdate.name];

/** The transaction that an update may charge. */
function chargedBy(order_id: string, { name, input }: SentUpdate): string | undefined {
  if (name === submitPaymentUpdate.name) return (input as SubmitPaymentInput).transaction.id;
  return name === createOrderUpdate.name ? transactionId(order_id, 1) : undefined;
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

/** How the end of an attempt changes its order; `undefined`: it has ended. */
function changeToEnd(
  order: OrderSnapshot,
  transaction_id: string,
  ended: Ending | undefined,
): StatusChange | undefined {
  const status = transactionOf(order, transaction_id)?.status;
  if (status === undefined || !OPEN_ATTEMPT_STATUSES.includes(status)) return undefined;
  // One that was given up has no other end; its order ends with it.
  const is_unknown = !UNPAID_ATTEMPT_STATUSES.includes(status);
  if (ended !== undefined && !is_unknown) return { ended };
  return { transaction_id, to: 'error', ...(ended !== undefined && { ended }) };
}

/** Ends an attempt as it had ended, unless its outcome is known. Returns the order afterwards. */
async function endAttempt(
  db: Database,
  order: OrderSnapshot,
  { transaction_id, ended, source }: LateAttempt,
): Promise<OrderSnapshot> {
  return await moveAsPlanned(db, order, (current) => {
    const change = changeToEnd(current, transaction_id, ended);
    return change && { change, details: { source, now: timeOf(current) } };
  });
}

const inputIn = <Input>(updates: readonly SentUpdate[], name: string) =>
  updates.find((update) => update.name === name)?.input as Input | undefined;

const allDoneIn = <Input>(updates: readonly SentUpdate[], name: string) =>
  updates.filter((update) => update.result === 'done' && update.name === name).map(({ input }) => input as Input);

const doneIn = <Input>(updates: readonly SentUpdate[], name: string) => allDoneIn<Input>(updates, name)[0];
