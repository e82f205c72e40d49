import { Context } from '@temporalio/activity';
import { mustErasuresWait } from '../src/db/backups/restores';
import type { Database } from '../src/db/query';
import {
  ensureErasure,
  eraseOrders,
  findErasure,
  nextToErase,
  noteErased,
  ordersToErase,
  type OrderToErase,
  type StoredErasure,
} from '../src/db/retention/erasures';
import { findFollowUps } from '../src/db/orders/follow-ups';
import { findOrderSnapshot } from '../src/db/orders/order-snapshot';
import { takePlaces } from '../src/domain/places';
import { objectIdOf, orderWorkflowId, paymentLinkWorkflowId, type ErasureInput } from '../workflows/messages';
import { busyFailure } from './failure';
import { workForAPart } from './part';
import type { ActivityServices } from './services';

type ErasureServices = Pick<ActivityServices, 'db' | 'workflows'>;

/** Erasures that a worker carries out at once: each holds a connection that payments use too. */
const AT_ONCE = { project: 1, all: 4 };
/** The places that are taken, by project and in all. */
const places = new Map<string, number>();
const ALL = 'all';

/** How far an erasure is. */
export interface ErasureProgress {
  /** Payment orders erased so far. */
  orders: number;
  is_completed: boolean;
}

/**
 * Erases orders of a customer for some seconds (rules 29.3). Repeat-safe. Throws while this worker has no place for it.
 */
export async function eraseNext(services: ErasureServices, input: ErasureInput): Promise<ErasureProgress> {
  const release = takePlaces(places, [
    { caller: input.project_id, at_once: AT_ONCE.project },
    { caller: ALL, at_once: AT_ONCE.all },
  ]);
  if (release === undefined) throw workerIsBusy();
  try {
    return await eraseForAWhile(services, input);
  } finally {
    release();
  }
}

const workerIsBusy = () =>
  busyFailure('WorkerIsBusy', {
    message: 'This worker carries out as many erasures as it may at once.',
    again_after: 5_000,
  });

async function eraseForAWhile(services: ErasureServices, input: ErasureInput): Promise<ErasureProgress> {
  const context = Context.current();
  const throwIfCancelled = () => {
    context.heartbeat();
    context.cancellationSignal.throwIfAborted();
  };
  await workForAPart(() => erasePage(services, input, throwIfCancelled));
  const { orders, completed } = (await findErasure(services.db, input.erasure_id))!;
  return { orders, is_completed: completed !== null };
}

/** Throws while a restored record is compared with the histories that an erasure deletes (rules 29.6). */
async function throwIfCompared(db: Database): Promise<void> {
  if (!(await mustErasuresWait(db))) return;
  throw busyFailure('RestoreUnderWay', {
    message: 'The record was restored from a backup and is compared with the histories that an erasure deletes.',
    again_after: 5_000,
  });
}

/**
 * Looks at the next orders of the project and erases those of the customer. Returns whether there may be more. Throws
 * while a restored record is compared with the histories. Calls `throwIfCancelled` before each step; it throws when the
 * activity is cancelled.
 */
export async function erasePage(
  services: ErasureServices,
  { erasure_id, project_id, subject }: ErasureInput,
  throwIfCancelled: () => void = () => undefined,
): Promise<boolean> {
  const { db } = services;
  await throwIfCompared(db);
  const erasure = await ensureErasure(db, { id: erasure_id, project_id, subject }, Date.now());
  if (erasure.completed !== null) return false;
  throwIfCancelled();
  const { order_ids, position } = await nextToErase(db, erasure);
  for (const order_id of order_ids) {
    await throwIfCompared(db);
    await eraseOrder(services, erasure, order_id, throwIfCancelled);
  }
  if (position === null) await eraseRefused(services, { project_id }, throwIfCancelled);
  const is_noted = await noteErased(db, erasure, { position }, Date.now());
  return position !== null || !is_noted;
}

/**
 * Deletes the histories of the project's orders whose creation was refused. They have the customer's data, but no record
 * that tells whose; nobody needs them.
 */
async function eraseRefused(
  { db, workflows }: ErasureServices,
  { project_id }: { project_id: string },
  throwIfCancelled: () => void,
): Promise<void> {
  for await (const workflow_id of workflows.histories.refusedOrders(project_id, throwIfCancelled)) {
    await throwIfCompared(db);
    const recorded = await findOrderSnapshot(db, objectIdOf(workflow_id));
    if (recorded === undefined) await workflows.histories.delete(workflow_id);
  }
}

/**
 * Erases a payment order with all that follows it. All histories come first, then the record in one step: after a crash
 * in between, the payment order still names the customer and is found again. An open workflow goes on from the record
 * in a new run.
 */
async function eraseOrder(
  services: ErasureServices,
  erasure: StoredErasure,
  order_id: string,
  throwIfCancelled: () => void,
): Promise<void> {
  const { db, workflows } = services;
  const deleted = new Set<string>();
  for (;;) {
    const orders = await ordersToErase(db, erasure, order_id);
    // A restored record may lack the order.
    if (orders.length === 0) return;
    for (const order of orders.filter(({ id }) => !deleted.has(orderWorkflowId(id)))) {
      throwIfCancelled();
      const ran = await workflows.histories.delete(orderWorkflowId(order.id));
      // An earlier try may have ended the run.
      if (ran || order.is_open) await goOn(services, order);
      const { related_payment_link_id: link_id, project_id } = order;
      if (link_id !== null && (await workflows.histories.delete(paymentLinkWorkflowId(link_id)))) {
        await workflows.payment_links.resume({ id: link_id, project_id });
      }
      deleted.add(orderWorkflowId(order.id));
    }
    // A refund that was refused has a history, but no record.
    const others = (await workflows.histories.closedFollowUps(order_id)).filter((id) => !deleted.has(id));
    for (const workflow_id of others) {
      throwIfCancelled();
      // One that runs again writes a record, with which it goes on.
      if (!(await workflows.histories.delete(workflow_id))) deleted.add(workflow_id);
    }
    // A follow-up order that was written meanwhile has a history too.
    if (await eraseOrders(db, erasure.id, orders, Date.now())) return;
  }
}

async function goOn({ db, workflows }: ErasureServices, { id, project_id, kind }: OrderToErase): Promise<void> {
  if (kind === 'payment') return await workflows.orders.resume({ order_id: id, project_id });
  for (const follow_up of await findFollowUps(db, [id])) await workflows.follow_ups.start(follow_up);
}
