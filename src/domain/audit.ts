import type { Difference, IncidentKind } from './incident';
import type { CaptureMode } from './amounts';
import type { OrderKind } from './follow-up';
import type { TransactionStatus } from './transitions';
import { OPEN_ATTEMPT_STATUSES } from './transitions';

/**
 * A transaction as the record has it: of a payment order, or of an order that follows it. Instants in epoch
 * milliseconds.
 */
export interface RecordedTransaction {
  transaction_id: string;
  kind: OrderKind;
  /** Of a follow-up order: the payment's transaction. */
  original_transaction_id: string | null;
  amount: number;
  currency: string;
  status: TransactionStatus;
  /** It was approved, whatever became of it later. */
  is_approved: boolean;
  /** An operator has set its outcome. */
  is_set_by_hand: boolean;
  capture_mode: CaptureMode | null;
  captured_amount: number;
  voided_amount: number;
  refunded_amount: number;
  charged_back_amount: number;
  won_back_amount: number;
  /** Amounts of follow-up orders without an outcome. */
  pending_amount: number;
  settlement_currency: string | null;
  settlement_amount: number | null;
  fee_amount: number | null;
  fee_currency: string | null;
  /** Since when a fetched settlement waits to be written to it. */
  settlement_waits_since: number | null;
}

/** A payment order with the orders that follow it, as the record has them. */
export interface RecordedOrder {
  order_id: string;
  project_id: string;
  /** The last change of any of its orders; 0 where a sandbox clock is ahead, as it says nothing about real time. */
  modified: number;
  /** A late approval or an announced operation is being polled. */
  is_being_polled: boolean;
  transactions: RecordedTransaction[];
}

/** An operation as the processor reports it. */
export interface ReportedMoney {
  operation: string;
  order_id: string;
  project_id: string;
  /** The payment's transaction. */
  transaction_id: string;
  /** The transaction that records it: the payment's, or that of the follow-up order. */
  recorded_in: string;
  amount: number;
  currency: string;
  is_approved: boolean;
  occurred: number;
  settlement?:
    | {
        number: number;
        settlement_currency: string;
        settlement_amount: number;
        /** 0, without a currency: there was no fee. */
        fee_amount: number;
        fee_currency?: string | undefined;
      }
    | undefined;
}

/** What the comparison takes into account. Instants in epoch milliseconds. */
export interface Comparison {
  /** Later changes may not be on the other side yet: the order is compared later. */
  until: number;
  /** An approval before this instant must be in the record. */
  approved_before: number;
  /** The number of the last settlement that the service has fetched. */
  fetched_up_to: number;
  /** A settlement that was fetched after this instant may wait for its transaction. */
  waits_since: number;
}

/** How an order compares: `in_flight` orders have no differences yet. */
export interface ComparedOrder {
  is_in_flight: boolean;
  differences: Difference[];
}

const CHARGES = ['sale', 'authorize'];
const feeInWords = (fee: { fee_amount: number | null; fee_currency?: string | null | undefined }) =>
  fee.fee_amount ? `${fee.fee_amount} ${fee.fee_currency}` : '0';
const sumOf = (operations: readonly ReportedMoney[]) => operations.reduce((sum, { amount }) => sum + amount, 0);

/**
 * Compares a payment order and all that follows it with the operations that the processor reports for it (rules 26.3).
 * `recorded`: absent when the record has no such order.
 */
export function compareOrder(
  order_id: string,
  recorded: RecordedOrder | undefined,
  reported: readonly ReportedMoney[],
  comparison: Comparison,
): ComparedOrder {
  const { until } = comparison;
  const is_in_flight =
    recorded?.is_being_polled === true ||
    (recorded?.modified ?? 0) >= until ||
    reported.some(({ occurred }) => occurred >= until);
  if (is_in_flight) return { is_in_flight, differences: [] };
  const project_id = recorded?.project_id ?? reported[0]?.project_id ?? '';
  const order = new OrderComparison({ order_id, project_id }, recorded?.transactions ?? [], reported, comparison);
  return { is_in_flight: order.is_in_flight, differences: order.differences };
}

/** The approvals of one payment order, transaction by transaction. */
class OrderComparison {
  readonly differences: Difference[] = [];
  is_in_flight = false;
  private readonly approved: ReportedMoney[];
  private readonly charged_twice = new Set<string>();
  private readonly refunded_too_much = new Set<string>();

  constructor(
    private readonly of: { order_id: string; project_id: string },
    private readonly transactions: readonly RecordedTransaction[],
    reported: readonly ReportedMoney[],
    private readonly comparison: Comparison,
  ) {
    this.approved = reported.filter(({ is_approved }) => is_approved);
    for (const transaction_id of new Set(this.approved.map((one) => one.transaction_id))) {
      this.compareWithLimits(transaction_id);
    }
    for (const transaction of transactions) this.compareTransaction(transaction);
    this.findMissing();
    for (const payment of transactions.filter(({ kind }) => kind === 'payment')) this.compareAmounts(payment);
  }

  private operationsOf(transaction_id: string, ...operations: string[]): ReportedMoney[] {
    return this.approved.filter((one) => one.transaction_id === transaction_id && operations.includes(one.operation));
  }

  private recordedAs(transaction_id: string): RecordedTransaction | undefined {
    return this.transactions.find((one) => one.transaction_id === transaction_id);
  }

  /** One charge for each transaction, and no more refunded than was taken. */
  private compareWithLimits(transaction_id: string): void {
    const payment = this.recordedAs(transaction_id);
    const charges = this.operationsOf(transaction_id, ...CHARGES);
    if (charges.length > 1) {
      this.charged_twice.add(transaction_id);
      const record_amount = payment?.is_approved === true ? payment.amount : 0;
      const description = `The processor charged the transaction ${charges.length} times.`;
      this.add('double_charge', charges[0]!, { record_amount, processor_amount: sumOf(charges), description });
    }
    const refunds = this.operationsOf(transaction_id, 'refund');
    const taken = sumOf(this.operationsOf(transaction_id, 'sale', 'capture'));
    if (refunds.length > 0 && sumOf(refunds) > taken) {
      this.refunded_too_much.add(transaction_id);
      const record_amount = payment?.refunded_amount ?? 0;
      const description = `The processor refunded more than the ${taken} that it had taken.`;
      const found = { ...refunds[0]!, recorded_in: transaction_id };
      this.add('refund_too_large', found, { record_amount, processor_amount: sumOf(refunds), description });
    }
  }

  /** The status, amount and settlement of one transaction. */
  private compareTransaction(transaction: RecordedTransaction): void {
    const { transaction_id, amount, currency, status } = transaction;
    const operations = this.approved.filter(({ recorded_in }) => recorded_in === transaction_id);
    const [first] = operations;
    if (first !== undefined && this.isLimited(first)) return;
    const is_known = transaction.is_approved || this.wasGivenBack(transaction);
    const record_amount = is_known ? amount : 0;
    const processor_amount = sumOf(operations);
    if (first === undefined) {
      if (!is_known || amount === 0 || transaction.is_set_by_hand) return;
      const description = `The record has the transaction as ${status}; the processor has not approved it.`;
      return this.add('status', this.foundIn(transaction), { record_amount, processor_amount, description });
    }
    if (!is_known) {
      if (processor_amount === 0) return;
      const is_open = OPEN_ATTEMPT_STATUSES.includes(status);
      if ((is_open && first.occurred >= this.comparison.approved_before) || this.isBeingGivenBack(transaction)) {
        this.is_in_flight = true;
        return;
      }
      const description = `The processor approved the ${first.operation}; the record has it as ${status}.`;
      return this.add('status', first, { record_amount, processor_amount, description });
    }
    if (processor_amount !== amount || first.currency !== currency) {
      const description = `The record has ${amount} ${currency}, the processor ${processor_amount} ${first.currency}.`;
      return this.add('amount', this.foundIn(transaction), { record_amount, processor_amount, description });
    }
    this.compareSettlement(transaction, first);
  }

  private isLimited({ transaction_id, operation }: ReportedMoney): boolean {
    const [limits, only] = CHARGES.includes(operation)
      ? [this.charged_twice, true]
      : [this.refunded_too_much, operation === 'refund'];
    return only && limits.has(transaction_id);
  }

  /** Whether a payment was approved after its end, and given back (rules 10.11). */
  private wasGivenBack({ transaction_id, kind }: RecordedTransaction): boolean {
    return (
      kind === 'payment' &&
      this.operationsOf(transaction_id, 'reversal').length > 0 &&
      this.transactions.some(
        (one) => one.kind === 'reversal' && one.original_transaction_id === transaction_id && one.is_approved,
      )
    );
  }

  private isBeingGivenBack({ transaction_id }: RecordedTransaction): boolean {
    return this.transactions.some(
      ({ kind, original_transaction_id, status }) =>
        kind === 'reversal' && original_transaction_id === transaction_id && OPEN_ATTEMPT_STATUSES.includes(status),
    );
  }

  private compareSettlement(transaction: RecordedTransaction, { settlement, ...found }: ReportedMoney): void {
    const { fetched_up_to, waits_since } = this.comparison;
    const { settlement_amount, settlement_currency, settlement_waits_since: waits } = transaction;
    const add = (description: string) =>
      this.add('settlement', found, {
        record_amount: settlement_amount ?? 0,
        processor_amount: settlement?.settlement_amount ?? 0,
        description,
      });
    if (settlement === undefined) {
      if (settlement_amount !== null) add('The record has a settlement that the processor does not report.');
    } else if (settlement_amount === null) {
      // Not fetched yet, or fetched and waiting for its order to be free.
      if (settlement.number > fetched_up_to || (waits !== null && waits > waits_since)) this.is_in_flight = true;
      else add('The processor settled the transaction; the record has no settlement.');
    } else if (
      settlement_amount !== settlement.settlement_amount ||
      settlement_currency !== settlement.settlement_currency ||
      feeInWords(transaction) !== feeInWords(settlement)
    ) {
      const amounts = [transaction, settlement].map((one) => `${one.settlement_amount} ${one.settlement_currency}`);
      const fees = `fees of ${feeInWords(transaction)} and ${feeInWords(settlement)}`;
      add(`The record has ${amounts[0]}, the processor settled ${amounts[1]}, with ${fees}.`);
    }
  }

  /** Approvals without a transaction in the record. */
  private findMissing(): void {
    for (const operation of this.approved) {
      const { amount, recorded_in } = operation;
      if (amount === 0 || this.isLimited(operation) || this.recordedAs(recorded_in) !== undefined) continue;
      const description = `The processor approved a ${operation.operation} of ${amount}; the record has no such transaction.`;
      this.add('missing_in_record', operation, { record_amount: 0, processor_amount: amount, description });
    }
  }

  /** The amounts that a payment's transaction counts up, unless one of its orders differs already. */
  private compareAmounts(payment: RecordedTransaction): void {
    const { transaction_id, capture_mode, is_approved, pending_amount } = payment;
    const related = this.transactions.filter(
      (one) => one.transaction_id === transaction_id || one.original_transaction_id === transaction_id,
    );
    if (!is_approved || related.some(({ is_set_by_hand }) => is_set_by_hand)) return;
    if (pending_amount > 0) {
      this.is_in_flight = true;
      return;
    }
    const sum = (...operations: string[]) => sumOf(this.operationsOf(transaction_id, ...operations));
    const amounts: [string, number, number][] = [
      ['captured', payment.captured_amount, sum(capture_mode === null ? 'sale' : 'capture')],
      ['voided', payment.voided_amount, sum('void')],
      ['refunded', payment.refunded_amount, sum('refund')],
      ['charged back', payment.charged_back_amount, sum('chargeback')],
      ['won back', payment.won_back_amount, sum('chargeback_reversal')],
    ];
    if (this.differences.some((one) => one.transaction_id === transaction_id)) return;
    const wrong = amounts.find(([, record_amount, processor_amount]) => record_amount !== processor_amount);
    if (wrong === undefined) return;
    const [what, record_amount, processor_amount] = wrong;
    const description = `The record has ${record_amount} as ${what}, the processor ${processor_amount}.`;
    this.add('amount', this.foundIn(payment), { record_amount, processor_amount, description });
  }

  private foundIn({ transaction_id, original_transaction_id, currency }: RecordedTransaction) {
    return { recorded_in: transaction_id, transaction_id: original_transaction_id ?? transaction_id, currency };
  }

  /** `transaction_id`: the payment's, by which amounts are counted up. */
  private add(
    kind: IncidentKind,
    { recorded_in, transaction_id, currency }: Pick<ReportedMoney, 'recorded_in' | 'transaction_id' | 'currency'>,
    found: Pick<Difference, 'record_amount' | 'processor_amount' | 'description'>,
  ): void {
    this.differences.push({ kind, object_id: recorded_in, ...this.of, transaction_id, currency, ...found });
  }
}
