import { MANAGE_API } from '../contract/manage/manage-api';
import { MERCHANT_API } from '../contract/merchant-api';
import { PAYMENT_METHODS } from '../contract/transaction';
import { ATTENTION_KINDS } from '../domain/attention';
import { FOLLOW_UP_KINDS } from '../domain/follow-up';
import { INCIDENT_KINDS } from '../domain/incident';
import { TRANSACTION_STATUSES } from '../domain/transitions';

/**
 * Every metric that the processes export, except those of Temporal's SDK (`temporal_…`). The table in
 * docs/operations.md is generated from it. Names and units follow the conventions of Prometheus: base units, counters
 * end in `_total`.
 */

/** The processes that export metrics. */
export type MetricsProcess = 'api' | 'manage' | 'worker';

/** The label value for everything that is not in a list. */
export const OTHER = 'other';

/**
 * The values of each label, so that none holds an id, an address or a text of clients. `null`: one value, which is the
 * same while the process runs.
 */
type Labels = Readonly<Record<string, readonly string[] | null>>;

export interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** What is measured, with the unit. */
  readonly help: string;
  readonly labels: Labels;
  readonly processes: readonly MetricsProcess[];
  /** Upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[];
  /** When it is exported, unless that is always. */
  readonly only?: string;
}

const metrics = <const M extends Readonly<Record<string, Metric>>>(all: M): M => all;

const ALL = ['api', 'manage', 'worker'] as const;
const HOSTS = ['api', 'manage'] as const;
const WORKER = ['worker'] as const;
const HOLDER_OF_RECOVERY = 'by the worker that holds the lease of recovery';

/** Seconds; with bounds at the objectives of the service: 1, 2 and 5 s. */
const SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 15] as const;
const LONG_SECONDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300] as const;

/** Operations beside those of the routes: pages and their forms, notifications and tokens. */
const OTHER_OPERATIONS = [
  'page_order',
  'page_order_form',
  'page_payment_link',
  'page_payment_link_form',
  'processor_notification',
  'create_token',
  OTHER,
] as const;

/** Some operations are on both hosts. */
const HTTP_OPERATIONS = [
  ...new Set([...Object.keys(MERCHANT_API.routes), ...Object.keys(MANAGE_API.routes), ...OTHER_OPERATIONS]),
];

/** Calls of the processor, as src/processor/client.ts names them. */
const PROCESSOR_OPERATIONS = [
  ...([
    'execute',
    'find',
    'vault_card',
    'vault_wallet',
    'vault_account',
    'get_card',
    'settlements',
    'reports',
  ] as const),
  OTHER,
] as const;

/** Status codes of answers; `other` for any further one. */
const STATUSES = [
  ...['200', '201', '202', '204', '303', '304'],
  ...['400', '401', '403', '404', '405', '409', '412', '413', '415', '422', '428', '429'],
  ...['500', '502', '503', '504', OTHER],
] as const;

/** The kinds of rows that recovery checks, as src/db/recovery/sources.ts names them. */
const RECOVERY_SOURCES = [
  'attempts',
  'expired_orders',
  'expired_transactions',
  'unknown_outcomes',
  'authorizations',
  'capture_windows',
  'follow_ups',
  'late_approvals',
  'announced_operations',
  'payment_links',
  'expired_payment_links',
  'deliveries',
  'webhook_recoveries',
  'erasures',
  'sandbox_clocks',
] as const;

const ENVIRONMENTS = ['test', 'live'] as const;

export const METRICS = metrics({
  payments_build_info: {
    type: 'gauge',
    help: 'Always 1: the version of the service and of Node.',
    labels: { process: ALL, version: null, node: null },
    processes: ALL,
  },
  payments_process_start_time_seconds: {
    type: 'gauge',
    help: 'When the process started, in seconds since 1970.',
    labels: {},
    processes: ALL,
  },
  payments_process_cpu_seconds_total: {
    type: 'counter',
    help: 'CPU time of the process, in seconds.',
    labels: { mode: ['user', 'system'] },
    processes: ALL,
  },
  payments_process_resident_memory_bytes: {
    type: 'gauge',
    help: 'Memory of the process, in bytes.',
    labels: {},
    processes: ALL,
  },
  payments_nodejs_heap_used_bytes: {
    type: 'gauge',
    help: 'Memory of the JavaScript objects of the main thread, in bytes.',
    labels: {},
    processes: ALL,
  },
  payments_nodejs_event_loop_delay_seconds: {
    type: 'gauge',
    help: 'How late timers of the main thread fired since the last scrape, in seconds.',
    labels: { statistic: ['p50', 'p99', 'max'] },
    processes: ALL,
  },

  payments_http_requests_total: {
    type: 'counter',
    help: 'Answered requests, health checks excepted. Status 0: the connection closed before an answer.',
    labels: {
      host: HOSTS,
      operation: HTTP_OPERATIONS,
      status: ['0', ...STATUSES],
    },
    processes: HOSTS,
  },
  payments_http_request_duration_seconds: {
    type: 'histogram',
    help: 'From the arrival of a request to its whole answer, without a wait that it prefers, in seconds.',
    labels: {
      host: HOSTS,
      operation: HTTP_OPERATIONS,
    },
    processes: HOSTS,
    buckets: SECONDS,
  },
  payments_http_requests_in_flight: {
    type: 'gauge',
    help: 'Requests without an answer so far.',
    labels: { host: HOSTS },
    processes: HOSTS,
  },
  payments_http_requests_refused_total: {
    type: 'counter',
    help: 'Requests refused by a limit of this process.',
    labels: { limit: ['caller_rate', 'concurrency', 'page_rate', 'form_rate', 'failed_sign_ins'] },
    processes: HOSTS,
  },
  payments_certificate_expiry_timestamp_seconds: {
    type: 'gauge',
    help: 'When a certificate of this process ends, in seconds since 1970: of https, or of its client of Temporal.',
    labels: { certificate: ['https', 'temporal_client'] },
    processes: ALL,
    only: 'with TLS_CERT_FILE or TEMPORAL_TLS_CLIENT_CERT_PATH',
  },

  payments_dependency_available: {
    type: 'gauge',
    help: 'Whether a dependency worked at the last check of readiness: 1 or 0.',
    labels: { dependency: ['postgres', 'temporal', 'worker'] },
    processes: ALL,
    only: 'once /health/ready was asked',
  },
  payments_clock_difference_seconds: {
    type: 'gauge',
    help: 'How far the clock of this machine is ahead of the clock of the database, in seconds; negative: behind.',
    labels: {},
    processes: ALL,
    only: 'once /health/ready was asked',
  },

  payments_db_pool_connections: {
    type: 'gauge',
    help: 'Open connections to Postgres.',
    labels: { pool: ['main', 'bulk', 'probe'], state: ['used', 'idle'] },
    processes: ALL,
  },
  payments_db_pool_connections_max: {
    type: 'gauge',
    help: 'How many connections to Postgres may be open.',
    labels: { pool: ['main', 'bulk', 'probe'] },
    processes: ALL,
  },
  payments_db_pool_waiting: {
    type: 'gauge',
    help: 'Statements and SQL transactions that wait for a connection.',
    labels: { pool: ['main', 'bulk', 'probe'] },
    processes: ALL,
  },
  payments_db_errors_total: {
    type: 'counter',
    help: 'SQL statements that failed, by class of the error; pool: no connection became free in time.',
    labels: {
      class: ['connection', 'pool', 'read_only', 'conflict', 'resources', 'timeout', 'shutdown', 'constraint', OTHER],
    },
    processes: ALL,
  },

  payments_transactions_total: {
    type: 'counter',
    help: 'Moves of transactions to a status. processing: the outcome is unknown; error: declined or failed.',
    labels: {
      kind: ['payment', ...FOLLOW_UP_KINDS],
      status: TRANSACTION_STATUSES,
      payment_method: [...PAYMENT_METHODS, 'credit-card-refund', OTHER],
      environment: ENVIRONMENTS,
    },
    processes: WORKER,
  },
  payments_unknown_outcomes: {
    type: 'gauge',
    help: 'Transactions whose outcome is unknown now; counted up to 10,000.',
    labels: {},
    processes: WORKER,
    only: HOLDER_OF_RECOVERY,
  },
  payments_unknown_outcome_oldest_age_seconds: {
    type: 'gauge',
    help: 'For how long the oldest unknown outcome of a charge has been unknown, in seconds; 0 without one.',
    labels: {},
    processes: WORKER,
    only: HOLDER_OF_RECOVERY,
  },

  payments_processor_calls_total: {
    type: 'counter',
    help: 'Calls of the processor. unauthorized: 401 or 403, as with a wrong key; refused: another 4xx; unusable: 5xx, or an answer that is not JSON over HTTP.',
    labels: {
      operation: PROCESSOR_OPERATIONS,
      result: ['answered', 'refused', 'unauthorized', 'unusable', 'timeout', 'unreachable'],
    },
    processes: ['api', 'worker'],
  },
  payments_processor_call_duration_seconds: {
    type: 'histogram',
    help: 'Duration of calls of the processor, in seconds.',
    labels: {
      operation: PROCESSOR_OPERATIONS,
    },
    processes: ['api', 'worker'],
    buckets: SECONDS,
  },

  payments_lease_holder: {
    type: 'gauge',
    help: 'Whether this worker holds a lease: 1 or 0. One worker should.',
    labels: { lease: ['recovery', 'search_indexer'] },
    processes: WORKER,
  },
  payments_recovery_checks_total: {
    type: 'counter',
    help: 'Rows that recovery has checked. restarted: their workflow was lost or closed and was started.',
    labels: {
      source: [...RECOVERY_SOURCES, OTHER],
      result: ['checked', 'restarted', 'failed'],
    },
    processes: WORKER,
  },
  payments_recovery_rounds_total: {
    type: 'counter',
    help: 'Rounds of recovery; failed: Postgres or Temporal was unavailable, and the next round continues.',
    labels: { result: ['finished', 'failed'] },
    processes: WORKER,
  },
  payments_recovery_behind_seconds: {
    type: 'gauge',
    help: 'Age of the instant until which recovery has checked all rows, in seconds. Up to 100 is normal.',
    labels: {},
    processes: WORKER,
    only: HOLDER_OF_RECOVERY,
  },

  payments_indexer_outbox_rows: {
    type: 'gauge',
    help: 'Changes of orders that the search index does not have yet; counted up to 100,000.',
    labels: {},
    processes: WORKER,
    only: HOLDER_OF_RECOVERY,
  },
  payments_indexer_outbox_oldest_age_seconds: {
    type: 'gauge',
    help: 'Age of the oldest such change, in seconds; 0 without one.',
    labels: {},
    processes: WORKER,
    only: HOLDER_OF_RECOVERY,
  },
  payments_indexer_refused_orders: {
    type: 'gauge',
    help: 'Orders that the search index has refused.',
    labels: {},
    processes: WORKER,
    only: HOLDER_OF_RECOVERY,
  },
  payments_indexer_orders_total: {
    type: 'counter',
    help: 'Changes of orders written to the search index, or refused by it.',
    labels: { result: ['written', 'refused'] },
    processes: WORKER,
  },
  payments_indexer_failures_total: {
    type: 'counter',
    help: 'Batches of changes that could not be written: the search index or Postgres was unavailable.',
    labels: {},
    processes: WORKER,
  },
  payments_indexer_batch_duration_seconds: {
    type: 'histogram',
    help: 'Duration of one batch, from reading the orders until the search index has them, in seconds.',
    labels: {},
    processes: WORKER,
    buckets: LONG_SECONDS,
  },
  payments_indexer_delay_seconds: {
    type: 'histogram',
    help: 'From the change of an order until it is found, in seconds, while searches are recent.',
    labels: {},
    processes: WORKER,
    buckets: LONG_SECONDS,
    only: 'once a change was written while searches were recent',
  },

  payments_incidents_open: {
    type: 'gauge',
    help: 'Open incidents: differences in money between the record and the processor.',
    labels: { kind: INCIDENT_KINDS },
    processes: WORKER,
    only: HOLDER_OF_RECOVERY,
  },

  payments_audit_behind_seconds: {
    type: 'gauge',
    help: 'Age of the instant until which the audit has compared all, in seconds. Up to 80 minutes is normal.',
    labels: {},
    processes: WORKER,
    only: HOLDER_OF_RECOVERY,
  },
  payments_settlements_behind_seconds: {
    type: 'gauge',
    help: 'Time since the settlements of the processor were last fetched to the end, in seconds.',
    labels: {},
    processes: WORKER,
    only: HOLDER_OF_RECOVERY,
  },

  payments_attentions_open: {
    type: 'gauge',
    help: 'Objects that an operator has to look at, 10,000 of a kind at most. webhook: it failed ten times.',
    labels: { kind: ATTENTION_KINDS },
    processes: WORKER,
    only: HOLDER_OF_RECOVERY,
  },

  payments_rolled_secret_expiry_timestamp_seconds: {
    type: 'gauge',
    help: 'When the first rolled API key, client secret or webhook secret that still works ends, in seconds since 1970.',
    labels: { kind: ['api_key', 'client_secret', 'webhook_secret'] },
    processes: WORKER,
    only: `${HOLDER_OF_RECOVERY}, while one works`,
  },
  payments_rolled_api_keys_in_use: {
    type: 'gauge',
    help: 'Rolled API keys that end within a day, and were used on a later day than that of the roll, since yesterday.',
    labels: {},
    processes: WORKER,
    only: HOLDER_OF_RECOVERY,
  },

  payments_webhook_attempts_total: {
    type: 'counter',
    help: 'Attempts to deliver a webhook. refused: the address is private and may not be used.',
    labels: {
      result: ['delivered', 'answered_3xx', 'answered_4xx', 'answered_5xx', 'timeout', 'no_answer', 'refused', OTHER],
      environment: ENVIRONMENTS,
    },
    processes: WORKER,
  },
  payments_webhook_deliveries_total: {
    type: 'counter',
    help: 'Webhooks that were delivered, or that failed after their last attempt.',
    labels: { status: ['delivered', 'failed'], environment: ENVIRONMENTS },
    processes: WORKER,
  },
  payments_webhook_attempt_duration_seconds: {
    type: 'histogram',
    help: 'Duration of attempts to deliver a webhook, in seconds.',
    labels: {},
    processes: WORKER,
    buckets: SECONDS,
  },
  payments_webhook_attempt_delay_seconds: {
    type: 'histogram',
    help: 'From the instant at which an attempt was due until it began, in seconds.',
    labels: { attempt: ['first', 'later'], environment: ENVIRONMENTS },
    processes: WORKER,
    buckets: LONG_SECONDS,
  },
  payments_webhook_attempts_in_flight: {
    type: 'gauge',
    help: 'Attempts of this worker without a result so far.',
    labels: {},
    processes: WORKER,
  },
  payments_processor_calls_deferred_total: {
    type: 'counter',
    help: 'Calls that were made as tasks of their own, as too many others were in flight: the processor is slow.',
    labels: {},
    processes: WORKER,
  },
  payments_webhook_attempts_deferred_total: {
    type: 'counter',
    help: 'Attempts that were not made at once, and wait for a slot: their receiver is slow, unknown or busy.',
    labels: {},
    processes: WORKER,
  },
  payments_webhook_deliveries_due: {
    type: 'gauge',
    help: 'Webhooks whose next attempt is due and has no result: in flight or waiting for a slot; counted up to 100,000.',
    labels: {},
    processes: WORKER,
    only: HOLDER_OF_RECOVERY,
  },
  payments_webhook_due_oldest_age_seconds: {
    type: 'gauge',
    help: 'For how long the oldest of them has been due, in seconds; 0 without one.',
    labels: {},
    processes: WORKER,
    only: HOLDER_OF_RECOVERY,
  },

  payments_temporal_updates_total: {
    type: 'counter',
    help: 'Requests that a workflow has to carry out. unknown: no answer in time; unavailable: nothing was carried out.',
    labels: {
      object: ['order', 'payment_link', OTHER],
      purpose: ['create', 'pay', 'change'],
      result: ['carried_out', 'refused', 'unknown', 'unavailable', 'failed'],
    },
    processes: ['api'],
  },
  payments_temporal_update_duration_seconds: {
    type: 'histogram',
    help: 'Duration of such requests, in seconds.',
    labels: { object: ['order', 'payment_link', OTHER], purpose: ['create', 'pay', 'change'] },
    processes: ['api'],
    buckets: SECONDS,
  },
  payments_temporal_poll_answer_age_seconds: {
    type: 'gauge',
    help: 'Time since Temporal last answered a poll of this worker, in seconds. Up to 60 is normal without tasks.',
    labels: {},
    processes: WORKER,
  },
  payments_workflow_thread_busy_seconds: {
    type: 'gauge',
    help: 'For how long the slowest workflow thread of this worker has not answered, in seconds; 0: none is busy.',
    labels: {},
    processes: WORKER,
  },
  payments_postgres_archive_age_seconds: {
    type: 'gauge',
    help: 'Time since Postgres last archived its log, in seconds.',
    labels: {},
    processes: WORKER,
    only: `${HOLDER_OF_RECOVERY}, where archive_mode of Postgres is on`,
  },
  payments_postgres_archive_failing: {
    type: 'gauge',
    help: 'Whether the last attempt of Postgres to archive its log failed: 1 or 0.',
    labels: {},
    processes: WORKER,
    only: `${HOLDER_OF_RECOVERY}, where archive_mode of Postgres is on`,
  },
  payments_backup_check_age_seconds: {
    type: 'gauge',
    help: 'Time since a backup of the record last passed admin backup check, or since the first check where none has, in seconds.',
    labels: {},
    processes: WORKER,
    only: `${HOLDER_OF_RECOVERY}, after the first check`,
  },
});

export type MetricName = keyof typeof METRICS;
type NameOf<T extends Metric['type']> = {
  [N in MetricName]: (typeof METRICS)[N]['type'] extends T ? N : never;
}[MetricName];
export type CounterName = NameOf<'counter'>;
export type GaugeName = NameOf<'gauge'>;
export type HistogramName = NameOf<'histogram'>;

type ValuesOf<V> = V extends readonly (infer Value extends string)[] ? Value : string;
/** The labels of a metric with one of their values each. */
export type LabelsOf<N extends MetricName> = {
  readonly [L in keyof (typeof METRICS)[N]['labels']]: ValuesOf<(typeof METRICS)[N]['labels'][L]>;
};
