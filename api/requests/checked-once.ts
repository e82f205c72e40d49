import { ERRORS, ServiceError } from '../../src/errors';
import type { AcceptedRequest } from '../../src/domain/accepted-request';
import { keyMayBeSentAgain } from '../../src/temporal/call-errors';

/**
 * A first run may still start this long after it claimed its key: longer than any request lasts, and than the clocks of
 * two api processes differ. Milliseconds.
 */
const FIRST_RUN_MS = 60_000;

/**
 * Runs the checks of a creation. A repeat, of which neither an object nor a run under way was found, is refused like a
 * new request, unless its first run may still start: that run has passed the checks. Then, and when a check cannot be
 * made, it throws ServiceUnavailable, with Retry-After (rules 11.6).
 */
export async function checkedOnce<Result>(
  { is_repeat, first_received_at }: Pick<AcceptedRequest, 'is_repeat' | 'first_received_at'>,
  check: () => Promise<Result>,
): Promise<Result> {
  try {
    return await check();
  } catch (error) {
    if (!is_repeat || !(error instanceof ServiceError)) throw error;
    const may_start = Date.now() - first_received_at < FIRST_RUN_MS;
    throw may_start || ERRORS[error.error].status >= 500 ? keyMayBeSentAgain() : error;
  }
}
