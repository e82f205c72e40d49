import { WithStartWorkflowOperation, type WorkflowHandle } from '@temporalio/client';
import { v7 as uuidv7 } from 'uuid';
import { findOrderView, type OrderView } from '../../src/db/orders/order-view';
import { findPaymentLinkView, type PaymentLinkView } from '../../src/db/payment-links';
import { linkOrderId, transactionId } from '../../src/ids';
import {
  PAYMENT_LINK_WORKFLOW,
  TASK_QUEUE,
  createPaymentLink,
  paymentLinkWorkflowId,
  type PayThroughLinkInput,
} from '../../workflows/messages';
import { createWorkflows } from '../../src/temporal/workflows';
import { aRequest } from './builders';
import { PROJECT } from './database';
import { vaultToken } from './orders';
import type { WorkflowEnvironment } from './temporal';

const DAY = 24 * 60 * 60_000;

/** A payment link in a world of workflows, without the API before it. */
export interface TestLink {
  id: string;
  handle: WorkflowHandle;
  view(): Promise<PaymentLinkView>;
  /** Its status, and those of its orders in the order of its attempts: `all_unsuccessful: error error`. */
  statuses(): Promise<string>;
  /** Pays from one view of its page; resolves with the attempt's order, rejects with the refusal. */
  pay(card_number: string, view_id?: string, over?: Partial<PayThroughLinkInput>): Promise<OrderView>;
}

/** Creates a link that lives for 30 days unless `period` (milliseconds) says otherwise. */
export async function createALink(
  world: WorkflowEnvironment,
  { period = 30 * DAY }: { period?: number } = {},
): Promise<TestLink> {
  const id = uuidv7();
  const { client } = world.env;
  await client.workflow.executeUpdateWithStart(createPaymentLink, {
    startWorkflowOperation: new WithStartWorkflowOperation(PAYMENT_LINK_WORKFLOW, {
      workflowId: paymentLinkWorkflowId(id),
      taskQueue: TASK_QUEUE,
      args: [{ payment_link_id: id }],
      workflowIdConflictPolicy: 'USE_EXISTING',
    }),
    updateId: 'create',
    args: [
      {
        request: aRequest(),
        payment_link: {
          id,
          project_id: PROJECT.id,
          merchant_order_id: 'L-1',
          amount: 500,
          currency: 'EUR',
          expiration_period: 'P30D',
        },
        period,
      },
    ],
  });
  const handle = client.workflow.getHandle(paymentLinkWorkflowId(id));
  const view = async () => (await findPaymentLinkView(world.database.db, id))!;
  return {
    id,
    handle,
    view,
    async statuses() {
      const { status, orders } = await view();
      return [`${status}:`, ...orders.map((order) => order.status)].join(' ');
    },
    async pay(card_number, view_id = uuidv7(), over = {}) {
      const order_id = linkOrderId(id, view_id);
      const vault_token = await vaultToken(world, card_number);
      await createWorkflows({ client, db: world.database.db }).payment_links.pay(id, {
        order: {
          id: order_id,
          project_id: PROJECT.id,
          merchant_order_id: 'L-1',
          currency: 'EUR',
          amount: 500,
          expiration_period: 'PT30M',
          attempts_max: 1,
          charged_by: 'token',
        },
        period: 30 * 60_000,
        is_test: true,
        transaction: {
          id: transactionId(order_id, 1),
          attempt: 1,
          payment_method: 'credit-card',
          payment_method_details: { vault_token },
          expiration_period: 'PT30M',
          period: 30 * 60_000,
        },
        request: aRequest({ has_idempotency_key: false, deadline_at: Date.now() + 20_000 }),
        ...over,
      });
      return (await findOrderView(world.database.db, order_id))!;
    },
  };
}
