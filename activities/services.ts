import type { Config } from '../src/config';
import type { Database } from '../src/db/query';
import type { Logger } from '../src/log';
import type { Processor } from '../src/processor/client';
import type { SearchWriter } from '../src/search/writer';
import type { SecretKeys } from '../src/secrets';
import type { WorkflowClients } from '../src/temporal/workflows';
import type { AttemptLimits } from '../src/webhook/attempt-limits';
import type { PostWebhook } from '../src/webhook/post';

/**
 * The instant of the current try of an activity, epoch milliseconds by the workflow's clock. A later try gets a later
 * instant (withFailures).
 */
export interface TimeOfTry {
  now: number;
  /** performance.now() at that instant; set by withFailures. */
  now_monotonic?: number;
}

/** The receiver of events for operators, with the secret that signs them. */
export interface OperatorWebhook {
  url: string;
  /** Standard Webhooks, `whsec_…`. */
  secret: string;
}

/** External services that activities use; made once when the worker starts. */
export interface ActivityServices {
  db: Database;
  /** Of the webhook secrets in the database. */
  secrets: SecretKeys;
  processor: Processor;
  /** The workflows that activities start and signal. */
  workflows: {
    orders: Pick<WorkflowClients['orders'], 'resume' | 'recordChanged' | 'requestPoll' | 'advanceClock'>;
    follow_ups: Pick<
      WorkflowClients['follow_ups'],
      'start' | 'startReversal' | 'resumeWatch' | 'requestPoll' | 'advanceClock' | 'advanceReversalClock'
    >;
    deliveries: Pick<WorkflowClients['deliveries'], 'start' | 'advanceClock'>;
    payment_links: Pick<WorkflowClients['payment_links'], 'resume' | 'recordChanged' | 'advanceClock'>;
    incidents: Pick<WorkflowClients['incidents'], 'start' | 'resume'>;
    processor_notifications: Pick<WorkflowClients['processor_notifications'], 'settled'>;
    histories: Pick<WorkflowClients['histories'], 'delete' | 'closedFollowUps' | 'refusedOrders'>;
  };
  index: Pick<SearchWriter, 'documents' | 'orderIds' | 'count'>;
  postWebhook: PostWebhook;
  /** Decides which webhook attempts this worker makes inside a workflow task. */
  attempt_limits: AttemptLimits;
  /** Whether webhooks of test projects may go to private and loopback addresses. */
  webhook_private_addresses: boolean;
  /** Limits of the audit (rules 26.1, 26.2). */
  audit_margin_ms: number;
  audit_orders_per_second: number;
  /** Where events about incidents go; undefined: nowhere. */
  operator_webhook: OperatorWebhook | undefined;
  /** Address at which customers reach the hosted page. */
  public_url: string;
  log: Logger;
  /** Which webhook attempts log a line. */
  log_requests: Config['LOG_REQUESTS'];
}

/** The workflows of these kinds. */
export interface WorkflowsOf<Kinds extends keyof ActivityServices['workflows']> {
  workflows: Pick<ActivityServices['workflows'], Kinds>;
}
