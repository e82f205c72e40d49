/**
 * The money of one payment as sections 8 and 9 of docs/rules.md tell it, written a second time and another way: it
 * keeps a ledger of follow-up orders and counts, where the service keeps counters. It shares no code with what it
 * judges.
 */
export type LedgerKind = 'capture' | 'void' | 'refund' | 'chargeback' | 'reversal';
export type LedgerStatus = 'new' | 'processing' | 'completed' | 'error';

export interface Entry {
  /** Name of the follow-up order within its payment. */
  name: string;
  kind: LedgerKind;
  by: 'merchant' | 'service' | 'processor';
  amount: number;
  status: LedgerStatus;
  /** An operator has to look at it. */
  flagged: boolean;
  /** Refused when the window was over. */
  late: boolean;
}

export interface ModelPayment {
  mode: 'sale' | 'manual' | 'delayed';
  amount: number;
  /** End of the capture window. */
  end: number;
  ledger: readonly Entry[];
}

/** What a step answers: an amount, a status, or the refusal. */
export type Result = number | string;

const total = ({ ledger }: ModelPayment, kind: LedgerKind, ...statuses: LedgerStatus[]) =>
  ledger
    .filter((entry) => entry.kind === kind && statuses.includes(entry.status))
    .reduce((sum, { amount }) => sum + amount, 0);
const done = (payment: ModelPayment, kind: LedgerKind) => total(payment, kind, 'completed');
const open = (payment: ModelPayment, kind: LedgerKind) => total(payment, kind, 'new', 'processing');
const captured = (payment: ModelPayment) => (payment.mode === 'sale' ? payment.amount : done(payment, 'capture'));
const closings = ({ ledger }: ModelPayment) => ledger.filter(({ by }) => by === 'service');

/** What is reserved and nobody has asked for. */
function rest(payment: ModelPayment): number {
  if (payment.mode === 'sale') return 0;
  return (
    payment.amount - done(payment, 'capture') - done(payment, 'void') - open(payment, 'capture') - open(payment, 'void')
  );
}

/** Never below 0, and never above what is captured and not given back, whichever news come first. */
function refundable(payment: ModelPayment): number {
  const kept = captured(payment) - done(payment, 'refund') - open(payment, 'refund');
  return Math.max(0, Math.min(kept, kept - done(payment, 'chargeback') + done(payment, 'reversal')));
}

/** Voided in full it is cancelled; when the service released a part of it, expired; with anything captured it stays. */
function status(payment: ModelPayment): 'accepted' | 'cancelled' | 'expired' {
  if (payment.mode === 'sale' || captured(payment) > 0 || done(payment, 'void') < payment.amount) return 'accepted';
  return closings(payment).some((entry) => entry.kind === 'void' && entry.status === 'completed')
    ? 'expired'
    : 'cancelled';
}

/** Everything that can be seen of a payment. */
export function viewOf(payment: ModelPayment, now: number) {
  const voidable = now < payment.end ? rest(payment) : 0;
  return {
    order: 'completed',
    transaction: status(payment),
    amounts: {
      captured_amount: captured(payment),
      voided_amount: done(payment, 'void'),
      refunded_amount: done(payment, 'refund'),
      charged_back_amount: done(payment, 'chargeback'),
      won_back_amount: done(payment, 'reversal'),
      capture_pending_amount: open(payment, 'capture'),
      void_pending_amount: open(payment, 'void'),
      refund_pending_amount: open(payment, 'refund'),
    },
    details: {
      capturable: payment.mode === 'manual' ? voidable : 0,
      captured: captured(payment),
      refundable: refundable(payment),
      refunded: done(payment, 'refund'),
      voidable,
      voided: done(payment, 'void'),
    },
    held: rest(payment),
    unanswered: open(payment, 'capture') + open(payment, 'void'),
    ledger: payment.ledger
      .map(({ name, kind, by, amount, status: stands, flagged }) => ({
        name,
        kind,
        by,
        amount,
        status: stands,
        flagged,
      }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

export type ModelView = ReturnType<typeof viewOf>;

interface Asked {
  name: string;
  kind: LedgerKind;
  by: Entry['by'];
  /** Absent: all that is left. */
  amount?: number | undefined;
  now: number;
}

function refusal(payment: ModelPayment, { kind, amount, now }: Asked): string | undefined {
  if (kind === 'refund') {
    return refundable(payment) === 0 || amount === 0 || (amount ?? 0) > refundable(payment) ? 'RefundError' : undefined;
  }
  const closed =
    payment.mode === 'sale' ||
    now >= payment.end ||
    rest(payment) === 0 ||
    (kind === 'capture' && payment.mode === 'delayed');
  if (closed) return kind === 'capture' ? 'Conflict' : 'CanNotCancelTransaction';
  return (amount ?? 0) > rest(payment) ? 'ValidationError on amount' : undefined;
}

/**
 * A follow-up order is asked for: its amount is set aside, or it is refused and leaves nothing. The second time changes
 * nothing.
 */
export function requestFollowUp(payment: ModelPayment, asked: Asked): [ModelPayment, Result] {
  const { name, kind, by } = asked;
  const there = payment.ledger.find((entry) => entry.name === name);
  if (there !== undefined) return [payment, there.amount];
  const refused = by === 'merchant' ? refusal(payment, asked) : undefined;
  if (refused !== undefined) return [payment, refused];
  const amount = asked.amount ?? (kind === 'refund' ? refundable(payment) : rest(payment));
  return [
    { ...payment, ledger: [...payment.ledger, { name, kind, by, amount, status: 'new', flagged: false, late: false }] },
    amount,
  ];
}

/**
 * It is answered: what is final stays. A sum over what was captured is flagged on the order that makes it so, a refusal
 * of what the service releases on that.
 */
export function settleFollowUp(
  payment: ModelPayment,
  { name, to, now }: { name: string; to: LedgerStatus; now: number },
): [ModelPayment, Result] {
  const entry = payment.ledger.find((one) => one.name === name);
  if (entry === undefined) throw new Error(`${name} was never asked for`);
  if (entry.status === 'completed' || entry.status === 'error') return [payment, entry.status];
  const become = (flagged: boolean): ModelPayment => ({
    ...payment,
    ledger: payment.ledger.map((one) =>
      one === entry ? { ...one, status: to, flagged, late: to === 'error' && now >= payment.end } : one,
    ),
  });
  const after = become(false);
  const given_back = done(after, 'refund') + done(after, 'chargeback') - done(after, 'reversal');
  const stuck = to === 'error' && entry.by === 'service' && entry.kind === 'void';
  const overdrawn =
    to === 'completed' && (entry.kind === 'refund' || entry.kind === 'chargeback') && given_back > captured(after);
  return [become(stuck || overdrawn), to];
}

/**
 * What the service does with what is left once the window is over: a delayed authorization is captured, first and once,
 * less what refusals have freed since; all else is released, less the releases that were refused.
 */
export function closeWindow(
  payment: ModelPayment,
  now: number,
): { name: string; kind: 'capture' | 'void'; amount: number } | undefined {
  const before = closings(payment);
  const left = rest(payment);
  if (payment.mode === 'sale' || now < payment.end || left === 0) return undefined;
  const name = `closing:${before.length + 1}`;
  const freed = payment.ledger
    .filter(({ kind, by, late }) => kind === 'void' && by === 'merchant' && late)
    .reduce((sum, { amount }) => sum + amount, 0);
  if (payment.mode === 'delayed' && before.length === 0 && left > freed) {
    return { name, kind: 'capture', amount: left - freed };
  }
  const refused = before
    .filter(({ kind, status: stands }) => kind === 'void' && stands === 'error')
    .reduce((sum, { amount }) => sum + amount, 0);
  return left > refused ? { name, kind: 'void', amount: left - refused } : undefined;
}
