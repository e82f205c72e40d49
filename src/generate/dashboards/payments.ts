import { quantiles, query, rateBy, type Dashboard } from './spec';

/** Orders, outcomes, the processor and webhooks: is money moving? */
export const PAYMENTS_DASHBOARD: Dashboard = {
  name: 'payments',
  title: 'Payments',
  rows: [
    {
      title: 'Now',
      panels: [
        {
          title: 'Approved charges',
          description: 'Share of the payments whose outcome became known in the last 15 minutes.',
          unit: 'percentunit',
          kind: 'value',
          queries: [query('approved, {{environment}}', 'payments:charge_success:ratio_rate15m')],
        },
        {
          title: 'Unknown outcomes',
          description: 'Transactions that the processor has not decided, or whose answer was lost.',
          unit: 'short',
          kind: 'value',
          queries: [query('unknown', 'max(payments_unknown_outcomes)')],
        },
        {
          title: 'Oldest unknown outcome',
          description: 'Of a charge. More than 15 minutes: alert UnknownOutcomeOld.',
          unit: 's',
          kind: 'value',
          queries: [query('age', 'max(payments_unknown_outcome_oldest_age_seconds)')],
        },
        {
          title: 'Open differences in money',
          description: 'Incidents of the audit. Any: alert MoneyDiffers.',
          unit: 'short',
          kind: 'value',
          queries: [query('incidents', 'sum(max by (kind) (payments_incidents_open))')],
        },
      ],
    },
    {
      title: 'Transactions',
      panels: [
        {
          title: 'Payments by status',
          description: 'Moves of payments to a status, a second. error: declined or failed.',
          unit: 'ops',
          queries: rateBy('payments_transactions_total', ['status', 'environment'], '{kind="payment"}'),
        },
        {
          title: 'Approved share by payment method',
          description: 'One method far below the others: its network or its cards fail.',
          unit: 'percentunit',
          queries: [
            query(
              '{{payment_method}}',
              'sum by (payment_method) (rate(payments_transactions_total{kind="payment", status="accepted"}[15m])) / ' +
                'sum by (payment_method) (rate(payments_transactions_total{kind="payment", status=~"accepted|error"}[15m]))',
            ),
          ],
        },
        {
          title: 'Refunds, captures, voids, chargebacks',
          description: 'Follow-up orders that moved to a status, a second.',
          unit: 'ops',
          queries: rateBy('payments_transactions_total', ['kind', 'status'], '{kind!="payment"}'),
        },
      ],
    },
    {
      title: 'Processor',
      panels: [
        {
          title: 'Calls by result',
          description: 'unauthorized, unusable, timeout, unreachable: the outcome is asked for later.',
          unit: 'ops',
          queries: rateBy('payments_processor_calls_total', ['operation', 'result']),
        },
        {
          title: 'Duration of charges',
          description: 'Captures, voids and refunds included. Limit: PROCESSOR_TIMEOUT_MS.',
          unit: 's',
          queries: quantiles('payments_processor_call_duration_seconds', '{operation="execute"}'),
        },
        {
          title: 'Unknown outcomes',
          description: 'Falls when the processor answers polls.',
          unit: 'short',
          queries: [query('unknown', 'max(payments_unknown_outcomes)')],
        },
      ],
    },
    {
      title: 'Webhooks',
      panels: [
        {
          title: 'Attempts by result',
          description: 'Anything but delivered is attempted again, ten times in all.',
          unit: 'ops',
          queries: rateBy('payments_webhook_attempts_total', ['result']),
        },
        {
          title: 'Delay of first attempts',
          description: 'From the change of the order until the attempt begins. Objective: 99 of 100 within 5 s.',
          unit: 's',
          queries: quantiles('payments_webhook_attempt_delay_seconds', '{attempt="first"}'),
        },
        {
          title: 'Due webhooks',
          description: 'Webhooks whose attempt is due or in flight.',
          unit: 'short',
          queries: [
            query('due', 'max(payments_webhook_deliveries_due)'),
            query('in flight', 'sum(payments_webhook_attempts_in_flight)'),
          ],
        },
        {
          title: 'Webhooks given up',
          description: 'Failed after their last attempt, a second. Their merchants must be told.',
          unit: 'ops',
          queries: rateBy('payments_webhook_deliveries_total', ['environment'], '{status="failed"}'),
        },
      ],
    },
  ],
};
