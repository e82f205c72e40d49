import { v7 as uuidv7 } from 'uuid';
import type { WebhookRecoveryAnswer } from '../../src/contract/webhook-recovery';
import type { Database, SqlTransaction } from '../../src/db/query';
import type { ListPage } from '../../src/db/pages';
import {
  countToRecover,
  findWebhookRecovery,
  insertWebhookRecovery,
  lockWebhookRecovery,
  moveWebhookRecovery,
  type RecoveredTime,
  type StoredWebhookRecovery,
} from '../../src/db/webhooks/recoveries';
import { OPEN_WEBHOOK_RECOVERY_STATUSES } from '../../src/domain/transitions';
import {
  afterRecoveryRequest,
  recoveryTimeProblem,
  type WebhookRecoveryRequest,
} from '../../src/domain/webhook-recovery';
import { validationError } from '../../src/errors';
import type { WorkflowClients } from '../../src/temporal/workflows';
import { toIsoTime } from '../../src/time';
import { ConcurrencyLimit } from '../http/concurrency-limit';
import type { Write } from '../operation';
import { formatTimestamp } from '../present/format';
import { audited, changeOf, type Changed } from './audited';
import type { ChangeAuthor } from './author';
import { tellWorkflow } from './tell-workflow';

/** The services of recoveries, on either host. */
export interface WebhookRecoveryServices {
  db: Database;
  webhook_recoveries: Pick<WorkflowClients['webhook_recoveries'], 'start' | 'resume'>;
}

/**
 * Starts a recovery of a project's webhooks (rules 13.16). The row, its entry in the audit trail and the answer are
 * written at once; then its workflow is started. Where that fails `src/recovery` starts it. Throws
 * ValidationError for a wrong time; the work throws Conflict while another one is open.
 */
export async function startWebhookRecovery(
  services: WebhookRecoveryServices,
  project_id: string,
  time: { since: string; until?: string | undefined },
  by: ChangeAuthor,
): Promise<Write<WebhookRecoveryAnswer>> {
  const { webhook_recoveries } = services;
  const now = Date.now();
  const since = Date.parse(time.since);
  const until = time.until === undefined ? now : Math.min(Date.parse(time.until), now);
  const problem = recoveryTimeProblem({ since, until }, now);
  if (problem !== undefined) throw validationError(problem.path, problem.text);
  const id = uuidv7();
  const row = { id, project_id, since: toIsoTime(since), until: toIsoTime(until), request_id: by.request_id };
  const remaining = await remainingOf(services, { ...row, position: null }, by);
  return {
    ...audited(services, by, async (trx) => {
      await insertWebhookRecovery(trx, row, new Date(now));
      return await changed(trx, id, { request: 'start', remaining });
    }),
    async afterCommit() {
      await tellWorkflow(by.log, 'recovery will start the workflow of the webhook recovery', (deadline_at) =>
        webhook_recoveries.start({ recovery_id: id, project_id }, deadline_at),
      );
    },
  };
}

/** Pauses, resumes or stops a recovery (rules 13.18). The work throws Conflict when it is not in a status that fits. */
export async function changeWebhookRecovery(
  services: WebhookRecoveryServices,
  recovery: StoredWebhookRecovery,
  request: WebhookRecoveryRequest,
  by: ChangeAuthor,
): Promise<Write<WebhookRecoveryAnswer>> {
  const { webhook_recoveries } = services;
  const { id, project_id } = recovery;
  const remaining = isOpen(recovery) ? await remainingOf(services, recovery, by) : 0;
  return {
    ...audited(services, by, async (trx, now) => {
      await lockWebhookRecovery(trx, id);
      const before = (await findWebhookRecovery(trx, id))!;
      const to = afterRecoveryRequest(before.status, request);
      await moveWebhookRecovery(trx, id, { to, now, ...(to === 'paused' && { paused_by: 'request' as const }) });
      return await changed(trx, id, { request, before, remaining });
    }),
    async afterCommit() {
      await tellWorkflow(by.log, 'the workflow of the recovery learns of the change later', (deadline_at) =>
        webhook_recoveries.resume({ recovery_id: id, project_id }, deadline_at),
      );
    },
  };
}

interface CarriedOut {
  request: WebhookRecoveryRequest | 'start';
  before?: StoredWebhookRecovery;
  /** Counted before: counting takes long, and the request changes no webhook. `undefined`: not known. */
  remaining: number | undefined;
}

/** The recovery after a request as the hosts show it, and the entry of the audit trail. */
async function changed(
  trx: SqlTransaction,
  id: string,
  { request, before, remaining }: CarriedOut,
): Promise<Changed<WebhookRecoveryAnswer>> {
  const stored = (await findWebhookRecovery(trx, id))!;
  const answer = shownRecovery(stored, remaining);
  const shown = { ...(before && { before: shownRecovery(before, remaining) }), after: answer };
  return { answer, change: changeOf(`webhook_recovery.${request}`, stored, shown) };
}

/** A recovery as both hosts show it; without `remaining` where that cannot be counted. */
export async function presentWebhookRecovery(
  db: Database,
  recovery: StoredWebhookRecovery,
  count = countToRecover,
): Promise<WebhookRecoveryAnswer> {
  if (!isOpen(recovery)) return shownRecovery(recovery, 0);
  return shownRecovery(recovery, await count(db, recovery, Date.now()).catch(() => undefined));
}

const isOpen = ({ status }: StoredWebhookRecovery) => OPEN_WEBHOOK_RECOVERY_STATUSES.includes(status);

/** Counting takes long: one at a time for a project, so that its requests do not take the connections of others. */
const COUNTS = new ConcurrencyLimit({
  what: 'requests about recoveries of webhooks',
  per_caller: { running: 1, waiting: 20 },
  running: 3,
});

/** Counts once it is the project's turn. Rejects with the reason of `signal`, and counts no more if it waits by then. */
export const countInTurn =
  (signal: AbortSignal | undefined): typeof countToRecover =>
  (db, recovery, now) =>
    COUNTS.run(recovery.project_id, () => countToRecover(db, recovery, now), signal);

/** How long a change of a recovery waits for the count, in milliseconds; nearly always it is there at once. */
const REMAINING_MS = 2_000;

/** How many webhooks a recovery is still to send; `undefined` when that is not known in time. */
async function remainingOf(
  { db }: WebhookRecoveryServices,
  recovery: RecoveredTime,
  { log }: ChangeAuthor,
): Promise<number | undefined> {
  const late = AbortSignal.timeout(REMAINING_MS);
  try {
    return await countInTurn(late)(db, recovery, Date.now());
  } catch (error) {
    log.warn({ err: error }, 'the answer about the recovery leaves out how many webhooks remain');
    return undefined;
  }
}

function shownRecovery(recovery: StoredWebhookRecovery, remaining: number | undefined): WebhookRecoveryAnswer {
  const { id, project_id, status, paused_by, sent, delivered, completed } = recovery;
  const shown = isOpen(recovery) ? remaining : 0;
  return {
    id,
    project_id,
    since: formatTimestamp(recovery.since),
    until: formatTimestamp(recovery.until),
    status,
    ...(paused_by !== null && { paused_by }),
    ...(shown !== undefined && { remaining: shown }),
    sent,
    delivered,
    created: formatTimestamp(recovery.created),
    modified: formatTimestamp(recovery.modified),
    ...(completed !== null && { completed: formatTimestamp(completed) }),
  };
}

/** A page of recoveries. */
export async function presentWebhookRecoveries(
  db: Database,
  { items, next }: ListPage<StoredWebhookRecovery>,
  count = countToRecover,
) {
  const shown: WebhookRecoveryAnswer[] = [];
  for (const recovery of items) shown.push(await presentWebhookRecovery(db, recovery, count));
  return { items: shown, ...(next !== undefined && { next }) };
}
