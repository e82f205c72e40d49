/**
 * Every status and every move between them, in one place. Types, zod, SQL guards, the API's refusals, the diagrams of
 * docs/statuses.md and the tests read these tables; nothing else lists statuses (rules 4.1). Only a migration has to: a
 * test compares it with them.
 */
type Moves<S extends string> = { readonly [From in S]: readonly S[] };

/** Makes a misspelt target a compile error. */
function defineMoves<const M extends { readonly [From in keyof M]: readonly (keyof M)[] }>(
  moves: M,
): Moves<keyof M & string> {
  return moves as unknown as Moves<keyof M & string>;
}

/** A transaction, of a payment or a follow-up order. */
export const TRANSACTION_MOVES = defineMoves({
  new: ['pending', 'processing', 'accepted', 'error', 'cancelled', 'expired'],
  pending: ['processing', 'accepted', 'error', 'cancelled', 'expired'], // customer is in 3-D Secure
  processing: ['pending', 'accepted', 'error'], // outcome not known yet
  accepted: ['cancelled', 'expired'], // an authorization of which nothing was captured
  error: [],
  cancelled: [],
  expired: [],
});

/** An order, whatever its kind. */
export const ORDER_MOVES = defineMoves({
  new: ['processing', 'completed', 'error', 'cancelled', 'expired'],
  processing: ['see-transactions', 'completed', 'error', 'cancelled', 'expired'],
  'see-transactions': ['processing', 'completed', 'error', 'cancelled', 'expired'],
  completed: [],
  cancelled: [],
  expired: [],
  error: [],
});

/** A payment link (rules 19.3). */
export const PAYMENT_LINK_MOVES = defineMoves({
  new: ['processing', 'completed', 'all_unsuccessful', 'expired'],
  processing: ['completed', 'all_unsuccessful', 'expired'],
  all_unsuccessful: ['processing', 'completed', 'expired'],
  completed: [],
  expired: [],
});

/** A webhook delivery: open until a receiver answered 2xx or ten attempts failed (rules 13.4, 13.6, 13.10). */
export const DELIVERY_MOVES = defineMoves({
  new: ['paused', 'delivered', 'failed'],
  paused: ['new', 'delivered', 'failed'], // the last two by an attempt that had begun before the pause
  delivered: [],
  failed: [],
});

/** The recovery of a project's webhooks (rules 13.16). */
export const WEBHOOK_RECOVERY_MOVES = defineMoves({
  running: ['paused', 'completed', 'stopped'],
  paused: ['running', 'stopped'], // by request, or because the receiver fails again
  completed: [],
  stopped: [],
});

/** A project: a suspended one takes no new payments (rules 21.10). */
export const PROJECT_MOVES = defineMoves({
  active: ['suspended'],
  suspended: ['active'],
});

/** Statuses by table; the lists below are in the tables' order. */
export type TransactionStatus = keyof typeof TRANSACTION_MOVES;
export type OrderStatus = keyof typeof ORDER_MOVES;
export type PaymentLinkStatus = keyof typeof PAYMENT_LINK_MOVES;
export type DeliveryStatus = keyof typeof DELIVERY_MOVES;
export type WebhookRecoveryStatus = keyof typeof WEBHOOK_RECOVERY_MOVES;
export type ProjectStatus = keyof typeof PROJECT_MOVES;

const statusesOf = <S extends string>(moves: Moves<S>) => Object.keys(moves) as [S, ...S[]];
export const TRANSACTION_STATUSES = statusesOf(TRANSACTION_MOVES);
export const ORDER_STATUSES = statusesOf(ORDER_MOVES);
export const PAYMENT_LINK_STATUSES = statusesOf(PAYMENT_LINK_MOVES);
export const DELIVERY_STATUSES = statusesOf(DELIVERY_MOVES);
export const WEBHOOK_RECOVERY_STATUSES = statusesOf(WEBHOOK_RECOVERY_MOVES);
export const PROJECT_STATUSES = statusesOf(PROJECT_MOVES);

/** Whether the table allows the move. Keeping the status is not a move. */
export function canMove<S extends string>(moves: Moves<S>, from: S, to: S): boolean {
  return moves[from].includes(to);
}

/** The statuses from which `to` may be reached: every UPDATE that writes it is guarded by them. */
export function statusesBefore<S extends string>(moves: Moves<S>, to: S): S[] {
  return statusesOf(moves).filter((from) => canMove(moves, from, to));
}

/** A final status is never left. */
export function isFinal<S extends string>(moves: Moves<S>, status: S): boolean {
  return moves[status].length === 0;
}

const openOf = <S extends string>(moves: Moves<S>): readonly S[] =>
  statusesOf(moves).filter((status) => !isFinal(moves, status));
/** Statuses that are not final. */
export const OPEN_ORDER_STATUSES = openOf(ORDER_MOVES);
export const OPEN_PAYMENT_LINK_STATUSES = openOf(PAYMENT_LINK_MOVES);
export const OPEN_DELIVERY_STATUSES = openOf(DELIVERY_MOVES);
export const OPEN_WEBHOOK_RECOVERY_STATUSES = openOf(WEBHOOK_RECOVERY_MOVES);

/** Statuses of a transaction without an outcome: it may still be paid, or the outcome is awaited. */
export const OPEN_ATTEMPT_STATUSES: readonly TransactionStatus[] = statusesBefore(TRANSACTION_MOVES, 'accepted');
/** Of these, the statuses of one that expires when its time is over; one with an unknown outcome does not. */
export const UNPAID_ATTEMPT_STATUSES = OPEN_ATTEMPT_STATUSES.filter((status) =>
  canMove(TRANSACTION_MOVES, status, 'expired'),
);
/** Statuses of a transaction that has ended. */
export const FINAL_TRANSACTION_STATUSES = TRANSACTION_STATUSES.filter((status) => isFinal(TRANSACTION_MOVES, status));

/** The table as a Mermaid state diagram, for docs/statuses.md. */
export function toMermaid<S extends string>(moves: Moves<S>): string {
  const name = (status: S) => status.replace('-', '_');
  const lines = statusesOf(moves).flatMap((from) => [
    ...moves[from].map((to) => `    ${name(from)} --> ${name(to)}`),
    ...(isFinal(moves, from) ? [`    ${name(from)} --> [*]`] : []),
  ]);
  const aliases = statusesOf(moves)
    .filter((status) => status.includes('-'))
    .map((status) => `    ${name(status)}: ${status}`);
  return ['stateDiagram-v2', ...aliases, `    [*] --> ${name(statusesOf(moves)[0])}`, ...lines].join('\n');
}
