import type { Database } from '../db/query';
import { findChecks, type Check } from '../db/recovery/checks';
import type { LinkCheck, OrderCheck, SourceName } from '../db/recovery/sources';
import type { PagePosition } from '../db/pages';
import type { Logger } from '../log';
import { incrementCounter } from '../metrics/recorder';
import { callOnce } from '../temporal/call';
import { isServiceError } from '../temporal/call-errors';
import { pingTemporal, type TemporalClient } from '../temporal/connect';
import { countStarts } from '../temporal/starts';
import type { WorkflowClients } from '../temporal/workflows';

/** Checks at once. One mostly waits for Temporal; more would take connections to Postgres from payments. */
export const CHECKS_AT_ONCE = 16;
const PAGE = 1_000;
/** Limit of a call: Temporal without an answer must not delay the end of the process. Milliseconds. */
const CALL_MS = 5_000;

export interface RecoveryServices {
  db: Database;
  client: TemporalClient;
  workflows: Pick<
    WorkflowClients,
    'orders' | 'follow_ups' | 'payment_links' | 'deliveries' | 'webhook_recoveries' | 'erasures' | 'sandbox_clocks'
  >;
  log: Logger;
  /** The build of this process: no work while another one is current. */
  build?: string;
}

/** A check. `only_start`: starts a missing workflow of an order, link or webhook, and does not signal one that runs. */
type CheckToMake<Name extends SourceName> = Check<Name> & { only_start: boolean };
type Handlers = { [Name in SourceName]: (check: CheckToMake<Name>) => Promise<void> };

/** The rows of a source to check: those that fall due for a check between `since` and `until`, epoch milliseconds. */
export interface RowsToCheck {
  since: number;
  until: number;
  after: PagePosition | null;
  /**
   * Only rows whose instant is in that time: missing workflows are started, and no order, link or webhook is signalled.
   */
  only_start?: boolean;
}

/** How a check ended: the workflow was running or was signalled, was missing, or could not be called. */
export type CheckResult = 'checked' | 'restarted' | 'failed';

/** Checks rows: starts or signals the workflow of each, several at once. Repeat-safe (rules 10.13). */
export class RowChecks {
  private readonly handlers: Handlers;

  /**
   * `mayGoOn`: asked before each check. `ended`: told of each that was made. `unavailable`: told why one could not be
   * made, as Temporal does not answer.
   */
  constructor(
    private readonly services: RecoveryServices,
    private readonly options: {
      mayGoOn: () => Promise<boolean>;
      ended?: (name: SourceName, result: CheckResult) => void;
      unavailable?: (error: Error) => void;
    },
  ) {
    this.handlers = handlersOf(services.workflows);
  }

  /**
   * Checks all of these rows. `reached`: told after each page up to where all rows were checked, and when it has to
   * stop. `false`: it had to stop, as Temporal does not answer or it may not go on. Throws when the database is
   * unavailable.
   */
  async checkAll<Name extends SourceName>(
    name: Name,
    { after: begin, only_start = false, ...due }: RowsToCheck,
    reached: (position: PagePosition | null) => Promise<void> = () => Promise.resolve(),
  ): Promise<boolean> {
    let after = begin;
    for (;;) {
      const page = await findChecks(this.services.db, name, { ...due, after, limit: PAGE });
      const checks = page.filter(({ is_first }) => is_first || !only_start).map((check) => ({ ...check, only_start }));
      const made = await this.checkPage(name, checks);
      const is_complete = made === checks.length;
      after = (is_complete ? page.at(-1) : checks[made - 1])?.position ?? after;
      if (is_complete && page.length < PAGE) return true;
      await reached(after);
      if (!is_complete) return false;
    }
  }

  /**
   * Returns how many rows were checked, counted from the first to the first that could not be. Some after that one may
   * have been checked too.
   */
  private async checkPage<Name extends SourceName>(name: Name, page: readonly CheckToMake<Name>[]): Promise<number> {
    let next = 0;
    let end = page.length;
    const checkNext = async () => {
      while (next < end) {
        const n = next;
        next += 1;
        let is_made = false;
        try {
          is_made = await this.check(name, page[n]!);
        } finally {
          // Also after an error: the others end with the check that they have begun.
          if (!is_made) end = Math.min(end, n);
        }
      }
    };
    const ended = await Promise.allSettled(Array.from({ length: CHECKS_AT_ONCE }, checkNext));
    for (const result of ended) if (result.status === 'rejected') throw result.reason;
    return end;
  }

  /**
   * Checks one row. A failure is logged, and the row waits for its next check, which may be hours later: where Temporal
   * did not answer and does by now, there is a second try. `false` when Temporal does not answer, or it may not go on.
   */
  private async check<Name extends SourceName>(
    name: Name,
    check: CheckToMake<Name>,
    is_second_try = false,
  ): Promise<boolean> {
    const { client, log } = this.services;
    if (!(await this.options.mayGoOn())) return false;
    try {
      const started = await countStarts(() => callOnce(client, Date.now() + CALL_MS, () => this.handlers[name](check)));
      this.ended(name, started > 0 ? 'restarted' : 'checked');
    } catch (error) {
      const is_available = await pingTemporal(client).then(
        () => true,
        () => false,
      );
      if (!is_available) {
        this.options.unavailable?.(error as Error);
        return false;
      }
      if (!is_second_try && isServiceError(error, 'ServiceUnavailable')) return await this.check(name, check, true);
      this.ended(name, 'failed');
      log.warn({ err: error, source: name, key: check.key }, 'recovery could not restart a workflow');
    }
    return true;
  }

  private ended(source: SourceName, result: CheckResult): void {
    incrementCounter('payments_recovery_checks_total', { source, result });
    this.options.ended?.(source, result);
  }
}

type Continued<Row> = { row: Row } & Pick<CheckToMake<SourceName>, 'is_first' | 'only_start'>;

/** The call that continues a row of each source. */
function handlersOf({
  orders,
  follow_ups,
  payment_links,
  deliveries,
  webhook_recoveries,
  erasures,
  sandbox_clocks,
}: RecoveryServices['workflows']): Handlers {
  // First check: signal, so that a running workflow reads the record. Later checks: only start a missing workflow.
  // While a creation may run, never signal.
  const continueOrder = ({ row, is_first, only_start }: Continued<OrderCheck>) =>
    is_first && !only_start && !row.is_being_created ? orders.resume(row) : orders.start(row);
  // A running workflow may know nothing of the attempt, and may not have got the first signal.
  const continueAttempt = ({ row }: Continued<OrderCheck>) => continueOrder({ row, is_first: true, only_start: false });
  const continueLink = ({ row, only_start }: Continued<LinkCheck>) =>
    only_start ? payment_links.start(row) : payment_links.resume(row);
  return {
    attempts: continueAttempt,
    expired_orders: continueOrder,
    expired_transactions: continueOrder,
    unknown_outcomes: continueAttempt,
    async authorizations(check) {
      const { order_id, status, has_follow_ups } = check.row;
      // Without a follow-up order nothing but the workflow itself has changed the row.
      if (!has_follow_ups && (await orders.isRunningWith(order_id, status))) return;
      await continueOrder(check);
    },
    capture_windows: continueOrder,
    follow_ups: ({ row }) => follow_ups.start(row),
    late_approvals: ({ row }) => follow_ups.resumeWatch(row),
    announced_operations: ({ row }) => follow_ups.resumeAnnounced(row),
    payment_links: continueLink,
    expired_payment_links: continueLink,
    // The workflow may be running and may have missed the resume.
    deliveries: ({ row, only_start }) => (only_start ? deliveries.start(row) : deliveries.resume(row)),
    webhook_recoveries: ({ row }) => webhook_recoveries.resume(row),
    erasures: ({ row }) => erasures.start(row),
    sandbox_clocks: ({ row }) => sandbox_clocks.start(row),
  };
}
