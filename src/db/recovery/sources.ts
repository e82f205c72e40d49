import type { DeliveryKey } from '../../domain/delivery';
import {
  OPEN_ORDER_STATUSES,
  OPEN_PAYMENT_LINK_STATUSES,
  UNPAID_ATTEMPT_STATUSES,
  type OrderStatus,
} from '../../domain/transitions';
import type { StartedClock } from '../../domain/sandbox-clock';
import { sqlList } from '../query';
import type { AnnouncedOperation } from '../orders/announced-operations';
import { RECORDED_FOLLOW_UP, type RecordedFollowUp } from '../orders/follow-ups';
import { CLOCK_OFFSET, ordersOfClock } from '../sandbox-clocks/sandbox-clocks';
import { MAY_BE_CHARGED, RESERVED } from '../orders/transactions';

/**
 * The rows that recovery checks: those that still need a workflow. Each source has an instant (`at`), the last change
 * or a deadline, from which its open rows are checked at intervals. Each instant has an index, so that rows without a
 * due check cost nothing.
 */

/** A payment order. */
export interface OrderCheck {
  order_id: string;
  project_id: string;
  /** The request that creates it and charges its card token may still be running. */
  is_being_created: boolean;
}

/** An order that holds reserved money. */
interface AuthorizationCheck extends OrderCheck {
  status: OrderStatus;
  /** Whether there are orders that capture, void or refund it. */
  has_follow_ups: boolean;
}

/** A payment link. */
export interface LinkCheck {
  id: string;
  project_id: string;
}

/**
 * The rows of each source. A further kind of workflow adds a line here, to SOURCES, to the handlers of RowChecks and to
 * RECOVERY_SOURCES (metrics/catalogue.ts).
 */
export interface SourceRows {
  /** Orders with an attempt. An unpaid order without one cannot have missed an update. */
  attempts: OrderCheck;
  /** Orders that have expired and are not final yet. */
  expired_orders: OrderCheck;
  /** Orders whose open transaction has expired: they expire with it, often long before their own expires_at. */
  expired_transactions: OrderCheck;
  /** Orders with a charge whose outcome is unknown. */
  unknown_outcomes: OrderCheck;
  /** Orders that hold reserved money. */
  authorizations: AuthorizationCheck;
  /** Orders that hold reserved money after their capture window. */
  capture_windows: OrderCheck;
  /** Follow-up orders that are not final. Those of the processor are final as soon as they are written. */
  follow_ups: RecordedFollowUp;
  /** Transactions that ended unpaid or were refused, and may have been approved nevertheless. */
  late_approvals: { transaction_id: string };
  /** Operations that the processor announced and does not know yet. */
  announced_operations: AnnouncedOperation & { project_id: string; clock_offset_ms: number };
  /** Payment links with an attempt. */
  payment_links: LinkCheck;
  /** Payment links that have expired and are not final yet. */
  expired_payment_links: LinkCheck;
  /** Webhooks whose next attempt is due. */
  deliveries: DeliveryKey & { project_id: string };
  /** Recoveries of webhooks that run. */
  webhook_recoveries: { recovery_id: string; project_id: string };
  /** Erasures of customers that run. */
  erasures: { erasure_id: string; project_id: string; subject: string };
  /** Advanced clocks of objects that still wait: their due times are not due in real time. */
  sandbox_clocks: StartedClock;
}

export type SourceName = keyof SourceRows;

export interface RecoverySource {
  columns: string;
  /** Tables and conditions; `at` and `key` are added. */
  from: string;
  /** The instant from which a row is checked. */
  at: string;
  /** Orders rows of the same instant; a text. */
  key: string;
  /** Checked at all intervals; otherwise only twice, as the next deadline has its own source. */
  is_repeated: boolean;
}

const OPEN = sqlList(OPEN_ORDER_STATUSES);
const UNPAID = sqlList(UNPAID_ATTEMPT_STATUSES);
const OPEN_LINK = sqlList(OPEN_PAYMENT_LINK_STATUSES);

/** An advance under way, or a waiting object that uses the clock. */
const CLOCK_IS_AWAITED = `(
  exists (select 1 from sandbox_clock_advances a where a.clock_id = c.id and not a.is_finished)
  or c.offset_ms > 0 and (exists (select 1 from payment_links l where l.id = c.id and l.status in ${OPEN_LINK}) or exists (
    select 1 from ${ordersOfClock('c.id')} x join orders o on o.id = x.id left join transactions t on t.order_id = o.id
    where o.status in ${OPEN} or (${RESERVED})
      or exists (select 1 from webhook_deliveries d where d.order_id = o.id and d.status = 'new')
      or exists (select 1 from late_approval_watches w where w.transaction_id = t.id))))`;

const ORDER = {
  columns: `o.id as order_id, o.project_id, o.charged_by = 'token' and o.status = 'new' as is_being_created`,
  key: 'o.id::text',
};

const LINK = { columns: 'l.id, l.project_id', key: 'l.id::text' };

export const SOURCES: { [Name in SourceName]: RecoverySource } = {
  attempts: {
    ...ORDER,
    from: `orders o where o.kind = 'payment' and o.status in ${OPEN} and exists (
      select 1 from transactions t where t.order_id = o.id and ${MAY_BE_CHARGED}
    )`,
    at: 'o.modified',
    is_repeated: false,
  },
  expired_orders: {
    ...ORDER,
    from: `orders o where o.kind = 'payment' and o.status in ${OPEN}`,
    at: 'o.expires_at',
    is_repeated: true,
  },
  expired_transactions: {
    ...ORDER,
    from: `transactions t join orders o on o.id = t.order_id
      where t.status in ${UNPAID} and t.original_transaction_id is null and o.status in ${OPEN}`,
    at: 't.expires_at',
    is_repeated: true,
  },
  unknown_outcomes: {
    ...ORDER,
    from: `transactions t join orders o on o.id = t.order_id where t.status = 'processing' and o.kind = 'payment'`,
    at: 't.modified',
    is_repeated: true,
  },
  authorizations: {
    ...ORDER,
    columns: `${ORDER.columns}, o.status,
      exists (select 1 from orders f where f.related_order_id = o.id) as has_follow_ups`,
    from: `transactions t join orders o on o.id = t.order_id where ${RESERVED}`,
    at: 't.modified',
    is_repeated: false,
  },
  capture_windows: {
    ...ORDER,
    from: `transactions t join orders o on o.id = t.order_id where ${RESERVED}`,
    at: 't.capture_ends_at',
    is_repeated: true,
  },
  follow_ups: {
    columns: RECORDED_FOLLOW_UP.columns,
    from: `${RECORDED_FOLLOW_UP.from}
      where f.kind <> 'payment' and f.status in ${OPEN} and f.requested_by <> 'processor'`,
    at: 'f.modified',
    key: 'f.id::text',
    is_repeated: true,
  },
  late_approvals: {
    columns: 'w.transaction_id',
    from: 'late_approval_watches w where true',
    at: 'w.poll_at',
    key: 'w.transaction_id::text',
    is_repeated: true,
  },
  announced_operations: {
    columns: `a.order_id, a.kind, a.processor_key, a.original_order_id, a.original_transaction_id, o.project_id,
      ${CLOCK_OFFSET} as clock_offset_ms`,
    from: 'announced_operations a join orders o on o.id = a.original_order_id where true',
    at: 'a.announced',
    key: 'a.order_id::text',
    is_repeated: true,
  },
  payment_links: {
    ...LINK,
    from: `payment_links l where l.status in ${OPEN_LINK} and l.attempts > 0`,
    at: 'l.modified',
    is_repeated: false,
  },
  expired_payment_links: {
    ...LINK,
    from: `payment_links l where l.status in ${OPEN_LINK}`,
    at: 'l.expires_at',
    is_repeated: true,
  },
  deliveries: {
    columns: 'd.order_id, d.n, d.project_id',
    from: `webhook_deliveries d where d.status = 'new'`,
    at: 'd.next_attempt_at',
    key: `d.order_id::text || ':' || d.n`,
    is_repeated: true,
  },
  webhook_recoveries: {
    columns: 'rec.id as recovery_id, rec.project_id',
    from: `webhook_recoveries rec where rec.status = 'running'`,
    at: 'rec.modified',
    key: 'rec.id::text',
    is_repeated: true,
  },
  erasures: {
    columns: 'e.id as erasure_id, e.project_id, e.subject',
    from: 'erasures e where e.completed is null',
    at: 'e.modified',
    key: 'e.id::text',
    is_repeated: true,
  },
  sandbox_clocks: {
    columns: 'c.id as clock_id, c.project_id',
    from: `sandbox_clocks c where ${CLOCK_IS_AWAITED}`,
    at: 'c.modified',
    key: 'c.id::text',
    is_repeated: true,
  },
};

export const SOURCE_NAMES = Object.keys(SOURCES) as SourceName[];
