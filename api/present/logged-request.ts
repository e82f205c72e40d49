import type { LoggedRequestAnswer } from '../../src/contract/request-log';
import type { LoggedRequest } from '../../src/db/requests/logged-requests';
import { formatTimestamp, omitNull } from './format';

/** A request of the log as the API shows it (rules 25.1). */
export function presentLoggedRequest(row: LoggedRequest): LoggedRequestAnswer {
  const { id, received, method, project_id: _, ...fields } = row;
  return {
    id,
    received: formatTimestamp(received),
    ...omitNull(fields),
    method: method as LoggedRequestAnswer['method'],
  };
}
