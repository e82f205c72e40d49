import { WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { v5 as uuidv5 } from 'uuid';
import { findStoredOrder, type StoredOrder, type StoredTransaction } from '../../src/db/orders/stored-order';
import { findStoredPaymentLink } from '../../src/db/payment-links';
import { recordOrderUpdate } from '../../src/db/orders/update-order';
import { chargeIdempotencyKey } from '../../src/domain/transaction';
import { ServiceError } from '../../src/errors';
import type { LedgerEntry } from '../../src/processor/wire';
import { orderWorkflowId, paymentLinkWorkflowId } from '../../workflows/messages';
import { CARDS, MINUTE, PROJECT, aRequest, aTransaction, type CardName } from '../../test/support/domain';
import { numbersFrom } from '../../test/support/killing';
import { postControl, stack } from '../../test/support/stack';
import {
  answerAtIssuer,
  createALink,
  createAnOrder,
  followUpOf,
  vaultToken,
  type TestLink,
} from '../../test/support/workflow-orders';
import type { LifeWorld } from './world';

type Numbers = ReturnType<typeof numbersFrom>;

/** One life: an order or a link, and what merchant, customer, issuer, processor and operator do with it. */
export interface Life {
  number: number;
  random: Numbers;
  order_ids: string[];
  link: TestLink | undefined;
  /** What was done, and how it was answered. */
  steps: string[];
  /** Answers that nothing explains. */
  wrong: string[];
}

/** Cards of lives: each outcome, those that come late or never by themselves included. */
const PAYING: CardName[] = [
  ...(['approved', 'approved', 'do_not_honor', 'challenge', 'processing_approved', 'processing_declined'] as const),
  ...(['no_answer', 'lost_answer', 'capture_refused', 'refund_refused', 'refund_processing'] as const),
];

const choose = <T>(random: Numbers, values: readonly T[]): T => values[Math.floor(random() * values.length)]!;

/** Begins a life: an order of the page, an order with a card token, an authorization, or a link. */
export async function beginLife(world: LifeWorld, number: number, seed: number): Promise<Life> {
  const random = numbersFrom(seed);
  const life: Life = { number, random, order_ids: [], link: undefined, steps: [], wrong: [] };
  const kind = choose(random, ['page', 'page', 'token', 'authorization', 'authorization', 'link'] as const);
  life.steps.push(kind);
  if (kind === 'link') {
    life.link = await createALink(world, { period: choose(random, [20 * MINUTE, 6 * 60 * MINUTE]) });
    return life;
  }
  const card = choose(random, PAYING);
  life.steps.push(kind === 'page' ? 'without a card' : card);
  const order = await createAnOrder(world, {
    id: uuidv5(`life ${number}`, uuidv5(String(seed), PROJECT.id)),
    ...(kind !== 'page' && { card_number: CARDS[card].number }),
    ...(kind === 'authorization' && { capture_mode: choose(random, ['manual', 'delayed'] as const) }),
  });
  life.order_ids.push(order.id);
  return life;
}

interface Step {
  name: string;
  weight: number;
  take: (world: LifeWorld, life: Life, order: StoredOrder) => Promise<unknown>;
}

const lastOf = ({ transactions }: StoredOrder) => transactions.at(-1);
const paidOf = (order: StoredOrder): StoredTransaction | undefined =>
  order.transactions.find(({ status }) => status === 'accepted') ?? lastOf(order);
const soon = () => Date.now() + 20_000;
const part = (random: Numbers) => choose(random, [undefined, 1, 50, 100, 250, 400, 600]);

async function pay(world: LifeWorld, { random }: Life, order: StoredOrder): Promise<unknown> {
  const attempt = choose(random, [order.transactions.length, order.transactions.length + 1]) || 1;
  const transaction = {
    ...aTransaction(order.id, { attempt }),
    payment_method_details: { vault_token: await vaultToken(world, CARDS[choose(random, PAYING)].number) },
    period: 30 * MINUTE,
  };
  const request = aRequest({ has_idempotency_key: false });
  return await world.clients.orders.pay(order.id, { request, project_id: PROJECT.id, is_test: true, transaction });
}

/** A follow-up order of the payment, of all that is left or a part. */
async function follow(
  world: LifeWorld,
  { random }: Life,
  order: StoredOrder,
  kind: 'capture' | 'void' | 'refund',
): Promise<unknown> {
  const paid = paidOf(order);
  if (paid === undefined) return;
  const input = followUpOf(order.id, kind, { original_transaction_id: paid.id, amount: part(random) });
  return kind === 'refund'
    ? await world.clients.follow_ups.refund(input)
    : await world.clients.follow_ups.captureOrVoid({ ...input, kind });
}

/** The processor takes the money of a payment back, or gives it again, and tells of it. */
async function chargeBack(world: LifeWorld, { random }: Life, order: StoredOrder): Promise<unknown> {
  const body = { transaction_id: paidOf(order)?.id, operation: choose(random, ['chargeback', 'chargeback_reversal']) };
  const answer = await postControl(stack(), 'chargebacks', body).catch(() => undefined);
  if (answer === undefined) return;
  return await world.clients.processor_notifications.handle((await answer.json()) as LedgerEntry, soon());
}

/** The processor tells of a charge, whether it has news or not. */
async function notify(world: LifeWorld, _life: Life, order: StoredOrder): Promise<unknown> {
  const last = lastOf(order);
  if (last === undefined) return;
  const known = await world.processor.findOperation(chargeIdempotencyKey(last.id), {});
  if (typeof known === 'string' || known.result === 'mismatch') return;
  return await world.clients.processor_notifications.handle(known, soon());
}

/** Temporal loses the workflow, and recovery starts it again from the record. */
async function loseWorkflow({ env, clients }: LifeWorld, _life: Life, { id }: StoredOrder): Promise<unknown> {
  await env.client.workflow.getHandle(orderWorkflowId(id)).terminate('lost');
  return await clients.orders.resume({ order_id: id, project_id: PROJECT.id });
}

const STEPS: readonly Step[] = [
  { name: 'pay', weight: 5, take: pay },
  { name: 'capture', weight: 4, take: (world, life, order) => follow(world, life, order, 'capture') },
  { name: 'void', weight: 2, take: (world, life, order) => follow(world, life, order, 'void') },
  { name: 'refund', weight: 4, take: (world, life, order) => follow(world, life, order, 'refund') },
  {
    name: 'cancel',
    weight: 1,
    take: ({ clients }, _life, { id }) => clients.orders.cancel(id, { source: 'merchant', request: aRequest() }),
  },
  {
    name: 'answer the issuer',
    weight: 3,
    take: async (world, { random }, { id, transactions }) => {
      if (!transactions.at(-1)?.challenge_url) return;
      const form = choose(random, [{ code: '0101' }, { code: '3333' }, { action: 'cancel' }] as Record<
        string,
        string
      >[]);
      return await answerAtIssuer({ view: async () => (await findStoredOrder(world.database.db, id))! }, form);
    },
  },
  {
    name: 'outcome due',
    weight: 2,
    take: (_world, _life, order) => postControl(stack(), 'due', { transaction_id: lastOf(order)?.id }),
  },
  { name: 'notification', weight: 3, take: notify },
  { name: 'poll', weight: 1, take: ({ clients }, _life, { id }) => clients.orders.requestPoll(id) },
  { name: 'record changed', weight: 1, take: ({ clients }, _life, { id }) => clients.orders.recordChanged(id) },
  { name: 'chargeback', weight: 1, take: chargeBack },
  {
    name: 'change fields',
    weight: 1,
    take: ({ database, now }, life, { id }) =>
      now().then((at) => {
        const changes = { description: `step ${life.steps.length}` };
        return recordOrderUpdate(database.db, id, changes, { versions: undefined, now: at });
      }),
  },
  { name: 'workflow lost', weight: 1, take: loseWorkflow },
];

/** Of a link alone. */
const LINK_STEPS: readonly {
  name: string;
  weight: number;
  take: (world: LifeWorld, life: Life) => Promise<unknown>;
}[] = [
  {
    name: 'pay the link',
    weight: 5,
    take: async (_world, life) => {
      const { link, random } = life;
      const view_id = uuidv5(`view ${life.steps.length}`, link!.id);
      const order = await link!.pay(CARDS[choose(random, PAYING)].number, view_id);
      if (!life.order_ids.includes(order.id)) life.order_ids.push(order.id);
    },
  },
  {
    name: 'end the link',
    weight: 1,
    take: ({ clients }, { link, random }) =>
      random() < 0.15 ? clients.payment_links.end(link!.id, aRequest()) : Promise.resolve(),
  },
  {
    name: 'workflow of the link lost',
    weight: 1,
    take: async ({ env, clients }, { link }) => {
      await env.client.workflow.getHandle(paymentLinkWorkflowId(link!.id)).terminate('lost');
      await clients.payment_links.resume({ id: link!.id, project_id: PROJECT.id });
    },
  },
];

function chooseByWeight<One extends { weight: number }>(random: Numbers, all: readonly One[]): One {
  let at = random() * all.reduce((sum, { weight }) => sum + weight, 0);
  return all.find(({ weight }) => (at -= weight) < 0) ?? all[0]!;
}

/** One step of a life, or two at once. */
export async function takeStep(world: LifeWorld, life: Life): Promise<void> {
  const count = life.random() < 0.3 ? 2 : 1;
  await Promise.all(Array.from({ length: count }, () => takeOne(world, life)));
}

async function takeOne(world: LifeWorld, life: Life): Promise<void> {
  const { random, link } = life;
  if (link !== undefined && (life.order_ids.length === 0 || random() < 0.4)) {
    const step = chooseByWeight(random, LINK_STEPS);
    return await noted(life, step.name, () => step.take(world, life));
  }
  const order = await findStoredOrder(world.database.db, life.order_ids.at(-1)!);
  if (order === undefined) return void life.wrong.push(`order ${life.order_ids.at(-1)} is gone`);
  const step = chooseByWeight(random, STEPS);
  await noted(life, step.name, () => step.take(world, life, order));
}

/** Refusals are answers; a failure of another kind is not. */
async function noted(life: Life, name: string, take: () => Promise<unknown>): Promise<void> {
  try {
    await take();
    life.steps.push(name);
  } catch (error) {
    const refusal = refusalIn(error);
    life.steps.push(`${name}: ${refusal ?? 'failed'}`);
    if (refusal === undefined) life.wrong.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function refusalIn(error: unknown): string | undefined {
  if (error instanceof ServiceError) return error.error === 'ServerError' ? undefined : error.error;
  if (error instanceof WorkflowNotFoundError) return 'workflow over';
  if (error instanceof WorkflowUpdateFailedError) return refusalIn(error.cause);
  const { type } = error as { type?: unknown };
  return typeof type === 'string' && type !== 'ServerError' ? type : undefined;
}

/** Every order of the life, its links' and its follow-up orders, and the reversals that may have been watched for. */
export async function workflowIdsOf({ database }: LifeWorld, { order_ids, link }: Life): Promise<string[]> {
  const linked = link === undefined ? [] : ((await findStoredPaymentLink(database.db, link.id))?.orders ?? []);
  const ids = [...new Set([...order_ids, ...linked.map(({ id }) => id)])];
  const orders = (await Promise.all(ids.map((id) => findStoredOrder(database.db, id)))).flatMap((one) => one ?? []);
  const follow_ups = orders.flatMap((order) => order.follow_ups.map(({ id }) => id));
  return [...ids, ...follow_ups].map(orderWorkflowId).concat(link === undefined ? [] : paymentLinkWorkflowId(link.id));
}
