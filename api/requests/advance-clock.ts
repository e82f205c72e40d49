import type { ClockAdvance } from '../../src/domain/sandbox-clock';
import { parseDuration } from '../../src/domain/duration';
import { nearestRecordable } from '../../src/domain/period';
import { isAdvanceBegun } from '../../src/db/sandbox-clocks/sandbox-clocks';
import { ServiceError } from '../../src/errors';
import { requestedId } from '../../src/ids';
import type { ReadableKind } from '../../src/temporal/kinds';
import type { ClockOwner } from '../../src/temporal/sandbox-clocks';
import type { AdvanceClockInput } from '../../workflows/messages';
import { ConcurrencyLimit } from '../http/concurrency-limit';
import type { MerchantContext, MerchantServices } from '../merchant';

/** Advances of sandbox clocks at a time (rules 23.9). */
const advances = new ConcurrencyLimit({
  what: 'advances of sandbox clocks',
  per_caller: { running: 4, waiting: 40 },
  running: 20,
  running_first: 150,
});
/** How long an advance waits for its turn; leaves most of the request's time to the advance itself. Milliseconds. */
const TURN_MS = 4_000;

/**
 * The input of the sandbox clock's workflow for one request. Throws Forbidden for live projects, whose clocks the
 * database keeps at real time too (rules 23.4).
 */
export function clockAdvanceOf(
  { caller, idempotency_key, request }: MerchantContext,
  { advance, to }: { advance?: string | undefined; to?: string | undefined },
): AdvanceClockInput {
  const { project } = caller;
  if (!project.is_test) throw new ServiceError('Forbidden', 'Only the clocks of test projects can be advanced.');
  const by: ClockAdvance =
    // Workflows take no other instants; the nearest one is refused for the same reason.
    advance === undefined ? { to: nearestRecordable(Date.parse(to ?? '')) } : { advance_ms: parseDuration(advance) };
  const request_id = requestedId('clock', { idempotency_key, id_namespace: project.id_namespace });
  return { request_id, advance: by, versions: request.versions };
}

/**
 * Runs an advance of an object's clock when it is the project's turn. `is_unknown`: it has not begun, and may still be
 * refused, or the object does not show a clock yet; a repeat with the key joins the advance, or makes it. How far the
 * clock is does not tell whether it has begun: another advance, or the first run of a repeat, may have moved it. Throws
 * TooManyRequests when its turn takes too long.
 */
export async function advanceInTurn<T extends { clock_offset_ms: number }>(
  { db, sandbox_clocks }: Pick<MerchantServices, 'db' | 'sandbox_clocks'>,
  { caller, request }: Pick<MerchantContext, 'caller' | 'request'>,
  { kind, owner, input }: { kind: ReadableKind<T>; owner: ClockOwner; input: AdvanceClockInput },
): Promise<{ advanced: T; is_unknown: boolean }> {
  const wait = new AbortController();
  const tooMany = new ServiceError('TooManyRequests', 'Other advances of sandbox clocks of the project take long.');
  const timer = setTimeout(() => wait.abort(tooMany), TURN_MS);
  const release = await advances.acquire(caller.project.id, wait.signal).finally(() => clearTimeout(timer));
  const advanced = await sandbox_clocks.advance(kind, owner, input, request).finally(release);
  const asked = { clock_id: owner.id, request_id: input.request_id };
  return { advanced, is_unknown: advanced.clock_offset_ms === 0 || !(await isAdvanceBegun(db, asked)) };
}
