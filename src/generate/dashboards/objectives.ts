import { query, quantiles, rateBy, type Dashboard } from './spec';

/** The windows of deploy/prometheus/recording.yml, shortest first. */
const WINDOWS = ['5m', '1h', '6h', '3d'] as const;

const OBJECTIVES = [
  {
    slo: 'paid_order',
    title: 'Paid orders answered within 2 s: 99 %',
    duration: {
      histogram: 'payments_http_request_duration_seconds',
      selector: '{operation=~"createOrder|page_.+_form"}',
    },
  },
  { slo: 'available', title: 'Requests answered without a server error: 99.95 %' },
  {
    slo: 'first_webhook_attempt',
    title: 'First attempts of webhooks within 5 s: 99 %',
    duration: { histogram: 'payments_webhook_attempt_delay_seconds', selector: '{attempt="first"}' },
    has_environment: true,
  },
  {
    slo: 'found',
    title: 'Changed orders found within 1 s: 99 %',
    duration: { histogram: 'payments_indexer_delay_seconds', selector: '' },
  },
] as const;

/** Objectives of the service: how much of each error budget is used, and how fast. */
export const OBJECTIVES_DASHBOARD: Dashboard = {
  name: 'objectives',
  title: 'Service level objectives',
  rows: OBJECTIVES.map((objective) => {
    const { slo, title } = objective;
    const of = `{slo="${slo}"}`;
    const lineOf = (name: string) => ('has_environment' in objective ? `${name}, {{environment}}` : name);
    return {
      title,
      panels: [
        {
          title: 'Missed in 3 days',
          description: 'Share of requests that missed the objective.',
          unit: 'percentunit' as const,
          kind: 'value' as const,
          queries: [query(lineOf('missed'), `payments:slo_errors:ratio_rate3d${of}`)],
        },
        {
          title: 'Burn rate',
          description:
            'How many times faster than allowed the budget is used. At 14.4 in an hour an operator is paged.',
          unit: 'short' as const,
          queries: WINDOWS.map((window) =>
            query(
              lineOf(window),
              `payments:slo_errors:ratio_rate${window}${of} / on (slo) group_left () payments:slo_budget${of}`,
            ),
          ),
        },
        {
          title: 'duration' in objective ? 'Duration' : 'Server errors',
          description:
            'duration' in objective ? 'What the objective measures.' : 'Requests answered with 5xx, a second.',
          unit: 'duration' in objective ? ('s' as const) : ('reqps' as const),
          queries:
            'duration' in objective
              ? quantiles(objective.duration.histogram, objective.duration.selector)
              : [
                  query(
                    'all',
                    'sum(rate(payments_http_request_results_total{result="server_error"}[$__rate_interval]))',
                  ),
                  ...rateBy('payments_http_requests_total', ['operation', 'status'], '{status=~"5.."}'),
                ],
        },
      ],
    };
  }),
};
