import { setTimeout } from 'node:timers/promises';
import type { AcceptedRequest } from '../../domain/accepted-request';
import { isUnavailable } from '../availability';
import { queryRows, type Database } from '../query';

/**
 * Requests without an Idempotency-Key (rules 10.5). The statement that writes the object of such a request claims the
 * request by its id. Before the API answers that nothing was stored, it withdraws the request by the same id: the
 * database allows only one of the two, whatever the clocks show and however long a COMMIT takes.
 */

/** Whether the request's `begin_before` has not passed, by the database's clock as the statement runs. */
const MAY_BEGIN =
  '(:begin_before::bigint is null or clock_timestamp() <= to_timestamp(:begin_before::bigint / 1000.0))';

/**
 * Two CTEs; the second, `in_time`, has a row while the request may be carried out. One that comes too late withdraws
 * the request: an earlier try of the same statement may have claimed it and not be committed, which the database waits
 * for. Requests with an Idempotency-Key and actions of the service itself are not claimed. `source`: a CTE before them,
 * whose row locks come first, as waiting for a lock may take long. Takes the bindings of claimBindings.
 */
export function claimRequest(source?: string): string {
  const from = source === undefined ? '' : `from ${source}`;
  return `claim as (
     insert into request_claims (request_id, is_withdrawn)
     select :request_id::uuid, not ${MAY_BEGIN} ${from} where :request_id::uuid is not null
     on conflict do nothing returning is_withdrawn
   ), in_time as (
     select 1 from claim where not is_withdrawn
     union all
     select 1 ${from} where :request_id::uuid is null
   )`;
}

/** The bindings of claimRequest; without a request the service itself acts. */
export const claimBindings = (request: AcceptedRequest | undefined) => ({
  request_id: request === undefined || request.has_idempotency_key ? null : request.request_id,
  begin_before: request?.begin_before ?? null,
});

/** How long withdrawing waits for a statement that has claimed the request and is not committed. Milliseconds. */
const WAIT_FOR_CLAIM_MS = 800;
/** How long withdrawing waits for the database in all: its own COMMIT may take long. Milliseconds. */
const WITHDRAW_MS = 1_500;

/**
 * Withdraws a request, so that nothing will ever be stored for it. `false`: it was claimed, a statement that claims it
 * is not committed, or the database does not answer; then it may be carried out. Repeat-safe.
 */
export async function withdrawRequest(db: Database, request_id: string): Promise<boolean> {
  const withdrawn = insertWithdrawal(db, request_id).catch((error: unknown) => {
    if (isUnavailable(error)) return false;
    throw error;
  });
  return await Promise.race([withdrawn, setTimeout(WITHDRAW_MS, false, { ref: false })]);
}

async function insertWithdrawal(db: Database, request_id: string): Promise<boolean> {
  const found = await queryRows<{ is_withdrawn: boolean }>(
    db,
    `with limited as (
       select set_config('lock_timeout', '${WAIT_FOR_CLAIM_MS}', true)
     ), withdrawn as (
       insert into request_claims (request_id, is_withdrawn) select :request_id, true from limited
       on conflict do nothing returning is_withdrawn
     )
     select is_withdrawn from withdrawn
     union all
     select is_withdrawn from request_claims where request_id = :request_id`,
    { request_id },
  );
  return found[0]?.is_withdrawn === true;
}
