import { objectIdOf } from '../../workflows/messages';
import type { Logger } from '../log';
import { HOUR_MS } from '../domain/period';
import { callOnce } from '../temporal/call';
import { isAnswered, isServiceError } from '../temporal/call-errors';
import type { TemporalClient } from '../temporal/connect';
import { KINDS } from '../temporal/kinds';
import { ALL_OPEN, ofTypes } from '../temporal/visibility';
import type { WorkflowClients } from '../temporal/workflows';

/** Set by Temporal after five failed attempts of a task, about a minute after the first; gone once a task is done. */
const PROBLEMS = 'TemporalReportedProblems';

/** Workflows that receive updates: only their history can record events in another order than the worker handled them. */
const TYPES = { order: KINDS.order.type, follow_up: KINDS.follow_up.type, payment_link: KINDS.payment_link.type };

const UNREPLAYABLE = [
  ALL_OPEN,
  `${PROBLEMS} = 'cause=WorkflowTaskFailedCauseNonDeterministicError'`,
  ofTypes(Object.values(TYPES)),
].join(' and ');

/** Runs that one round restarts. */
const RUNS_MAX = 100;
/** Time limit of a call of Temporal. Milliseconds. */
const CALL_MS = 8_000;
/** One whose history does not replay again so soon waits for an operator, who has the alert. Milliseconds. */
const AGAIN_AFTER_MS = HOUR_MS;

interface UnreplayableRun {
  workflow_id: string;
  run_id: string;
  type: string;
}

/** The services that a restart needs. */
interface Services {
  client: TemporalClient;
  workflows: Pick<WorkflowClients, 'orders' | 'follow_ups' | 'payment_links'>;
  log: Logger;
}

/**
 * Workflows whose histories their workers cannot replay. Each is terminated and goes on from its record, at most once an
 * hour (rules 10.13).
 */
export class UnreplayableWorkflows {
  private readonly restarted_at = new Map<string, number>();

  /** `mayGoOn`: asked before each restart. */
  constructor(
    private readonly services: Services,
    private readonly mayGoOn: () => Promise<boolean>,
  ) {}

  /** Restarts those that Temporal lists. Rejects when it does not answer. `now` in epoch milliseconds. */
  async restart(now: number): Promise<void> {
    const { client, log } = this.services;
    for (const [id, at] of this.restarted_at) if (at < now - AGAIN_AFTER_MS) this.restarted_at.delete(id);
    for (const run of await client.withDeadline(Date.now() + CALL_MS, () => this.list())) {
      const { workflow_id, run_id } = run;
      if (!(await this.mayGoOn())) return;
      try {
        await callOnce(client, Date.now() + CALL_MS, async () => {
          if (!(await this.isStuck(run)) || !(await this.restartRun(run))) return;
          this.restarted_at.set(workflow_id, now);
          log.warn({ workflow_id, run_id }, 'the history of a workflow does not replay: it starts again');
        });
      } catch (err) {
        if (!isAnswered(err) || isServiceError(err, 'ServiceUnavailable')) throw err;
        log.warn({ err, workflow_id }, 'recovery could not restart a workflow whose history does not replay');
      }
    }
  }

  /** Those that may be restarted, RUNS_MAX at most. */
  private async list(): Promise<UnreplayableRun[]> {
    const runs: UnreplayableRun[] = [];
    for await (const { workflowId, runId, type } of this.services.client.workflow.list({ query: UNREPLAYABLE })) {
      if (this.restarted_at.has(workflowId)) continue;
      runs.push({ workflow_id: workflowId, run_id: runId, type });
      if (runs.length === RUNS_MAX) break;
    }
    return runs;
  }

  /** Lists are a second behind: it may have gone on, as after the repair of a release. */
  private async isStuck({ workflow_id, run_id }: UnreplayableRun): Promise<boolean> {
    const { raw } = await this.services.client.workflow.getHandle(workflow_id, run_id).describe();
    return raw.workflowExecutionInfo?.searchAttributes?.indexedFields?.[PROBLEMS] !== undefined;
  }

  private async restartRun({ workflow_id, run_id, type }: UnreplayableRun): Promise<boolean> {
    const { orders, follow_ups, payment_links } = this.services.workflows;
    const id = objectIdOf(workflow_id);
    if (type === TYPES.payment_link) return await payment_links.restart(id, run_id);
    return await (type === TYPES.order ? orders : follow_ups).restart(id, run_id);
  }
}
