import { WorkflowUpdateFailedError, type WorkflowHandle } from '@temporalio/client';
import { v7 as uuidv7 } from 'uuid';
import { chargeIdempotencyKey } from '../../../src/domain/transaction';
import { reversalOrderId } from '../../../src/ids';
import { KINDS, startOptions } from '../../../src/temporal/kinds';
import { OrderWorkflows } from '../../../src/temporal/orders';
import {
  ATTENTION,
  ORDER_WORKFLOW,
  RECORD_MISSING,
  deliveryWorkflowId,
  orderWorkflowId,
  processorAnswered,
  recordChanged,
} from '../../../workflows/messages';
import { aRequest, anOrder, CARDS, MINUTE, PROJECT, transactionIdOf, type CardName } from '../../support/domain';
import { Merchant } from '../../support/merchant';
import { setUp } from '../../support/set-up';
import { createWorkflowEnvironment, workerClient } from '../../support/temporal';
import { until } from '../../support/waits';
import { createALink, createAnOrder, startFollowUp, followUpOf } from '../../support/workflow-orders';

/**
 * Rules 10.19: a failover that lost commits, or a restore of an older backup, leaves workflows without their record.
 */
const world = setUp(() => createWorkflowEnvironment({ webhook_url: 'http://127.0.0.1:1/refused' }));
const merchant = new Merchant();

/** Deletes an order with all that belongs to it; its follow-up orders too. */
async function loseOrder(order_id: string): Promise<void> {
  const { db } = world.database;
  const orders = (await db('orders').where({ id: order_id }).orWhere({ related_order_id: order_id }).select('id')) as {
    id: string;
  }[];
  // Follow-up orders point to their payment.
  for (const id of [...orders.map((one) => one.id).filter((one) => one !== order_id), order_id]) {
    const transactions = db('transactions').where({ order_id: id }).select('id');
    await db('transaction_events').whereIn('transaction_id', transactions).delete();
    await db('late_approval_watches').whereIn('transaction_id', transactions).delete();
    await db('transactions').where({ order_id: id }).delete();
    await db.transaction(async (trx) => {
      // Locked, so that no attempt is written between the two deletions.
      await trx('webhook_deliveries').where({ order_id: id }).select('n').forUpdate();
      await trx('webhook_attempts').where({ order_id: id }).delete();
      await trx('webhook_deliveries').where({ order_id: id }).delete();
    });
    await db('orders').where({ id }).delete();
  }
}

const handleOf = (workflow_id: string) => world.env.client.workflow.getHandle(workflow_id);
const attentionOf = async (handle: WorkflowHandle) => (await handle.describe()).typedSearchAttributes.get(ATTENTION);
const paid = (card: CardName, capture_mode?: 'manual') =>
  createAnOrder(world, { card_number: CARDS[card].number, ...(capture_mode && { capture_mode }) });

/** A workflow that waits for something, how its record is lost, and what lets it act. */
interface Waiting {
  handle: WorkflowHandle;
  lose: () => Promise<void>;
  act?: () => unknown;
}
const loseLink = (id: string) => async () => void (await world.database.db('payment_links').where({ id }).delete());
const WAITING: Record<string, () => Promise<Waiting>> = {
  // First, as its order ends: workflow time may pass.
  async 'a payment that may have been approved after its end'() {
    const order = await paid('challenge');
    await order.cancel();
    expect(await order.handle.result()).toBe('cancelled');
    const handle = handleOf(orderWorkflowId(reversalOrderId(transactionIdOf(order.id, 1))));
    return { handle, lose: () => loseOrder(order.id), act: () => handle.signal(processorAnswered) };
  },
  async 'an order that expires'() {
    const { id, handle } = await createAnOrder(world);
    return { handle, lose: () => loseOrder(id) };
  },
  async 'an order whose outcome is polled'() {
    const { id, handle } = await paid('processing_approved');
    return { handle, lose: () => loseOrder(id) };
  },
  async 'an order whose processor does not answer'() {
    const { id, handle } = await paid('processing_approved');
    const idempotency_key = chargeIdempotencyKey(transactionIdOf(id, 1));
    await merchant.addFault({ kind: 'outage', operation: 'ask', idempotency_key });
    return { handle, lose: () => loseOrder(id) };
  },
  async 'an order whose record has changed'() {
    const { id, handle } = await paid('approved', 'manual');
    return { handle, lose: () => loseOrder(id), act: () => handle.signal(recordChanged) };
  },
  async 'an authorization at the end of its window'() {
    const { id, handle } = await paid('approved', 'manual');
    return { handle, lose: () => loseOrder(id) };
  },
  async 'a follow-up order'() {
    const { id } = await paid('refund_processing');
    const handle = await startFollowUp(world, followUpOf(id, 'refund', { amount: 200 }));
    return { handle, lose: () => loseOrder(id), act: () => handle.signal(processorAnswered) };
  },
  async 'a webhook'() {
    const { id } = await paid('approved');
    const handle = handleOf(deliveryWorkflowId({ order_id: id, n: 1 }));
    await until('it has failed once', async () => {
      const attempts = await world.database.db('webhook_attempts').where({ order_id: id });
      return attempts.length === 1;
    });
    return { handle, lose: () => loseOrder(id) };
  },
  async 'a payment link that expires'() {
    const { id, handle } = await createALink(world, { period: 40 * MINUTE });
    return { handle, lose: loseLink(id) };
  },
  async 'a payment link whose record has changed'() {
    const { id, handle } = await createALink(world);
    return { handle, lose: loseLink(id), act: () => handle.signal(recordChanged) };
  },
};

describe('rules 10.19: every workflow that waits for something', () => {
  const waiting: Record<string, Waiting & { lost_at: number }> = {};
  let updated: { handle: WorkflowHandle; refusal: Promise<unknown> };
  // All at once: each looks for its record for a minute.
  beforeAll(async () => {
    const { id, handle, cancel } = await createAnOrder(world, { input: { period: 24 * 60 * MINUTE } });
    await loseOrder(id);
    updated = { handle, refusal: cancel().catch((refused: unknown) => refused) };
    for (const [what, make] of Object.entries(WAITING)) {
      const one = await make();
      await one.lose();
      waiting[what] = { ...one, lost_at: await world.now() };
      await one.act?.();
    }
  });
  afterAll(() => merchant.removeFaults());

  test.each(Object.keys(WAITING))('rules 10.19 and 24.19: %s: it ends with Attention, which is kept', async (what) => {
    const { handle, lost_at } = waiting[what]!;
    expect(await handle.result()).toBe('record-missing');
    const reason = 'the record does not exist any more';
    expect(await attentionOf(handle)).toBe(reason);
    const of_workflow = world.database.db('attentions').where({ object_id: handle.workflowId });
    expect(await of_workflow.select('object_kind', 'reason', 'until')).toEqual([
      { object_kind: 'workflow', reason, until: null },
    ]);
    // A failover may be under way, or a replica behind.
    const { closeTime } = await handle.describe();
    expect(closeTime!.getTime() - lost_at).toBeGreaterThanOrEqual(MINUTE);
  });

  test('rules 10.19: an update is refused, and the workflow ends then, not at its end', async () => {
    await world.env.sleep(2 * MINUTE);
    const error = await updated.refusal;
    expect(error).toBeInstanceOf(WorkflowUpdateFailedError);
    expect((error as WorkflowUpdateFailedError).cause).toMatchObject({ type: RECORD_MISSING });
    await until('it ends', async () => (await updated.handle.describe()).status.name === 'COMPLETED');
    expect(await updated.handle.result()).toBe('record-missing');
  });
});

test('rules 10.19: a creation whose record was lost is made again by its key while its workflow waits too', async () => {
  const orders = new OrderWorkflows({ client: workerClient(world.env), db: world.database.db });
  const order = anOrder();
  const create = () => {
    const request = aRequest({ deadline_at: Date.now() + 10_000 });
    return orders.create({ request, order, period: 24 * 60 * MINUTE, is_test: true });
  };
  expect(await create()).toMatchObject({ id: order.id, version: 0 });
  await loseOrder(order.id);
  await expect(create()).rejects.toMatchObject({ error: 'ServiceUnavailable' });
  await world.env.sleep(2 * MINUTE);
  const again = await until('it is made again', () => create().catch(() => false as const));
  expect(again).toMatchObject({ id: order.id, status: 'new' });
});

test('rules 10.19: a record that is back within the minute is gone on with', async () => {
  const { id, handle } = await createAnOrder(world);
  const { db } = world.database;
  await db.raw('create table away as select * from orders where id = ?', [id]);
  await loseOrder(id);
  world.database.forget();
  await handle.signal(recordChanged);
  await until('it was missed', () => world.database.statements.some((sql) => sql.includes('from orders o where o.id')));
  await db.raw('insert into orders overriding system value select * from away');
  expect(await handle.result()).toBe('expired');
  expect(await attentionOf(handle)).toBeUndefined();
});

test('an order that was never written is not missing: its creation was lost', async () => {
  const start = startOptions(KINDS.order, { order_id: uuidv7(), project_id: PROJECT.id });
  const handle = await world.env.client.workflow.start(ORDER_WORKFLOW, start);
  expect(await handle.result()).toBe('refused');
  expect(await attentionOf(handle)).toBeUndefined();
});
