import type { Response } from 'express';
import { ServiceError } from '../../src/errors';

/** What a request waits with for its turn. */
export interface RequestSignal {
  /** Aborted with TooManyRequests at the deadline, and once the answer was sent or the client has left. */
  readonly signal: AbortSignal;
  /** From now on only the client's leaving aborts it. */
  readonly endDeadline: () => void;
  /** Nothing aborts it any more. */
  readonly release: () => void;
}

/** The refusal of a list, search or report whose answer has not begun at its deadline. */
export const READ_NOT_IN_TIME =
  'The answer could not begin in time: other lists, searches and reports of the project may have had their turn first.';

/** The signal of a request. `deadline_at` in epoch milliseconds; `refusal`: the text of TooManyRequests. */
export function requestSignal(response: Response, deadline_at: number, refusal: string): RequestSignal {
  const late = new AbortController();
  const leave = () => {
    endDeadline();
    late.abort(new ServiceError('TooManyRequests', refusal));
  };
  const timer = setTimeout(leave, Math.max(0, deadline_at - Date.now()));
  const endDeadline = () => clearTimeout(timer);
  // A response gets to know of it once the connection is its own, which it is when its request is handled (inOrder).
  response.once('close', leave);
  if (response.req.socket.destroyed) leave();
  const release = () => {
    endDeadline();
    response.off('close', leave);
  };
  return { signal: late.signal, endDeadline, release };
}
