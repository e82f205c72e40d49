import type { Actor } from '../../src/db/projects/audit-trail';
import type { Logger } from '../../src/log';
import type { Caller, RequestContext } from '../operation';

/** Who changes something, on either host, and with which request. */
export interface ChangeAuthor {
  actor: Actor;
  request_id: string;
  log: Logger;
}

/** The caller of a request as the author of its change. */
export const authorOf = ({ caller, request, log }: RequestContext<Caller & { actor: Actor }>): ChangeAuthor => ({
  actor: caller.actor,
  request_id: request.request_id,
  log,
});
