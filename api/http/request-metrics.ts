import { PAGES } from '../../src/domain/page-paths';
import type { LabelsOf, MetricsProcess } from '../../src/metrics/catalogue';
import { gauge, incrementCounter, measure } from '../../src/metrics/recorder';
import type { AnsweredRequest, OpenRequests, RequestObserver } from './answered-request';

/** Pages as metrics name them: a form is measured apart from the page that shows it. */
const PAGE_OPERATIONS: Readonly<Record<string, string>> = {
  [`page ${PAGES.order}`]: 'page_order',
  [`page ${PAGES.payment_link}`]: 'page_payment_link',
};

type Status = LabelsOf<'payments_http_requests_total'>['status'];

/** The operation of a request; `other` when it has none, as for an unknown path. */
function operationOf({ fields, method }: AnsweredRequest): string {
  const { operation = 'other' } = fields;
  const page = PAGE_OPERATIONS[operation];
  return page === undefined ? operation : `${page}${method === 'POST' ? '_form' : ''}`;
}

/** Counts the answers of a host and measures their duration; `open` are its requests without an answer so far. */
export function requestMetrics(host: Exclude<MetricsProcess, 'worker'>, open: OpenRequests): RequestObserver {
  gauge('payments_http_requests_in_flight', () => [{ value: open.count, labels: { host } }]);
  return (request) => {
    const operation = operationOf(request);
    // Any other status counts as `other`.
    const status = (request.was_sent ? String(request.status) : '0') as Status;
    incrementCounter('payments_http_requests_total', { host, operation, status });
    const result = status.startsWith('5') ? 'server_error' : 'no_server_error';
    incrementCounter('payments_http_request_results_total', { result });
    // A wait that the client asked for says nothing about how fast the service is.
    const ms = Math.max(0, request.ms - request.waited_ms);
    measure('payments_http_request_duration_seconds', { host, operation }, ms / 1_000);
  };
}
