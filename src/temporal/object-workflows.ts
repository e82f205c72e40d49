import { WithStartWorkflowOperation, type Client } from '@temporalio/client';
import type { SignalDefinition, UpdateDefinition, Workflow } from '@temporalio/common';
import type { AcceptedRequest } from '../domain/accepted-request';
import { CREATE_UPDATE_ID, clockAdvanced, recordChanged } from '../../workflows/messages';
import { callOnce, callThenRead, unlessClosed, type Purpose, type TemporalAccess } from './call';
import {
  RecordLost,
  isAnswered,
  isServiceError,
  isUndecidedUpdate,
  isWorkflowClosed,
  isWorkflowRefusal,
} from './call-errors';
import { startOptions, type Kind, type RecordedKind } from './kinds';

/** Calls shared by all kinds of objects that have a workflow; each kind has its own file. */

/** An update to a workflow. Two updates with the same `updateId` are carried out once. */
interface Update<Args extends unknown[]> {
  definition: UpdateDefinition<unknown, Args>;
  args: Args;
  updateId?: string;
}

/** Start options that join a running workflow of the object, and restart a closed or lost one from the record. */
function joinOrRestartOptions<Started>(kind: Kind<Started>, object: Started) {
  return {
    ...startOptions(kind, object),
    workflowIdConflictPolicy: 'USE_EXISTING' as const,
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
  };
}

/** A worker's call ends within this time: less than its activity may take, which is then tried again. Milliseconds. */
const WORKER_CALL_MS = 8_000;

/** Starts the object's workflow unless it is running. */
export async function startWorkflow<Started>(
  client: Client,
  kind: Kind<Started>,
  object: Started,
  options: { requestEagerStart?: boolean } = {},
): Promise<void> {
  await client.workflow.start(kind.type, { ...joinOrRestartOptions(kind, object), ...options });
}

/** Sends an update to the object's workflow, which starts unless it is running. `options`: other start options. */
export async function startAndUpdate<Started, Args extends unknown[]>(
  client: Client,
  { kind, object, ...options }: StartOptions<Started>,
  { definition, ...update }: Update<Args>,
): Promise<void> {
  await client.workflow.executeUpdateWithStart<Workflow, unknown, Args>(definition, {
    startWorkflowOperation: new WithStartWorkflowOperation(kind.type, {
      ...joinOrRestartOptions(kind, object),
      ...options,
    }),
    ...update,
  });
}

/**
 * Whether a request in time was refused as too late: it joined a workflow that ends because it has refused an earlier
 * request for the same object, such as a form of a link's page that is sent again.
 */
function isRefusalOfAnother(error: unknown, { begin_before }: AcceptedRequest): boolean {
  const is_in_time = begin_before !== undefined && Date.now() < begin_before;
  return is_in_time && isWorkflowRefusal(error, 'ServiceUnavailable');
}

/**
 * The id of an update that is sent again. Temporal stores the result of an update id, also of an earlier request that
 * came too late, or whose record was lost; this request is in time.
 */
export const newUpdateId = (updateId: string, { deadline_at }: AcceptedRequest) => `${updateId}:${deadline_at}`;

interface StartOptions<Started> {
  kind: Kind<Started>;
  object: Started;
  staticSummary?: string;
  workflowIdReusePolicy?: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE';
}

/** Starts and signals the workflows of a kind of objects. A call with a deadline throws ServiceUnavailable after it. */
export class ObjectWorkflows<Started, K extends Kind<Started> = Kind<Started>> {
  constructor(
    protected readonly temporal: TemporalAccess,
    protected readonly kind: K,
  ) {}

  /** Starts the object's workflow unless it is running. It continues from the record, however an earlier run ended. */
  async start(object: Started, deadline_at?: number): Promise<void> {
    const { client, worker_client, starts_eagerly: requestEagerStart = true } = this.temporal;
    if (worker_client === undefined) {
      return await callOnce(client, deadline_at, () => startWorkflow(client, this.kind, object));
    }
    await worker_client.withDeadline(deadline_at ?? Date.now() + WORKER_CALL_MS, () =>
      startWorkflow(worker_client, this.kind, object, { requestEagerStart }),
    );
  }

  /** Has the object's workflow read the record and continue from it. A closed or lost workflow restarts. */
  async resume(object: Started, deadline_at?: number): Promise<void> {
    await callOnce(this.temporal.client, deadline_at, () => this.signalOrStart(object, recordChanged));
  }

  /** Signals that the object's clock was advanced. A closed or lost workflow restarts from the record. */
  async advanceClock(object: Started): Promise<void> {
    await this.signalOrStart(object, clockAdvanced);
  }

  protected async signalOrStart(object: Started, signal: SignalDefinition): Promise<void> {
    const start = { ...startOptions(this.kind, object), workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const };
    await this.temporal.client.workflow.signalWithStart(this.kind.type, { ...start, signal });
  }
}

/**
 * Also creates and updates objects. Methods with a request return the object as stored afterwards; they throw the
 * workflow's refusal as a ServiceError, and ServiceUnavailable when there was no answer in time and nothing was stored.
 */
export class RecordedWorkflows<Started, Stored> extends ObjectWorkflows<Started, RecordedKind<Started, Stored>> {
  /** What a restarted workflow is told, as its terminated run may not have carried it out. */
  protected readonly on_restart: SignalDefinition = recordChanged;

  /**
   * The object of an earlier creation with the same Idempotency-Key, once its first answer is known: joins the creation
   * that is under way. `undefined`: there is no object. `is_over`: no creation of it is under way.
   */
  protected async join(id: string, request: AcceptedRequest): Promise<{ view: Stored; is_over: boolean } | undefined> {
    let is_over = false;
    try {
      const view = await this.call(id, request, 'create', async () => {
        try {
          await this.handle(id).getUpdateHandle(CREATE_UPDATE_ID).result();
        } catch (error) {
          if (!isAnswered(error)) throw error;
          is_over = true;
        }
      });
      return { view, is_over };
    } catch (error) {
      if (error instanceof RecordLost) return undefined;
      throw error;
    }
  }

  /** Has a running workflow read the changed record; does nothing for a closed one. */
  async recordChanged(id: string): Promise<void> {
    await this.signalRunning(id, recordChanged);
  }

  /**
   * Terminates a run that cannot go on, and has the object go on from its record. `false`: the run had ended. If the
   * caller dies in between, the next request or check starts the workflow.
   */
  async restart(id: string, run_id: string): Promise<boolean> {
    const { client, db } = this.temporal;
    const run = client.workflow.getHandle(this.kind.workflowId(id), run_id);
    const was_running = await unlessClosed(() => run.terminate('its history does not replay'));
    if (!was_running) return false;
    // Also of a final object: an order that holds reserved money is one. A workflow that has nothing to do ends.
    const view = await this.kind.find(db, id);
    if (view !== undefined) await this.signalOrStart(await this.kind.startedOf(view, db), this.on_restart);
    return true;
  }

  /** Creates an object. A repeat joins the creation under way, or gets its result. */
  protected async createObject<Args extends unknown[]>(
    id: string,
    request: AcceptedRequest,
    { object, update, staticSummary }: { object: Started; update: Update<Args>; staticSummary?: string },
  ): Promise<Stored> {
    const { client, db } = this.temporal;
    const { kind } = this;
    const start = { kind, object, ...(staticSummary !== undefined && { staticSummary }) };
    const create = (sent: Update<Args>) =>
      this.call(id, request, 'create', async () => {
        try {
          await startAndUpdate(client, { ...start, workflowIdReusePolicy: 'REJECT_DUPLICATE' }, sent);
        } catch (error) {
          if (!isWorkflowClosed(error) && !isRefusalOfAnother(error, request)) throw error;
          const view = await kind.find(db, id);
          if (view !== undefined && (kind.isFinal(view) || !request.has_idempotency_key)) return;
          if (view === undefined && isWorkflowClosed(error)) await this.throwRefusal(id, update.updateId);
          // The first workflow ended before the object was written or its first answer known. A second one uses the
          // same ids for rows and charges, and continues from the record. Temporal keeps a refusal by the update's id.
          const again =
            isWorkflowClosed(error) || sent.updateId === undefined
              ? sent
              : { ...sent, updateId: newUpdateId(sent.updateId, request) };
          await startAndUpdate(client, start, again);
        }
      });
    const { updateId } = update;
    try {
      return await create(update);
    } catch (error) {
      // A running workflow finds out that its record is lost, and ends within two minutes. Where it cannot be told, the
      // answer stays the same.
      if (error instanceof RecordLost && (await this.tellRunning(id, request).catch(() => true))) throw error;
      const is_kept = updateId !== undefined && request.has_idempotency_key;
      if (!is_kept || !isServiceError(error, 'ServiceUnavailable')) throw error;
      return await create({ ...update, updateId: newUpdateId(updateId, request) });
    }
  }

  /**
   * Throws what a closed workflow decided against an update. Temporal keeps it, and it is not decided again: it may not
   * be kept with the key yet (rules 11.2).
   */
  private async throwRefusal(id: string, updateId: string | undefined): Promise<void> {
    if (updateId === undefined) return;
    try {
      await this.handle(id).getUpdateHandle(updateId).result();
    } catch (error) {
      if (!isWorkflowClosed(error) && !isUndecidedUpdate(error)) throw error;
    }
  }

  /** As recordChanged. `false`: the workflow is closed. Throws ServiceUnavailable after the request's deadline. */
  private async tellRunning(id: string, { deadline_at }: AcceptedRequest): Promise<boolean> {
    let is_running = false;
    await callOnce(this.temporal.client, deadline_at, async () => {
      is_running = await this.signalRunning(id, recordChanged);
    });
    return is_running;
  }

  /** Makes a call about the object, and returns it as stored afterwards. */
  protected async call(
    id: string,
    request: AcceptedRequest,
    purpose: Purpose,
    call: () => Promise<void>,
  ): Promise<Stored> {
    return await callThenRead(this.temporal, { kind: this.kind, id, request, purpose }, call);
  }

  /**
   * Ends the object by an update. `was_closed`: no update was sent, as the object was final. What was decided for an
   * update's id is not decided again for a repeat of its request (rules 11.2), unless the record has lost it.
   */
  protected async change<Args extends unknown[]>(
    id: string,
    request: AcceptedRequest,
    update: Update<Args>,
  ): Promise<{ view: Stored; was_closed: boolean }> {
    let was_closed = false;
    let is_undecided = false;
    const send = (sent: Update<Args>) =>
      this.call(id, request, 'change', async () => {
        try {
          was_closed = !(await unlessClosed(() => this.update(id, sent)));
        } catch (error) {
          is_undecided = isUndecidedUpdate(error);
          throw error;
        }
      });
    const { updateId } = update;
    const mayBeOld = request.is_repeat && updateId !== undefined;
    const view = await send(update).catch((error: unknown) => {
      if (!mayBeOld || !is_undecided) throw error;
      return undefined;
    });
    if (view !== undefined && (!mayBeOld || this.kind.isFinal(view))) return { view, was_closed };
    return { view: await send({ ...update, updateId: newUpdateId(updateId!, request) }), was_closed };
  }

  /** Updates the object's workflow. If Temporal lost it while the object is not final, it restarts from the record. */
  protected async update<Args extends unknown[]>(id: string, update: Update<Args>): Promise<void> {
    const { client, db } = this.temporal;
    const { kind } = this;
    try {
      const { definition, ...options } = update as Update<unknown[]> as Update<[unknown]>;
      await this.handle(id).executeUpdate(definition, options);
    } catch (error) {
      const view = isWorkflowClosed(error) ? await kind.find(db, id) : undefined;
      if (view === undefined || kind.isFinal(view)) throw error;
      await startAndUpdate(client, { kind, object: await kind.startedOf(view, db) }, update);
    }
  }

  /** Signals the object's workflow if that is running; `false`: it is closed or lost. */
  protected async signalRunning(id: string, signal: SignalDefinition): Promise<boolean> {
    return await unlessClosed(() => this.handle(id).signal(signal));
  }

  protected handle(id: string) {
    return this.temporal.client.workflow.getHandle(this.kind.workflowId(id));
  }
}
