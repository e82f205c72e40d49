import { findOrderOfTransaction, findManualOutcome, type ManualOutcomeEntry } from '../db/orders/manual-outcomes';
import { requireReconciled } from '../db/backups/restores';
import type { AcceptedRequest } from '../domain/accepted-request';
import type { ManualOutcome } from '../domain/outcome';
import { isAttemptOpen } from '../domain/order';
import { ServiceError } from '../errors';
import type { TemporalAccess } from './call';
import { isServiceError } from './call-errors';
import type { FollowUpWorkflows } from './follow-ups';
import type { OrderWorkflows } from './orders';

/** An outcome that an operator sets at the command line. */
export interface RequestedOutcome extends ManualOutcome {
  transaction_id: string;
  /** The name of the operator. */
  operator: string;
}

/** Outcomes that an operator sets at the command line (rules 10.14). */
export class ManualOutcomes {
  constructor(
    private readonly temporal: TemporalAccess,
    private readonly orders: OrderWorkflows,
    private readonly follow_ups: FollowUpWorkflows,
  ) {}

  /**
   * Sets the outcome of a transaction through the workflow of its order, which polls the processor first. Returns the
   * entry of the audit trail: the earlier one if the same outcome was set before. Throws NotFound; Conflict when the
   * outcome is not awaited, another one was set, or a restore has to be reconciled first; ServiceUnavailable without an answer by the deadline.
   */
  async setOutcome(outcome: RequestedOutcome, request: AcceptedRequest): Promise<ManualOutcomeEntry> {
    const { db } = this.temporal;
    const { transaction_id } = outcome;
    await requireReconciled(db);
    const found = await findOrderOfTransaction(db, transaction_id);
    if (found === undefined) throw new ServiceError('NotFound', 'The transaction does not exist.');
    const earlier = await findManualOutcome(db, transaction_id);
    if (earlier !== undefined) return requireSame(earlier, outcome);
    if (!isAttemptOpen(found.status)) {
      throw new ServiceError('Conflict', `There is no outcome to set. The transaction is ${found.status}.`);
    }
    const refusal = await this.send(found, outcome, request);
    const entry = await findManualOutcome(db, transaction_id);
    if (entry !== undefined) return requireSame(entry, outcome);
    throw (
      refusal ??
      new ServiceError(
        'ServiceUnavailable',
        'No worker has answered in time, and the outcome may be set later. Send the same command again.',
      )
    );
  }

  /**
   * Resolves with a Conflict instead of throwing it: an earlier attempt, whose answer was lost, may have set the
   * outcome.
   */
  private async send(
    { order_id, is_payment }: { order_id: string; is_payment: boolean },
    outcome: RequestedOutcome,
    request: AcceptedRequest,
  ): Promise<ServiceError | undefined> {
    const input = { ...outcome, command_line: { request_id: request.request_id } };
    try {
      await (is_payment ? this.orders : this.follow_ups).setOutcome(order_id, input, request);
      return undefined;
    } catch (error) {
      if (isServiceError(error, 'Conflict')) return error;
      throw error;
    }
  }
}

/** Throws Conflict when another outcome was set before. */
function requireSame(entry: ManualOutcomeEntry, { outcome }: ManualOutcome): ManualOutcomeEntry {
  if (entry.after.outcome === outcome) return entry;
  throw new ServiceError(
    'Conflict',
    `The outcome was set by hand as ${entry.after.outcome} at ${new Date(entry.at).toISOString()} by ${entry.actor_id}.`,
  );
}
