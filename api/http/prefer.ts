import type { Request, Response } from 'express';
import type { WaitPreference } from '../operation';
import { noteAnswer } from './answered-request';
import { isKnown } from './etag';

/** The longest wait that a request may prefer, in seconds (rules 5.12). */
const WAIT_SECONDS_MAX = 60;

/**
 * A preference of the header: text up to a comma that is not quoted. A quotation mark without its end quotes the rest:
 * the search never goes back, and takes time in proportion to the length.
 */
const PREFERENCES = /(?:[^,"]|"(?:[^"\\]|\\.)*(?:"|\\?$))+/g;

/**
 * The seconds of the preference `wait` in the header Prefer (RFC 7240). Undefined without one, and for a value that is
 * not 1 to 60: such a preference is ignored, as is every other one. Of several the first counts.
 */
export function waitSecondsOf(prefer: string | undefined): number | undefined {
  for (const preference of prefer?.match(PREFERENCES) ?? []) {
    const [name, value = ''] = preference
      .split(';')[0]!
      .split('=', 2)
      .map((part) => part.trim());
    if (name?.toLowerCase() !== 'wait') continue;
    const seconds = Number(/^("?)([1-9]\d?)\1$/.exec(value)?.[2]);
    return seconds <= WAIT_SECONDS_MAX ? seconds : undefined;
  }
  return undefined;
}

/** The wait that a request prefers, from its arrival (epoch milliseconds). */
export function waitPreferenceOf(
  request: Request,
  response: Response,
  { received_at, restored_at }: { received_at: number; restored_at: number },
): WaitPreference | undefined {
  const seconds = waitSecondsOf(request.get('prefer'));
  if (seconds === undefined) return undefined;
  const { socket } = request;
  const known = request.headers['if-none-match'];
  return {
    until: received_at + seconds * 1_000,
    isOutdated: (version) => known !== undefined && !isKnown(known, version, restored_at),
    hasLeft: () => socket.destroyed,
    onLeave: (leave) => {
      response.once('close', leave);
      return () => response.off('close', leave);
    },
    apply: () => response.setHeader('Preference-Applied', `wait=${seconds}`),
    begin: () => {
      const began = performance.now();
      const { timeout = 0 } = socket;
      // A connection is closed when nothing is sent on it for too long; an answer that waits is not.
      if (timeout > 0) socket.setTimeout(timeout + seconds * 1_000);
      return () => {
        socket.setTimeout(timeout);
        noteAnswer(response, { waited_ms: Math.round(performance.now() - began) });
      };
    },
  };
}
