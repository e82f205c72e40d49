import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError, type WorkflowHandle } from '@temporalio/client';
import { v7 as uuidv7 } from 'uuid';
import { findStoredOrder, type StoredOrder } from '../../src/db/orders/stored-order';
import { findStoredPaymentLink, type StoredPaymentLink } from '../../src/db/payment-links';
import type { CaptureMode } from '../../src/domain/amounts';
import type { FollowUpKind } from '../../src/domain/follow-up';
import { linkOrderId } from '../../src/ids';
import {
  CREATE_UPDATE_ID,
  cancelOrderUpdate,
  createOrderUpdate,
  createPaymentLinkUpdate,
  firstAnswerUpdate,
  captureOrVoidUpdate,
  orderWorkflowId,
  paymentLinkWorkflowId,
  type CreateOrderInput,
  type FollowUpInput,
  type RequestedFollowUpInput,
  type CaptureOrVoidInput,
} from '../../workflows/messages';
import { createWorkflowClients } from '../../src/temporal/workflows';
import { KINDS, type StartedOrder } from '../../src/temporal/kinds';
import { startAndUpdate } from '../../src/temporal/object-workflows';
import { BY_TOKEN, MINUTE, PROJECT, aRequest, aTransaction, anOrder, transactionIdOf } from './domain';
import { statusesOf } from './merchant';
import { answerIssuer } from './processor';
import { postControl, stack } from './stack';
import type { WorkflowEnvironment } from './temporal';

export type TestOrder = Awaited<ReturnType<typeof createAnOrder>>;

/** The processor has the outcome of what is open of this order alone: other test files share the simulator. */
export async function becomesDue({ id }: Pick<TestOrder, 'id'>, attempt = 1): Promise<void> {
  await postControl(stack(), 'due', { transaction_id: transactionIdOf(id, attempt) });
}

/** A token of the card in the test project. */
export async function vaultToken(
  { processor }: Pick<WorkflowEnvironment, 'processor'>,
  number: string,
): Promise<string> {
  const card = await processor.vaultCard({
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
  /** How long one of its workflow tasks may take; a local activity outlasts its task after 80 % of it. */
  task_timeout_ms?: number;
}

/** How the time-skipping server fails a call that it gives up. */
const GRPC_UNKNOWN = 2;
/** Sends an update until it is handled: a busy machine's server gives the first one up while the worker still starts. */
async function untilHandled(send: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return void (await send());
    } catch (error) {
      if (tries > 1 && error instanceof WorkflowExecutionAlreadyStartedError) return;
      const { code } = (error as { cause?: { code?: number } }).cause ?? {};
      if (tries === 5 || code !== GRPC_UNKNOWN) throw error;
    }
  }
}

/** Creates an order that lives for half an hour, in a world of workflows, without the API before it. */
export async function createAnOrder(world: WorkflowEnvironment, options: TestOrderOptions = {}) {
  const id = options.id ?? uuidv7();
  const { client } = world.env;
  const vault_token = options.card_number === undefined ? undefined : await vaultToken(world, options.card_number);
  const transaction =
    vault_token === undefined && options.transaction_period === undefined
      ? undefined
      : {
          ...aTransaction(id, { payment_method_details: vault_token === undefined ? {} : { vault_token } }),
          period: options.transaction_period ?? PERIOD,
          ...(options.capture_mode && {
            transaction_type: 'authorization' as const,
            capture_mode: options.capture_mode,
            capture_period: options.capture_period ?? 'PT1H',
          }),
        };
  const input = {
    request: aRequest(),
    order: anOrder({ id, amount: options.amount ?? 500, ...(vault_token !== undefined && BY_TOKEN) }),
    period: PERIOD,
    is_test: true,
    transaction,
    ...options.input,
  };
  const { task_timeout_ms: workflowTaskTimeout = 10_000 } = options;
  const start = (order: StartedOrder) => ({ ...KINDS.order.start(order), workflowTaskTimeout });
  const kind = { ...KINDS.order, start };
  await untilHandled(() =>
    startAndUpdate(
      client,
      { kind, object: { order_id: id, project_id: PROJECT.id }, workflowIdReusePolicy: 'REJECT_DUPLICATE' },
      { definition: createOrderUpdate, args: [input], updateId: CREATE_UPDATE_ID },
    ),
  );
  const handle = client.workflow.getHandle(orderWorkflowId(id));
  return {
    id,
    handle,
    async view(): Promise<StoredOrder> {
      const order = await findStoredOrder(world.database.db, id);
      if (order === undefined) throw new Error(`order ${id} does not exist`);
      return order;
    },
    /** Pays with a card of the simulator; `vault_token`: of `vaultToken`, where there is no time for that any more. */
    async pay(card_number: string, attempt = 1, vault_token?: string): Promise<void> {
      const token = vault_token ?? (await vaultToken(world, card_number));
      await createWorkflowClients({ client, db: world.database.db }).orders.pay(id, {
        request: aRequest({ has_idempotency_key: false }),
        project_id: PROJECT.id,
        is_test: true,
        transaction: {
          ...aTransaction(id, { attempt }),
          payment_method_details: { vault_token: token },
          period: PERIOD,
        },
      });
    },
    async cancel(): Promise<void> {
      await handle.executeUpdate(cancelOrderUpdate, { args: [{ source: 'merchant', request: aRequest() }] });
    },
    /** Captures or voids, all that is left without an amount; answers the id of the follow-up order. */
    async follow(
      kind: 'capture' | 'void',
      amount?: number,
      over: Partial<RequestedFollowUpInput> = {},
    ): Promise<string> {
      const input = { ...followUpOf(id, kind, { amount, ...over }), kind } satisfies CaptureOrVoidInput;
      const start = { kind: KINDS.order, object: { order_id: input.original_order_id, project_id: PROJECT.id } };
      await startAndUpdate(client, start, { definition: captureOrVoidUpdate, args: [input] });
      await awaitFirstAnswer(world, input.id);
      return input.id;
    },
  };
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
export async function startFollowUp({ env }: WorkflowEnvironment, input: FollowUpInput): Promise<WorkflowHandle> {
  const start = { kind: KINDS.follow_up, object: input };
  await startAndUpdate(env.client, start, { definition: firstAnswerUpdate, args: [] });
  return env.client.workflow.getHandle(orderWorkflowId(input.id));
}

/**
 * As the API takes news of the processor: a workflow that waits asks now, otherwise one is started; waits for its first
 * answer.
 */
export async function notifyFollowUp(world: WorkflowEnvironment, input: FollowUpInput): Promise<WorkflowHandle> {
  const { client } = world.env;
  await createWorkflowClients({ client, db: world.database.db }).follow_ups.startOrPoll(input);
  await awaitFirstAnswer(world, input.id);
  return client.workflow.getHandle(orderWorkflowId(input.id));
}

/** A workflow that is over has had it. */
async function awaitFirstAnswer({ env }: WorkflowEnvironment, order_id: string): Promise<void> {
  try {
    await env.client.workflow.getHandle(orderWorkflowId(order_id)).executeUpdate(firstAnswerUpdate);
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
  const moved = amounts.map(({ name, value }) => `${value} ${name}`).join(', ');
  const requested = follow_ups.map(({ kind, status }) => `${kind} ${status}`).join(', ');
  return [moved || 'nothing', requested].filter(Boolean).join(': ');
}

/** The statuses of an order of the record and of its transactions, follow-up orders too: `completed: accepted`. */
export async function statusesOfRow({ database }: WorkflowEnvironment, order_id: string): Promise<string | undefined> {
  const order = await findStoredOrder(database.db, order_id);
  return order && statusesOf(order);
}

/** Statuses of the order and its transactions, as `completed: error accepted`. */
export const statusesOfOrder = async (order: TestOrder) => statusesOf(await order.view());

/** What the customer does on the issuer's page: `code`, or `action: cancel`. */
export async function answerAtIssuer(order: TestOrder, form: Record<string, string>): Promise<void> {
  const [transaction] = (await order.view()).transactions.slice(-1);
  await answerIssuer(transaction?.challenge_url ?? '', form);
}

export type TestLink = Awaited<ReturnType<typeof createALink>>;

/** Creates a link that lives for 30 days unless `period` (milliseconds) says otherwise. */
export async function createALink(
  world: WorkflowEnvironment,
  { period = 30 * 24 * 60 * MINUTE }: { period?: number } = {},
) {
  const id = uuidv7();
  const { client } = world.env;
  const payment_link = {
    id,
    project_id: PROJECT.id,
    merchant_order_id: 'L-1',
    amount: 500,
    currency: 'EUR',
    expiration_period: 'P30D',
  };
  await untilHandled(() =>
    startAndUpdate(
      client,
      { kind: KINDS.payment_link, object: payment_link, workflowIdReusePolicy: 'REJECT_DUPLICATE' },
      {
        definition: createPaymentLinkUpdate,
        args: [{ request: aRequest(), payment_link, period }],
        updateId: CREATE_UPDATE_ID,
      },
    ),
  );
  const handle = client.workflow.getHandle(paymentLinkWorkflowId(id));
  const view = async (): Promise<StoredPaymentLink> => (await findStoredPaymentLink(world.database.db, id))!;
  return {
    id,
    handle,
    view,
    /** Its status, and those of its orders in the order of its attempts: `all_unsuccessful: error error`. */
    async statuses(): Promise<string> {
      const { status, orders } = await view();
      return [`${status}:`, ...orders.map((order) => order.status)].join(' ');
    },
    /** Pays from one view of its page; resolves with the attempt's order, rejects with the refusal. */
    async pay(card_number: string, view_id = uuidv7(), over: Partial<CreateOrderInput> = {}): Promise<StoredOrder> {
      const order_id = linkOrderId(id, view_id);
      const vault_token = await vaultToken(world, card_number);
      const { expires_at, clock_offset_ms } = await view();
      return await createWorkflowClients({ client, db: world.database.db }).orders.create({
        order: anOrder({ id: order_id, merchant_order_id: 'L-1', ...BY_TOKEN }),
        period: PERIOD,
        is_test: true,
        transaction: { ...aTransaction(order_id), payment_method_details: { vault_token }, period: PERIOD },
        request: aRequest({ has_idempotency_key: false, deadline_at: Date.now() + 20_000 }),
        payment_link: { id, expires_at: Date.parse(expires_at), clock_offset_ms },
        ...over,
      });
    },
  };
}
