import { quantiles, query, rateBy, type Dashboard } from './spec';

/** Requests, Temporal, Postgres, the loops of the workers and the processes: does everything work? */
export const OPERATION_DASHBOARD: Dashboard = {
  name: 'operation',
  title: 'Operation',
  rows: [
    {
      title: 'Requests',
      panels: [
        {
          title: 'Requests by status',
          description: 'Status 0: the client closed the connection before the answer.',
          unit: 'reqps',
          queries: rateBy('payments_http_requests_total', ['host', 'status']),
        },
        {
          title: 'Slowest operations',
          description: 'The duration that 99 of 100 requests stay below, of the five slowest operations.',
          unit: 's',
          queries: [
            query(
              '{{operation}}',
              'topk(5, histogram_quantile(0.99, sum by (le, operation) ' +
                '(rate(payments_http_request_duration_seconds_bucket[$__rate_interval]))))',
            ),
          ],
        },
        {
          title: 'Requests in flight and refused',
          description: 'Refused: by a limit of rate or concurrency, a second.',
          unit: 'short',
          queries: [
            query('in flight {{host}}', 'sum by (host) (payments_http_requests_in_flight)'),
            query('refused {{limit}}', 'sum by (limit) (rate(payments_http_requests_refused_total[$__rate_interval]))'),
          ],
        },
      ],
    },
    {
      title: 'Temporal',
      panels: [
        {
          title: 'Free slots',
          description: 'Zero: tasks wait. Again and again: alert NoFreeSlots.',
          unit: 'short',
          queries: [
            query(
              '{{task_queue}} {{worker_type}}',
              'sum by (task_queue, worker_type) (temporal_worker_task_slots_available)',
            ),
          ],
        },
        {
          title: 'Deferred',
          description: 'Made as tasks of their own, a second: the processor, or receivers of webhooks, are slow.',
          unit: 'ops',
          queries: [
            query('calls of the processor', 'sum(rate(payments_processor_calls_deferred_total[$__rate_interval]))'),
            query('webhooks', 'sum(rate(payments_webhook_attempts_deferred_total[$__rate_interval]))'),
          ],
        },
        {
          title: 'Schedule to start',
          description: 'How long 99 of 100 workflow tasks wait for a worker.',
          unit: 's',
          queries: quantiles('temporal_workflow_task_schedule_to_start_latency_seconds'),
        },
        {
          title: 'Updates by result',
          description: 'Requests that a workflow carries out. unknown: no answer in time.',
          unit: 'ops',
          queries: rateBy('payments_temporal_updates_total', ['purpose', 'result']),
        },
        {
          title: 'Failed workflow tasks',
          description: 'Any: alert WorkflowTasksFail.',
          unit: 'ops',
          queries: [
            query('failed', 'sum(rate(temporal_workflow_task_execution_failed_total[$__rate_interval])) or vector(0)'),
          ],
        },
      ],
    },
    {
      title: 'Postgres',
      panels: [
        {
          title: 'Connections in use',
          description: 'Share of the pool of each process that is in use.',
          unit: 'percentunit',
          queries: [
            query(
              '{{job}} {{instance}} {{pool}}',
              'sum by (job, instance, pool) (payments_db_pool_connections{state="used"}) / ' +
                'sum by (job, instance, pool) (payments_db_pool_connections_max)',
            ),
          ],
        },
        {
          title: 'Statements that wait for a connection',
          description: 'More than zero for long: alert PostgresPoolExhausted.',
          unit: 'short',
          queries: [query('{{job}} {{pool}}', 'sum by (job, pool) (payments_db_pool_waiting)')],
        },
        {
          title: 'Failed statements by class',
          description: 'constraint and conflict are part of normal work.',
          unit: 'ops',
          queries: rateBy('payments_db_errors_total', ['class']),
        },
      ],
    },
    {
      title: 'Backup',
      panels: [
        {
          title: 'Age of the archive',
          description: 'Time since Postgres last archived its log. Above 15 minutes: alert ArchiveOld.',
          unit: 's',
          queries: [query('archive', 'max(payments_postgres_archive_age_seconds)')],
        },
        {
          title: 'Failing archive',
          description: '1: the last attempt failed, alert ArchiveFails.',
          unit: 'short',
          queries: [query('failing', 'max(payments_postgres_archive_failing)')],
        },
        {
          title: 'Age of the last check',
          description: 'Time since the check of a backup last passed. Above 8 days: alert BackupCheckOld.',
          unit: 's',
          queries: [query('check', 'max(payments_backup_check_age_seconds)')],
        },
      ],
    },
    {
      title: 'Recovery and search index',
      panels: [
        {
          title: 'Lease holders',
          description: 'One for each lease. None: alert NoLeaseHolder.',
          unit: 'short',
          queries: [query('{{lease}}', 'sum by (lease) (payments_lease_holder)')],
        },
        {
          title: 'Recovery',
          description: 'How far recovery is behind. Up to 100 s is normal.',
          unit: 's',
          queries: [query('behind', 'max(payments_recovery_behind_seconds)')],
        },
        {
          title: 'Restarted workflows',
          description: 'Workflows that Temporal had lost, by kind of row, a second.',
          unit: 'ops',
          queries: rateBy('payments_recovery_checks_total', ['source'], '{result="restarted"}'),
        },
        {
          title: 'Search index behind',
          description: 'Age of the oldest change that searches do not show.',
          unit: 's',
          queries: [query('oldest change', 'max(payments_indexer_outbox_oldest_age_seconds)')],
        },
        {
          title: 'Changes for the search index',
          description: 'Waiting changes, and orders that the index has refused.',
          unit: 'short',
          queries: [
            query('waiting', 'max(payments_indexer_outbox_rows)'),
            query('refused', 'max(payments_indexer_refused_orders)'),
          ],
        },
        {
          title: 'Duration of a batch',
          description: 'From reading the orders until the index has them.',
          unit: 's',
          queries: quantiles('payments_indexer_batch_duration_seconds'),
        },
      ],
    },
    {
      title: 'Processes',
      panels: [
        {
          title: 'Targets that answer',
          description: '0: alert TargetDown.',
          unit: 'short',
          queries: [query('{{job}} {{instance}}', 'up{job=~"payments-.+"}')],
        },
        {
          title: 'Versions',
          description: 'Processes of each version. More than one version: an upgrade is under way.',
          unit: 'short',
          queries: [query('{{process}} {{version}}', 'count by (process, version) (payments_build_info)')],
        },
        {
          title: 'CPU',
          description: 'Cores in use.',
          unit: 'short',
          queries: rateBy('payments_process_cpu_seconds_total', ['job', 'instance']),
        },
        {
          title: 'Memory',
          description: 'Resident memory of each process.',
          unit: 'bytes',
          queries: [query('{{job}} {{instance}}', 'payments_process_resident_memory_bytes')],
        },
        {
          title: 'Delay of timers',
          description: 'How late timers of the main thread fire, 99 of 100. High: the process is overloaded.',
          unit: 's',
          queries: [query('{{job}} {{instance}}', 'payments_nodejs_event_loop_delay_seconds{statistic="p99"}')],
        },
        {
          title: 'Clock difference',
          description: 'To the clock of the database. More than 0.5 s: alert ClockWrong.',
          unit: 's',
          queries: [query('{{job}} {{instance}}', 'payments_clock_difference_seconds')],
        },
      ],
    },
  ],
};
