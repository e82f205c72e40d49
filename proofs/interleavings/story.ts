import fc from 'fast-check';
import { v5 as uuidv5 } from 'uuid';
import { createActivities } from '../../activities/index';
import type { ActivityServices } from '../../activities/services';
import { findFollowUps } from '../../src/db/orders/follow-ups';
import { recordOrderUpdate } from '../../src/db/orders/update-order';
import type { Database } from '../../src/db/query';
import type { AcceptedRequest } from '../../src/domain/accepted-request';
import { chargeIdempotencyKey } from '../../src/domain/transaction';
import { ORDER_MOVES, isFinal } from '../../src/domain/transitions';
import { ServiceError } from '../../src/errors';
import { transactionId } from '../../src/ids';
import { createWorkflowClients, type WorkflowClients } from '../../src/temporal/workflows';
import { followUp } from '../../workflows/follow-up';
import { order as orderWorkflow } from '../../workflows/order';
import { orderWorkflowId } from '../../workflows/messages';
import { RecordedObject } from '../../workflows/object/recorded-object';
import { MemoryProcessor, CARD_ANSWERS, type CardAnswer } from './processor';
import { MemoryRecord } from './record';
import type { TransactionRow } from './rows';
import { Sandbox, current } from './sandbox';
import { sandboxClientOf } from './temporal';

const ORDER_ID = '0190c000-0000-7000-8000-0000000000a1';
const PROJECT_ID = '0190c000-0000-7000-8000-0000000000b1';
const MINUTE = 60_000;
const AMOUNT = 500;

/** How an order begins. */
export interface Beginning {
  charged_by: 'token' | 'customer';
  card: CardAnswer;
  capture_mode: 'manual' | 'delayed' | undefined;
}

/** What the merchant knows for certain, from the answers so far. */
export interface Known {
  /** A status that is final: it never changes again. */
  final: string | undefined;
}

/** The code under test, with everything around it in memory. */
export class Story {
  readonly sandbox: Sandbox;
  readonly record: MemoryRecord;
  readonly processor: MemoryProcessor;
  readonly clients: WorkflowClients;
  readonly known: Known = { final: undefined };
  private asked = 0;
  private recoveries = 0;

  constructor(
    private readonly scheduler: fc.Scheduler,
    chances: Iterator<number>,
  ) {
    const chance = () => Number(chances.next().value);
    // What the worker is not answered it tries again: not for ever. Calls of the api have their answers.
    let lost = 0;
    const isOfWorker = () => current.getStore() !== undefined;
    this.sandbox = new Sandbox(scheduler, () => isOfWorker() && chance() < 6 && (lost += 1) <= LOST_MAX);
    this.record = new MemoryRecord(this.sandbox);
    this.processor = new MemoryProcessor(this.sandbox, () => FOLLOW_UP_RESULTS[chance() % FOLLOW_UP_RESULTS.length]!);
    const db = this.record as unknown as Database;
    this.clients = createWorkflowClients({ client: sandboxClientOf(this.sandbox), db });
    const deliveries = { start: ({ order_id, n }: { order_id: string; n: number }) => this.deliver(order_id, n) };
    const activities = createActivities({
      db,
      processor: this.processor.client,
      workflows: { ...this.clients, deliveries },
      public_url: 'https://pay.example',
    } as unknown as ActivityServices);
    this.sandbox.use({ order: orderWorkflow, followUp }, activities as never);
  }

  /** The webhook is started; it is delivered at some later time. */
  private async deliver(order_id: string, n: number): Promise<void> {
    await this.sandbox.turn('start of a webhook');
    void this.sandbox.turn('a webhook is received').then(() => this.record.received(order_id, n));
  }

  request(has_idempotency_key = true): AcceptedRequest {
    this.asked += 1;
    const now = this.sandbox.now;
    const request_id = uuidv5(`request ${this.asked}`, ORDER_ID);
    return { request_id, deadline_at: now + 1e9, has_idempotency_key, is_repeat: false, first_received_at: now };
  }

  transaction(attempt: number, card: CardAnswer | undefined, capture_mode: Beginning['capture_mode']) {
    return {
      id: transactionId(ORDER_ID, attempt),
      attempt,
      payment_method: 'credit-card',
      expiration_period: 'PT30M',
      period: 30 * MINUTE,
      payment_method_details: card === undefined ? {} : { vault_token: card },
      ...(capture_mode && { transaction_type: 'authorization' as const, capture_mode, capture_period: 'PT1H' }),
    };
  }

  async create({ charged_by, card, capture_mode }: Beginning): Promise<void> {
    const by_token = charged_by === 'token';
    const announced = by_token || capture_mode !== undefined;
    await this.answer(() =>
      this.clients.orders.create({
        request: this.request(),
        order: {
          ...{ id: ORDER_ID, project_id: PROJECT_ID, currency: 'EUR', amount: AMOUNT, expiration_period: 'PT30M' },
          ...{ charged_by, attempts_max: by_token ? 1 : 5 },
        },
        period: 30 * MINUTE,
        is_test: true,
        transaction: announced ? this.transaction(1, by_token ? card : undefined, capture_mode) : undefined,
      }),
    );
  }

  async pay(attempt: number, card: CardAnswer): Promise<void> {
    const transaction = this.transaction(attempt, card, undefined);
    const project = { project_id: PROJECT_ID, is_test: true };
    await this.answer(() =>
      this.clients.orders.pay(ORDER_ID, { ...project, request: this.request(false), transaction }),
    );
  }

  async cancel(): Promise<void> {
    await this.answer(() => this.clients.orders.cancel(ORDER_ID, { source: 'merchant', request: this.request() }));
  }

  async follow(kind: 'capture' | 'void' | 'refund', amount: number | undefined): Promise<void> {
    const paid = Object.values(this.record.rows.transactions).find(
      ({ order_id, status }) => order_id === ORDER_ID && status === 'accepted',
    );
    if (paid === undefined) return;
    const request = this.request();
    const input = {
      ...{ id: uuidv5('follow-up', request.request_id), request, project_id: PROJECT_ID, amount },
      ...{ requested_by: 'merchant' as const, original_order_id: ORDER_ID, original_transaction_id: paid.id },
    };
    await this.answer(() =>
      kind === 'refund'
        ? this.clients.follow_ups.refund({ ...input, kind })
        : this.clients.follow_ups.captureOrVoid({ ...input, kind }),
    );
  }

  /** The processor tells of the last charge. */
  async notify(): Promise<void> {
    const [last] = [...this.processor.operations.values()].filter(({ key }) => key.endsWith(':charge')).slice(-1);
    if (last === undefined) return;
    const { operation, order_id, transaction_id } = last;
    const notification = { operation, order_id, transaction_id, idempotency_key: chargeIdempotencyKey(transaction_id) };
    await this.clients.processor_notifications.handle(notification, this.sandbox.now + 1e9);
  }

  async changeFields(): Promise<void> {
    const db = this.record as unknown as Database;
    const at = { versions: undefined, now: this.sandbox.now };
    await recordOrderUpdate(db, ORDER_ID, { description: 'changed' }, at).catch(() => undefined);
  }

  /** Temporal loses the order's workflow, and recovery starts it from the record. */
  async lose(): Promise<void> {
    if (this.record.rows.orders[ORDER_ID] === undefined) return;
    this.sandbox.lose(orderWorkflowId(ORDER_ID));
    await this.clients.orders.resume({ order_id: ORDER_ID, project_id: PROJECT_ID });
  }

  async recordChanged(): Promise<void> {
    await this.clients.orders.recordChanged(ORDER_ID);
  }

  wantNewRun(): void {
    for (const instance of this.sandbox.running()) instance.wants_new_run = true;
  }

  /** An answer to the merchant: an order whose status may be final, or a refusal. */
  private async answer(call: () => Promise<{ id: string; status: string }>): Promise<void> {
    let answered: { id: string; status: string };
    try {
      answered = await call();
    } catch (error) {
      if (error instanceof ServiceError && error.error !== 'ServerError') return;
      return void this.sandbox.violations.push(`an answer is ${String((error as Error).message)}`);
    }
    if (answered.id !== ORDER_ID || !isFinal(ORDER_MOVES, answered.status as keyof typeof ORDER_MOVES)) return;
    if (this.known.final !== undefined && this.known.final !== answered.status) {
      this.sandbox.violations.push(`the order was answered ${this.known.final}, then ${answered.status}`);
    }
    this.known.final = answered.status;
  }

  /** Everything comes to its end: customers leave the issuer, the processor decides, time passes. */
  async end(): Promise<void> {
    for (let round = 1; ; round += 1) {
      await this.scheduler.waitIdle();
      await this.sandbox.runUntilBlocked();
      if (this.scheduler.count() > 0) continue;
      this.processor.decide('challenge', 'error');
      this.processor.decide('processing', 'approved');
      const next = this.sandbox.nextTimer();
      if (next === undefined && (await this.recover())) continue;
      if (this.sandbox.running().length === 0) return;
      if (next === undefined || round > ROUNDS_MAX) {
        const ids = this.sandbox.running().map(({ id }) => id);
        return void this.sandbox.violations.push(
          `${ids.join(', ')} never end: ${next === undefined ? 'no timer' : 'timers'}`,
        );
      }
      await this.sandbox.passTo(next);
    }
  }

  /** As `src/recovery` does: has the workflows of rows that still need one continue. Returns whether there were any. */
  private async recover(): Promise<boolean> {
    this.recoveries += 1;
    if (this.recoveries > RECOVERIES_MAX) return false;
    const { orders, transactions, watches, deliveries } = this.record.rows;
    const db = this.record as unknown as Database;
    const payments = Object.values(transactions).filter(({ order_id }) => order_id === ORDER_ID);
    const isReserved = (row: TransactionRow) =>
      row.capture_mode !== null && row.status === 'accepted' && row.captured_amount + row.voided_amount < row.amount;
    const isOpen = ({ status }: { status: keyof typeof ORDER_MOVES }) => !isFinal(ORDER_MOVES, status);
    const open = Object.values(orders).filter(isOpen);
    const calls: Promise<unknown>[] = [];
    if (payments.some(isReserved) || open.some(({ kind }) => kind === 'payment')) {
      calls.push(this.clients.orders.resume({ order_id: ORDER_ID, project_id: PROJECT_ID }));
    }
    const ids = open.filter(({ kind }) => kind !== 'payment').map(({ id }) => id);
    if (ids.length > 0) {
      const start = findFollowUps(db, ids).then((rows) => rows.map((row) => this.clients.follow_ups.start(row)));
      calls.push(start.then((started) => Promise.all(started)));
    }
    calls.push(
      ...Object.keys(watches).map((transaction_id) => this.clients.follow_ups.resumeWatch({ transaction_id })),
    );
    const undelivered = deliveries.filter(({ status }) => status === 'new');
    calls.push(...undelivered.map(({ order_id, n }) => this.deliver(order_id, n)));
    void Promise.all(calls).catch((error: unknown) => this.sandbox.violations.push(String((error as Error).message)));
    return calls.length > 0;
  }

  /** What differs between the record, the processor and what the merchant was told. */
  differences(): string[] {
    const { orders, transactions, deliveries } = this.record.rows;
    const order = orders[ORDER_ID];
    if (order === undefined) return [...this.sandbox.violations, 'the order was never written'];
    const payments = Object.values(transactions).filter(({ order_id }) => order_id === ORDER_ID);
    const money = payments.flatMap((row) => {
      const charged = this.processor.approved(row.id, 'sale', 'authorize');
      const reversed = this.processor.approved(row.id, 'reversal');
      const was_accepted = row.status === 'accepted' || row.voided_amount > 0;
      const captured = row.capture_mode === null ? charged - reversed : this.processor.approved(row.id, 'capture');
      const facts: [string, number, number][] = [
        ['charged and kept', was_accepted ? row.amount : 0, charged - reversed],
        ['captured', row.captured_amount, was_accepted ? captured : 0],
        ['voided', row.voided_amount, this.processor.approved(row.id, 'void')],
        ['refunded', row.refunded_amount, this.processor.approved(row.id, 'refund')],
        ['asked and not answered', row.capture_pending_amount + row.void_pending_amount + row.refund_pending_amount, 0],
      ];
      return facts.flatMap(([what, recorded, done]) =>
        recorded === done ? [] : [`${what} ${recorded}, at the processor ${done}`],
      );
    });
    const kept = payments.filter((row) => row.status === 'accepted' || row.voided_amount > 0).length;
    return [
      ...this.sandbox.violations,
      ...money,
      ...(kept > 1 ? [`${kept} transactions are paid`] : []),
      ...((order.status === 'completed') === (kept === 1)
        ? []
        : [`the order is ${order.status} with ${kept} paid transactions`]),
      ...Object.values(orders).flatMap(({ kind, status }) =>
        isFinal(ORDER_MOVES, status) ? [] : [`the ${kind} order is still ${status}`],
      ),
      ...(this.known.final === undefined || this.known.final === order.status
        ? []
        : [`answered ${this.known.final}, is ${order.status}`]),
      ...deliveries.flatMap(({ n, status }) => (status === 'new' ? [`webhook ${n} was never started`] : [])),
    ];
  }
}

const ROUNDS_MAX = 400;
const RECOVERIES_MAX = 10;
/** Answers that are lost in one story. */
const LOST_MAX = 8;
const FOLLOW_UP_RESULTS = ['approved', 'approved', 'approved', 'refused', 'processing'] as const;

/** No older record ever replaces a newer one, except for what is read again on purpose. */
export function watchRecords(violate: (text: string) => void): void {
  const prototype = RecordedObject.prototype as unknown as {
    replaceRecord: (this: { record?: { version?: number } }, record: { version?: number }) => void;
  };
  const { replaceRecord } = prototype;
  prototype.replaceRecord = function (record) {
    const [before, after] = [this.record?.version ?? 0, record.version ?? 0];
    if (after < before) violate(`version ${after} of the record replaces version ${before}`);
    replaceRecord.call(this, record);
  };
}

export const beginnings: fc.Arbitrary<Beginning> = fc.record({
  charged_by: fc.constantFrom('token' as const, 'customer' as const),
  card: fc.constantFrom(...CARD_ANSWERS),
  capture_mode: fc.constantFrom(undefined, undefined, 'manual' as const, 'delayed' as const),
});
