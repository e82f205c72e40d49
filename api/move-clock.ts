import type { ClockMove } from '../src/domain/sandbox-clock';
import { parseDuration } from '../src/domain/duration';
import { ServiceError } from '../src/errors';
import { clockMoveId } from '../src/ids';
import type { MoveClockInput } from '../workflows/messages';
import type { MerchantContext } from './merchant';

/**
 * A move of a sandbox clock as its workflow takes it, once per request. Throws Forbidden for live projects, whose
 * clocks the database does not move either (rules 23.4).
 */
export function clockMoveOf(
  { caller, idempotency_key }: MerchantContext,
  { advance, to }: { advance?: string | undefined; to?: string | undefined },
): MoveClockInput {
  const { project } = caller;
  if (!project.is_test) throw new ServiceError('Forbidden', 'Only the clocks of test projects can be moved.');
  const move: ClockMove = advance === undefined ? { to: Date.parse(to ?? '') } : { advance_ms: parseDuration(advance) };
  return { request_id: clockMoveId({ idempotency_key, id_namespace: project.id_namespace }), move };
}
