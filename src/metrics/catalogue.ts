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
  readonly only?: string | undefined;
}

const ALL = ['api', 'manage', 'worker'] as const;
const HOSTS = ['api', 'manage'] as const;
const WORKER = ['worker'] as const;

type Processes = Metric['processes'];

const counter = <const L extends Labels = {}>(processes: Processes, help: string, labels = {} as L) =>
  ({ type: 'counter', processes, help, labels }) as const satisfies Metric;

const gauge = <const L extends Labels = {}>(processes: Processes, help: string, labels = {} as L, only?: string) =>
  ({ type: 'gauge', processes, help, labels, only }) as const satisfies Metric;

const histogram = <const L extends Labels = {}>(
  buckets: readonly number[],
  processes: Processes,
  help: string,
  labels = {} as L,
  only?: string,
) => ({ type: 'histogram', buckets, processes, help, labels, only }) as const satisfies Metric;

/** A gauge of the worker that holds the lease of recovery. */
const figure = <const L extends Labels = {}>(help: string, labels = {} as L, condition = '') =>
  gauge(WORKER, help, labels, `by the worker that holds the lease of recovery${condition}`);

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

export const METRICS = {
  payments_build_info: gauge(ALL, 'Always 1: the version of the service and of Node.', {
    process: ALL,
    version: null,
    node: null,
  }),
  payments_process_start_time_seconds: gauge(ALL, 'When the process started, in seconds since 1970.'),
  payments_process_cpu_seconds_total: counter(ALL, 'CPU time of the process, in seconds.', {
    mode: ['user', 'system'],
  }),
  payments_process_resident_memory_bytes: gauge(ALL, 'Memory of the process, in bytes.'),
  payments_nodejs_heap_used_bytes: gauge(ALL, 'Memory of the JavaScript objects of the main thread, in bytes.'),
  payments_nodejs_event_loop_delay_seconds: gauge(
    ALL,
    'How late timers of the main thread fired since the last scrape, in seconds.',
    { statistic: ['p50', 'p99', 'max'] },
  ),

  payments_http_requests_total: counter(
    HOSTS,
    'Answered requests, health checks excepted. Status 0: the connection closed before an answer.',
    { host: HOSTS, operation: HTTP_OPERATIONS, status: ['0', ...STATUSES] },
  ),
  // For the objective available: both series begin at 0, so that a rate sees the first errors of a process.
  payments_http_request_results_total: counter(
    HOSTS,
    'Requests as in payments_http_requests_total, by result. server_error: their status is 5xx. Begins at 0.',
    { result: ['no_server_error', 'server_error'] },
  ),
  payments_http_request_duration_seconds: histogram(
    SECONDS,
    HOSTS,
    'From the arrival of a request to its whole answer, without a wait that it prefers, in seconds.',
    { host: HOSTS, operation: HTTP_OPERATIONS },
  ),
  payments_http_requests_in_flight: gauge(HOSTS, 'Requests without an answer so far.', { host: HOSTS }),
  payments_http_requests_refused_total: counter(HOSTS, 'Requests refused by a limit of this process.', {
    limit: ['caller_rate', 'concurrency', 'page_rate', 'form_rate', 'failed_sign_ins'],
  }),
  payments_certificate_expiry_timestamp_seconds: gauge(
    ALL,
    'When a certificate of this process ends, in seconds since 1970: of https, or of its client of Temporal.',
    { certificate: ['https', 'temporal_client'] },
    'with TLS_CERT_FILE or TEMPORAL_TLS_CLIENT_CERT_PATH',
  ),

  payments_dependency_available: gauge(
    ALL,
    'Whether a dependency worked at the last check of readiness: 1 or 0.',
    { dependency: ['postgres', 'temporal', 'worker'] },
    'once /health/ready was asked',
  ),
  payments_clock_difference_seconds: gauge(
    ALL,
    'How far the clock of this machine is ahead of the clock of the database, in seconds; negative: behind.',
    {},
    'once /health/ready was asked',
  ),

  payments_db_pool_connections: gauge(ALL, 'Open connections to Postgres.', {
    pool: ['main', 'bulk', 'probe'],
    state: ['used', 'idle'],
  }),
  payments_db_pool_connections_max: gauge(ALL, 'How many connections to Postgres may be open.', {
    pool: ['main', 'bulk', 'probe'],
  }),
  payments_db_pool_waiting: gauge(ALL, 'Statements and SQL transactions that wait for a connection.', {
    pool: ['main', 'bulk', 'probe'],
  }),
  payments_db_errors_total: counter(
    ALL,
    'SQL statements that failed, by class of the error; pool: no connection became free in time.',
    { class: ['connection', 'pool', 'read_only', 'conflict', 'resources', 'timeout', 'shutdown', 'constraint', OTHER] },
  ),

  payments_transactions_total: counter(
    WORKER,
    'Moves of transactions to a status. processing: the outcome is unknown; error: declined or failed.',
    {
      kind: ['payment', ...FOLLOW_UP_KINDS],
      status: TRANSACTION_STATUSES,
      payment_method: [...PAYMENT_METHODS, 'credit-card-refund', OTHER],
      environment: ENVIRONMENTS,
    },
  ),
  payments_unknown_outcomes: figure('Transactions whose outcome is unknown now; counted up to 10,000.'),
  payments_unknown_outcome_oldest_age_seconds: figure(
    'For how long the oldest unknown outcome of a charge has been unknown, in seconds; 0 without one.',
  ),

  payments_processor_calls_total: counter(
    ['api', 'worker'],
    'Calls of the processor. unauthorized: 401 or 403, as with a wrong key; refused: another 4xx; unusable: 5xx, or an answer that is not JSON over HTTP.',
    {
      operation: PROCESSOR_OPERATIONS,
      result: ['answered', 'refused', 'unauthorized', 'unusable', 'timeout', 'unreachable'],
    },
  ),
  payments_processor_call_duration_seconds: histogram(
    SECONDS,
    ['api', 'worker'],
    'Duration of calls of the processor, in seconds.',
    { operation: PROCESSOR_OPERATIONS },
  ),

  payments_lease_holder: gauge(WORKER, 'Whether this worker holds a lease: 1 or 0. One worker should.', {
    lease: ['recovery', 'search_indexer'],
  }),
  payments_recovery_checks_total: counter(
    WORKER,
    'Rows that recovery has checked. restarted: their workflow was lost or closed and was started.',
    { source: [...RECOVERY_SOURCES, OTHER], result: ['checked', 'restarted', 'failed'] },
  ),
  payments_recovery_rounds_total: counter(
    WORKER,
    'Rounds of recovery; failed: Postgres or Temporal was unavailable, and the next round continues.',
    { result: ['finished', 'failed'] },
  ),
  payments_recovery_behind_seconds: figure(
    'Age of the instant until which recovery has checked all rows, in seconds. Up to 100 is normal.',
  ),

  payments_indexer_outbox_rows: figure(
    'Changes of orders that the search index does not have yet; counted up to 100,000.',
  ),
  payments_indexer_outbox_oldest_age_seconds: figure('Age of the oldest such change, in seconds; 0 without one.'),
  payments_indexer_refused_orders: figure('Orders that the search index has refused.'),
  payments_indexer_orders_total: counter(WORKER, 'Changes of orders written to the search index, or refused by it.', {
    result: ['written', 'refused'],
  }),
  payments_indexer_failures_total: counter(
    WORKER,
    'Batches of changes that could not be written: the search index or Postgres was unavailable.',
  ),
  payments_indexer_batch_duration_seconds: histogram(
    LONG_SECONDS,
    WORKER,
    'Duration of one batch, from reading the orders until the search index has them, in seconds.',
  ),
  payments_indexer_delay_seconds: histogram(
    LONG_SECONDS,
    WORKER,
    'From the change of an order until it is found, in seconds, while searches are recent.',
    {},
    'once a change was written while searches were recent',
  ),

  payments_incidents_open: figure('Open incidents: differences in money between the record and the processor.', {
    kind: INCIDENT_KINDS,
  }),

  payments_audit_behind_seconds: figure(
    'Age of the instant until which the audit has compared all, in seconds. Up to 80 minutes is normal.',
  ),
  payments_settlements_behind_seconds: figure(
    'Time since the settlements of the processor were last fetched to the end, in seconds.',
  ),

  payments_attentions_open: figure(
    'Objects that an operator has to look at, 10,000 of a kind at most. webhook: it failed ten times.',
    { kind: ATTENTION_KINDS },
  ),

  payments_rolled_secret_expiry_timestamp_seconds: figure(
    'When the first rolled API key, client secret or webhook secret that still works ends, in seconds since 1970.',
    { kind: ['api_key', 'client_secret', 'webhook_secret'] },
    ', while one works',
  ),
  payments_rolled_api_keys_in_use: figure(
    'Rolled API keys that end within a day, and were used on a later day than that of the roll, since yesterday.',
  ),

  payments_webhook_attempts_total: counter(
    WORKER,
    'Attempts to deliver a webhook. refused: the address is private and may not be used.',
    {
      result: ['delivered', 'answered_3xx', 'answered_4xx', 'answered_5xx', 'timeout', 'no_answer', 'refused', OTHER],
      environment: ENVIRONMENTS,
    },
  ),
  payments_webhook_deliveries_total: counter(
    WORKER,
    'Webhooks that were delivered, or that failed after their last attempt.',
    { status: ['delivered', 'failed'], environment: ENVIRONMENTS },
  ),
  payments_webhook_attempt_duration_seconds: histogram(
    SECONDS,
    WORKER,
    'Duration of attempts to deliver a webhook, in seconds.',
  ),
  payments_webhook_attempt_delay_seconds: histogram(
    LONG_SECONDS,
    WORKER,
    'From the instant at which an attempt was due until it began, in seconds.',
    { attempt: ['first', 'later'], environment: ENVIRONMENTS },
  ),
  payments_webhook_attempts_in_flight: gauge(WORKER, 'Attempts of this worker without a result so far.'),
  payments_processor_calls_deferred_total: counter(
    WORKER,
    'Calls that were made as tasks of their own, as too many others were in flight: the processor is slow.',
  ),
  payments_webhook_attempts_deferred_total: counter(
    WORKER,
    'Attempts that were not made at once, and wait for a slot: their receiver is slow, unknown or busy.',
  ),
  payments_webhook_deliveries_due: figure(
    'Webhooks whose next attempt is due and has no result: in flight or waiting for a slot; counted up to 100,000.',
  ),
  payments_webhook_due_oldest_age_seconds: figure(
    'For how long the oldest of them has been due, in seconds; 0 without one.',
  ),

  payments_temporal_updates_total: counter(
    ['api'],
    'Requests that a workflow has to carry out. unknown: no answer in time; unavailable: nothing was carried out.',
    {
      object: ['order', 'payment_link', OTHER],
      purpose: ['create', 'pay', 'change'],
      result: ['carried_out', 'refused', 'unknown', 'unavailable', 'failed'],
    },
  ),
  payments_temporal_update_duration_seconds: histogram(SECONDS, ['api'], 'Duration of such requests, in seconds.', {
    object: ['order', 'payment_link', OTHER],
    purpose: ['create', 'pay', 'change'],
  }),
  payments_temporal_poll_answer_age_seconds: gauge(
    WORKER,
    'Time since Temporal last answered a poll of this worker, in seconds. Up to 60 is normal without tasks.',
  ),
  payments_workflow_thread_busy_seconds: gauge(
    WORKER,
    'For how long the slowest workflow thread of this worker has not answered, in seconds; 0: none is busy.',
  ),
  payments_postgres_archive_age_seconds: figure(
    'Time since Postgres last archived its log, in seconds.',
    {},
    ', where archive_mode of Postgres is on',
  ),
  payments_postgres_archive_failing: figure(
    'Whether the last attempt of Postgres to archive its log failed: 1 or 0.',
    {},
    ', where archive_mode of Postgres is on',
  ),
  payments_backup_check_age_seconds: figure(
    'Time since a backup of the record last passed admin backup check, or since the first check where none has, in seconds.',
    {},
    ', after the first check',
  ),
};

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
