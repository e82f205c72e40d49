import type { DeliveryKey } from '../../domain/delivery';
import { RECEIVER_CHECK_LOST_AFTER_MS, type JudgedCase } from '../../domain/receiver-check';
import { toIsoTime } from '../../time';
import { columnsOf } from '../columns';
import { queryRow, queryRows, type Database, type SqlTransaction } from '../query';

/** A check of a merchant's webhook receiver (rules 27). Instants are ISO 8601 texts in UTC. */
export interface StoredReceiverCheck {
  id: string;
  project_id: string;
  webhook_url: string;
  /** The report; null while it runs and when it was stopped. */
  cases: JudgedCase[] | null;
  /** Why it was stopped, in words. */
  reason: string | null;
  created: string;
  /** Null while it runs. */
  completed: string | null;
}

const COLUMNS = columnsOf<StoredReceiverCheck>()('id, project_id, webhook_url, cases, reason, created, completed');

/** The check; `undefined` when there is none. */
export async function findReceiverCheck(db: Database, id: string): Promise<StoredReceiverCheck | undefined> {
  return await queryRow<StoredReceiverCheck>(db, `select ${COLUMNS} from receiver_checks where id = :id`, {
    id,
  });
}

/**
 * Begins a check; `now` in epoch milliseconds. `undefined` when another one of the project is running. Repeat-safe: a
 * check that exists is returned.
 */
export async function beginReceiverCheck(
  trx: SqlTransaction,
  { id, project_id, webhook_url }: Pick<StoredReceiverCheck, 'id' | 'project_id' | 'webhook_url'>,
  now: number,
): Promise<StoredReceiverCheck | undefined> {
  const existing = await findReceiverCheck(trx, id);
  if (existing !== undefined) return existing;
  await queryRows(
    trx,
    `update receiver_checks set reason = 'It did not finish: its workflow was lost. Start another check.', completed = :now
     where project_id = :project_id and completed is null and created < :lost`,
    { project_id, now: toIsoTime(now), lost: toIsoTime(now - RECEIVER_CHECK_LOST_AFTER_MS) },
  );
  return await queryRow<StoredReceiverCheck>(
    trx,
    `insert into receiver_checks (id, project_id, webhook_url, created)
     values (:id, :project_id, :webhook_url, :now)
     on conflict (project_id) where completed is null do nothing
     returning ${COLUMNS}`,
    { id, project_id, webhook_url, now: toIsoTime(now) },
  );
}

/**
 * Completes a check with its report, or with the reason why it has none; `now` in epoch milliseconds. One that is
 * completed stays as it is.
 */
export async function completeReceiverCheck(
  db: Database,
  { id, now, ...end }: { id: string; now: number } & ({ cases: JudgedCase[] } | { reason: string }),
): Promise<void> {
  await queryRows(
    db,
    `update receiver_checks set cases = :cases::json, reason = :reason, completed = :now
     where id = :id and completed is null`,
    {
      id,
      now: toIsoTime(now),
      cases: 'cases' in end ? JSON.stringify(end.cases) : null,
      reason: 'reason' in end ? end.reason : null,
    },
  );
}

/**
 * Pauses the open webhooks of orders that a check has made: the check alone sends them, and one that fails is not sent
 * again.
 */
export async function pauseWebhooksOf(db: Database, order_ids: readonly string[]): Promise<void> {
  await queryRows(
    db,
    `update webhook_deliveries set status = 'paused' where order_id = any(:order_ids::uuid[]) and status = 'new'`,
    { order_ids },
  );
}

/** The webhooks of an order, the first event first. */
export async function webhooksOf(db: Database, order_id: string): Promise<DeliveryKey[]> {
  return await queryRows(db, 'select order_id, n from webhook_deliveries where order_id = :order_id order by n', {
    order_id,
  });
}
