import { WithStartWorkflowOperation, WorkflowNotFoundError, type WorkflowHandle } from '@temporalio/client';
import { v7 as uuidv7 } from 'uuid';
import { findOrderView, type OrderView } from '../../src/db/orders/order-view';
import type { CaptureMode } from '../../src/domain/amounts';
import type { FollowUpKind } from '../../src/domain/follow-up';
import {
  CREATE_UPDATE_ID,
  FOLLOW_UP_WORKFLOW,
  ORDER_WORKFLOW,
  cancelOrder,
  createOrder,
  firstAnswer,
  captureOrVoid,
  orderWorkflowId,
  type CreateOrderInput,
  type FollowUpInput,
  type RequestedFollowUpInput,
  type CaptureOrVoidInput,
} from '../../workflows/messages';
import { createWorkflows } from '../../src/temporal/workflows';
import { KINDS } from '../../src/temporal/kinds';
import { BY_TOKEN, MINUTE, transactionIdOf, aRequest } from './builders';
import { PROJECT } from './database';
import { postControl } from './simulator';
import { stack } from './stack';
import type { WorkflowEnvironment } from './temporal';

export { BY_TOKEN, MINUTE, transactionIdOf };

/** An order in a world of workflows, without the API before it. */
export interface TestOrder {
  id: string;
  handle: WorkflowHandle;
  view(): Promise<OrderView>;
  /**
   * Pays attempt `attempt` with a card of the simulator; `vault_token`: of `vaultToken`, where there is no time for
   * that any more.
   */
  pay(card_number: string, attempt?: number, vault_token?: string): Promise<void>;
  cancel(): Promise<void>;
  /**
   * Captures or voids, all that is left without an amount; answers the id of the follow-up order, which has its first
   * answer.
   */
  follow(kind: 'capture' | 'void', amount?: number, over?: Partial<RequestedFollowUpInput>): Promise<string>;
}

/** The processor has the outcome of what is open of this order alone: other test files share the simulator. */
export async function becomesDue({ id }: Pick<TestOrder, 'id'>): Promise<void> {
  await postControl(stack(), 'due', { transaction_id: transactionIdOf(id, 1) });
}

export async function vaultToken(world: WorkflowEnvironment, number: string): Promise<string> {
  const card = await world.processor.vaultCard({
    project_id: PROJECT.id,
    is_test: true,
    number,
    card_expiry: '122034',
    security_code: '123',
  });
  if (!card.usable) throw new Error(card.reason);
  return card.vault_token;
}

const PERIOD = 30 * MINUTE;

interface TestOrderOptions {
  /** Charged at once. */
  card_number?: string;
  input?: Partial<CreateOrderInput>;
  id?: string;
  amount?: number;
  transaction_period?: number;
  /** An authorization. */
  capture_mode?: CaptureMode;
  /** Its window, ISO 8601; without it an hour. */
  capture_period?: string;
}

/** Creates an order that lives for half an hour. */
export async function createAnOrder(world: WorkflowEnvironment, options: TestOrderOptions = {}): Promise<TestOrder> {
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
          ...(options.capture_mode && {
            transaction_type: 'authorization' as const,
            capture_mode: options.capture_mode,
            capture_period: options.capture_period ?? 'PT1H',
          }),
        };
  await client.workflow.executeUpdateWithStart(createOrder, {
    startWorkflowOperation: new WithStartWorkflowOperation(ORDER_WORKFLOW, {
      ...KINDS.order.start({ order_id: id, project_id: PROJECT.id }),
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
    }),
    updateId: CREATE_UPDATE_ID,
    args: [
      {
        request: aRequest(),
        order: {
          id,
          project_id: PROJECT.id,
          currency: 'EUR',
          amount: options.amount ?? 500,
          expiration_period: 'PT30M',
          ...(vault_token === undefined ? { attempts_max: 5, charged_by: 'customer' as const } : BY_TOKEN),
        },
        period: PERIOD,
        is_test: true,
        transaction,
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
      if (order === undefined) throw new Error(`order ${id} does not exist`);
      return order;
    },
    async pay(card_number, attempt = 1, vault_token) {
      const token = vault_token ?? (await vaultToken(world, card_number));
      await createWorkflows({ client, db: world.database.db }).orders.pay(id, {
        request: aRequest({ has_idempotency_key: false }),
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
      });
    },
    async cancel() {
      await handle.executeUpdate(cancelOrder, { args: [{ source: 'merchant', request: aRequest() }] });
    },
    async follow(kind, amount, over = {}) {
      const input = { ...followUpOf(id, kind, { amount, ...over }), kind } satisfies CaptureOrVoidInput;
      const startWorkflowOperation = new WithStartWorkflowOperation(ORDER_WORKFLOW, {
        ...KINDS.order.start({ order_id: input.original_order_id, project_id: PROJECT.id }),
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      });
      await client.workflow.executeUpdateWithStart(captureOrVoid, { startWorkflowOperation, args: [input] });
      await awaitFirstAnswer(world, input.id);
      return input.id;
    },
  };
}

/** Brings workflow time to `instant`, epoch milliseconds, unless it is later already. */
export async function sleepUntil({ env, now }: WorkflowEnvironment, instant: number): Promise<void> {
  const left = instant - (await now());
  if (left > 0) await env.sleep(left);
}

/**
 * What `act` answers one second before `end` of a subject that `create` makes. Workflow time is as fast as ours while
 * it acts: where a busy machine needs more than that second, what was answered proves nothing, and another subject is
 * taken.
 */
export async function inTheLastSecond<Subject, Answer>(
  world: WorkflowEnvironment,
  {
    create,
    end,
    act,
  }: {
    create: () => Promise<Subject>;
    end: (subject: Subject) => Promise<number>;
    act: (subject: Subject) => Promise<Answer>;
  },
): Promise<{ subject: Subject; end: number; answer: Answer }> {
  for (let tries = 1; tries <= 10; tries += 1) {
    const subject = await create();
    const instant = await end(subject);
    await sleepUntil(world, instant - 1_000);
    const [acted] = await Promise.allSettled([act(subject)]);
    if ((await world.now()) >= instant) continue;
    if (acted.status === 'rejected') throw acted.reason;
    return { subject, end: instant, answer: acted.value };
  }
  throw new Error('this machine does not do it within a second of workflow time');
}

/** What a follow-up order of a payment is asked for with. */
export function followUpOf(
  original_order_id: string,
  kind: FollowUpKind,
  over: Partial<RequestedFollowUpInput> = {},
): RequestedFollowUpInput {
  return {
    request: aRequest(),
    id: uuidv7(),
    project_id: PROJECT.id,
    kind,
    requested_by: 'merchant',
    original_order_id,
    original_transaction_id: transactionIdOf(original_order_id, 1),
    ...over,
  };
}

/** Starts a follow-up order's workflow, or joins the one that is under way, and waits for its first answer. */
export async function executeFollowUp({ env }: WorkflowEnvironment, input: FollowUpInput): Promise<WorkflowHandle> {
  await env.client.workflow.executeUpdateWithStart(firstAnswer, {
    startWorkflowOperation: new WithStartWorkflowOperation(FOLLOW_UP_WORKFLOW, {
      ...KINDS.follow_up.start(input),
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    }),
  });
  return env.client.workflow.getHandle(orderWorkflowId(input.id));
}

/**
 * As the API takes news of the processor: a workflow that waits asks now, otherwise one is started; waits for its first
 * answer.
 */
export async function notifyFollowUp(world: WorkflowEnvironment, input: FollowUpInput): Promise<WorkflowHandle> {
  const { client } = world.env;
  await createWorkflows({ client, db: world.database.db }).follow_ups.startOrPoll(input);
  await awaitFirstAnswer(world, input.id);
  return client.workflow.getHandle(orderWorkflowId(input.id));
}

/** A workflow that is over has had it. */
async function awaitFirstAnswer({ env }: WorkflowEnvironment, order_id: string): Promise<void> {
  try {
    await env.client.workflow.getHandle(orderWorkflowId(order_id)).executeUpdate(firstAnswer);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

const AMOUNTS = [
  'captured',
  'voided',
  'refunded',
  'charged_back',
  'won_back',
  'capture_pending',
  'void_pending',
  'refund_pending',
] as const;

/**
 * What became of the payment's money, by its first transaction, and of its follow-up orders, oldest first: `300
 * captured, 200 voided: capture completed, void completed`.
 */
export async function moneySummaryOf(order: TestOrder): Promise<string> {
  const { transactions, follow_ups } = await order.view();
  const amounts = AMOUNTS.map((name) => ({ name, value: transactions[0]?.[`${name}_amount`] ?? 0 })).filter(
    ({ value }) => value !== 0,
  );
  const [moved, asked] = [
    amounts.map(({ name, value }) => `${value} ${name}`),
    follow_ups.map(({ kind, status }) => `${kind} ${status}`),
  ];
  return [moved.join(', ') || 'nothing', ...(asked.length === 0 ? [] : [asked.join(', ')])].join(': ');
}

/** The story of an order the record has, follow-up orders too: `completed: accepted`. */
export async function statusesOf({ database }: WorkflowEnvironment, order_id: string): Promise<string | undefined> {
  const order = await findOrderView(database.db, order_id);
  return order && [`${order.status}:`, ...order.transactions.map(({ status }) => status)].join(' ');
}

/** Statuses of the order and its transactions, as `completed: error accepted`. */
export async function statusesOfOrder(order: TestOrder): Promise<string> {
  const { status, transactions } = await order.view();
  return [`${status}:`, ...transactions.map((transaction) => transaction.status)].join(' ');
}

/** What the customer does on the issuer's page: `code`, or `action: cancel`. */
export async function answerAtIssuer(order: TestOrder, form: Record<string, string>): Promise<void> {
  const [transaction] = (await order.view()).transactions.slice(-1);
  await fetch(transaction?.challenge_url ?? '', {
    method: 'POST',
    body: new URLSearchParams(form),
    redirect: 'manual',
  });
}
