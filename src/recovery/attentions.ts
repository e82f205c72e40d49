import { endDeliveredAttentions, findAttentionCandidates, recordAttention } from '../db/attentions';
import type { Database } from '../db/connection';
import { findOrderSnapshot } from '../db/orders/order-snapshot';
import { LATE_APPROVAL_OVERDUE, attentionTo } from '../domain/attention';
import { LATE_APPROVAL_OVERDUE_MS } from '../domain/transaction';

/**
 * Brings the table of attentions up to date with the record, whether or not a workflow runs: outcomes that are overdue,
 * reasons that are gone, and webhooks that were delivered again. `now` in epoch milliseconds. Repeat-safe.
 */
export async function reconcileAttentions(db: Database, now: number): Promise<void> {
  const candidates = await findAttentionCandidates(db, now - LATE_APPROVAL_OVERDUE_MS);
  for (const { order_id, is_late_approval_overdue } of candidates) {
    const order = await findOrderSnapshot(db, order_id);
    if (order === undefined) continue;
    const reason = attentionTo(order) ?? (is_late_approval_overdue ? LATE_APPROVAL_OVERDUE : undefined);
    await recordAttention(db, { kind: 'order', id: order_id, project_id: order.project_id }, reason);
  }
  await endDeliveredAttentions(db);
}
