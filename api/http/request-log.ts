import type { Config } from '../../src/config';
import type { Logger } from '../../src/log';
import type { RequestObserver } from './answered-request';

/**
 * Logs one line for each request: request id, method, status, milliseconds, and what `noteRequest` adds. Never a path,
 * a header or a body. `errors` logs answers from 400 on and those that were not sent whole; `none` logs nothing.
 */
export function requestLog(log: Logger, which: Config['LOG_REQUESTS']): readonly RequestObserver[] {
  if (which === 'none') return [];
  return [
    ({ request_id, trace_id, fields, method, status, ms, was_sent }) => {
      if (which === 'errors' && was_sent && status < 400) return;
      log.info(
        {
          ...fields,
          request_id,
          ...(trace_id !== undefined && { trace_id }),
          method,
          status,
          ms,
          ...(!was_sent && { is_incomplete: true }),
        },
        'request answered',
      );
    },
  ];
}
