import { WithStartWorkflowOperation, type WorkflowHandle } from '@temporalio/client';
import { v5 as uuidv5, v7 as uuidv7 } from 'uuid';
import { findOrderView, type OrderView } from '../../src/db/order-view';
import {
  CREATE_UPDATE_ID,
  ORDER_WORKFLOW,
  TASK_QUEUE,
  cancelOrder,
  createOrder,
  orderWorkflowId,
  paymentUpdateId,
  submitPayment,
  type CreateOrderInput,
} from '../../workflows/messages';
import { PROJECT } from './database';
import type { World } from './temporal';

export const MINUTE = 60_000;

/** An order in a world of workflows, without the API before it. */
export interface TestOrder {
  id: string;
  handle: WorkflowHandle;
  view(): Promise<OrderView>;
  /** Pays attempt `attempt` with a card of the simulator. */
  pay(card_number: string, attempt?: number): Promise<void>;
  cancel(): Promise<void>;
}

export const transactionIdOf = (order_id: string, attempt: number) => uuidv5(`transaction:${attempt}`, order_id);

export async function vaultToken(world: World, number: string): Promise<string> {
  const card = await world.processor.vaultCard({ project_id: PROJECT.id, is_test: true, number, card_expiry: '122034', security_code: '123' });
  if (!card.usable) throw new Error(card.reason);
  return card.vault_token;
}

const PERIOD = 30 * MINUTE;

/** Creates an order that lives for half an hour; `card_number`: charged at once. */
export async function createAnOrder(world: World, options: { card_number?: string; input?: Partial<CreateOrderInput>; id?: string; transaction_period?: number } = {}): Promise<TestOrder> {
  const id = options.id ?? uuidv7();
  const { client } = world.env;
  const vault_token = options.card_number === undefined ? undefined : await vaultToken(world, options.card_number);
  const transaction =
    vault_token === undefined && options.transaction_period === undefined
      ? undefined
      : {
          id: transactionIdOf(id, 1),
          attempt: 1,
          payment_method: 'credit-card',
          payment_method_details: vault_token === undefined ? {} : { vault_token },
          expiration_period: 'PT30M',
          period: options.transaction_period ?? PERIOD,
        };
  await client.workflow.executeUpdateWithStart(createOrder, {
    startWorkflowOperation: new WithStartWorkflowOperation(ORDER_WORKFLOW, {
      workflowId: orderWorkflowId(id),
      taskQueue: TASK_QUEUE,
      args: [{ order_id: id }],
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
    }),
    updateId: CREATE_UPDATE_ID,
    args: [
      {
        order: { id, project_id: PROJECT.id, currency: 'EUR', amount: 500, expiration_period: 'PT30M', attempts_max: vault_token === undefined ? 5 : 1 },
        period: PERIOD,
        is_test: true,
        transaction,
        charge: vault_token !== undefined,
        ...options.input,
      },
    ],
  });
  const handle = client.workflow.getHandle(orderWorkflowId(id));
  return {
    id,
    handle,
    async view() {
      const order = await findOrderView(world.database.db, id);
      if (order === undefined) throw new Error(`order ${id} is not there`);
      return order;
    },
    async pay(card_number, attempt = 1) {
      const token = await vaultToken(world, card_number);
      await handle.executeUpdate(submitPayment, {
        updateId: paymentUpdateId(attempt),
        args: [
          {
            project_id: PROJECT.id,
            is_test: true,
            transaction: {
              id: transactionIdOf(id, attempt),
              attempt,
              payment_method: 'credit-card',
              payment_method_details: { vault_token: token },
              expiration_period: 'PT30M',
              period: PERIOD,
            },
          },
        ],
      });
    },
    async cancel() {
      await handle.executeUpdate(cancelOrder, { args: [{ source: 'merchant' }] });
    },
  };
}

/** Statuses of the order and its transactions, as `completed: error accepted`. */
export async function story(order: TestOrder): Promise<string> {
  const { status, transactions } = await order.view();
  return [`${status}:`, ...transactions.map((transaction) => transaction.status)].join(' ');
}

/** What the customer does on the issuer's page: `code`, or `action: cancel`. */
export async function atTheIssuer(order: TestOrder, form: Record<string, string>): Promise<void> {
  const [transaction] = (await order.view()).transactions.slice(-1);
  await fetch(transaction?.challenge_url ?? '', { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' });
}
