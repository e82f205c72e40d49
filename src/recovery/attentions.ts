import { isDeepStrictEqual } from 'node:util';
import { endDeliveredAttentions, findAttentionCandidates, recordAttention } from '../db/recovery/attentions';
import type { Database } from '../db/query';
import { findOrderSnapshots } from '../db/orders/order-snapshot';
import { ANNOUNCED_OVERDUE, LATE_APPROVAL_OVERDUE, attentionTo, reasonsInWords } from '../domain/attention';
import { ANSWER_OVERDUE_MS } from '../domain/transaction';

/** Statements about webhooks in one call: a receiver that was away for days leaves many. */
const WEBHOOK_SLICES = 10;

/**
 * Brings the table of attentions up to date with the record, whether or not a workflow runs: outcomes that are overdue,
 * reasons or orders that are gone, and webhooks that were delivered again. `now` in epoch milliseconds. Repeat-safe.
 * Returns the webhook after which the next call goes on (`webhooks_after`).
 */
export async function reconcileAttentions(db: Database, now: number, webhooks_after = ''): Promise<string> {
  const overdue_since = now - ANSWER_OVERDUE_MS;
  for (let after: string | undefined; ;) {
    const candidates = await findAttentionCandidates(db, { overdue_since, after });
    if (candidates.length === 0) break;
    after = candidates.at(-1)!.order_id;
    const orders = await findOrderSnapshots(
      db,
      candidates.map(({ order_id }) => order_id),
    );
    for (const { order_id, open_reasons, ...overdue } of candidates) {
      const order = orders.get(order_id);
      const { is_late_approval_overdue, is_announced_overdue } = overdue;
      const reason = reasonsInWords([
        order && attentionTo(order),
        is_late_approval_overdue ? LATE_APPROVAL_OVERDUE : undefined,
        is_announced_overdue ? ANNOUNCED_OVERDUE : undefined,
      ]);
      if (isDeepStrictEqual(open_reasons, reason === undefined ? [] : [reason])) continue;
      await recordAttention(db, { kind: 'order', id: order_id, project_id: order?.project_id }, reason);
    }
  }
  let after = webhooks_after;
  for (let slice = 0; slice < WEBHOOK_SLICES; slice += 1) {
    const last = await endDeliveredAttentions(db, after);
    if (last === undefined) return '';
    after = last;
  }
  return after;
}
