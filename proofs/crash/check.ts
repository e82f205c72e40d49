import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { queryRows, type Database } from '../../src/db/query';
import { orderStatus, type Ending } from '../../src/domain/order';
import type { OrderStatus, TransactionStatus } from '../../src/domain/transitions';
import { orderWorkflowId, deliveryWorkflowId, paymentLinkWorkflowId } from '../../workflows/messages';
import { failedTasksIn } from '../../test/support/temporal-client';
import type { CrashActor } from './actor';

/** What became of a flow. Two runs of a flow, killed or not, end in the same. */
export interface State {
  /** As the `ends` of a flow. */
  ends: string;
  /** Money, follow-up orders, webhooks and workflows, a line each. */
  details: string[];
  /** What must not be, whatever the flow is: in words. */
  wrong: string[];
}

interface OrderRow {
  id: string;
  kind: string;
  status: OrderStatus;
  amount: number;
  attempts_max: number;
  ended: Ending | null;
  payment_link_id: string | null;
  statuses: string | null;
}

interface Events {
  order_id: string;
  transaction_id: string;
  event: TransactionStatus;
}

interface DeliveryRow {
  order_id: string;
  n: number;
  status: string;
  redelivery_of: number | null;
}

/** What the record, the processor and Temporal say of a flow. `received`: the webhook ids that its receiver got. */
export async function stateOf(
  actor: CrashActor,
  { temporal, received }: { temporal: Client; received: ReadonlySet<string> },
): Promise<State> {
  const { db, merchant } = actor.world;
  const orders = await ordersOf(db, actor);
  const payments = orders.filter(({ kind }) => kind === 'payment');
  const ids = orders.map(({ id }) => id);
  const [links, events, deliveries, money] = await Promise.all([
    queryRows<{ status: string }>(db, 'select status from payment_links where id = any(:links::uuid[])', {
      links: actor.links,
    }),
    eventsOf(db, ids),
    deliveriesOf(db, ids),
    moneyOf(db, ids),
  ]);
  const ledger = (await Promise.all(payments.map(({ id }) => merchant.ledger(id)))).flat();
  const follow_ups = orders.filter(({ kind }) => kind !== 'payment');
  const done = ledger.filter(({ operation }) => operation !== 'sale' && operation !== 'authorize');
  const unequal = `the processor did ${done.length} operations after the charges, and ${follow_ups.length} are recorded`;
  const workflows = await workflowsOf(temporal, actor, orders, deliveries);
  const ends = [
    payments.map(({ status, statuses }) => `${status}:${statuses === null ? '' : ` ${statuses}`}`),
    links.map(({ status }) => `link ${status}`),
    ledger.map(({ operation, result, amount }) => `${operation} ${result} ${amount}`),
  ];
  return {
    ends: ends
      .map((words) => words.toSorted().join(', '))
      .filter(Boolean)
      .join(' | '),
    details: [
      money,
      `follow-up orders: ${follow_ups
        .map(({ kind, status, amount }) => `${kind} ${status} ${amount}`)
        .toSorted()
        .join(', ')}`,
      `webhooks: ${[...new Set(deliveries.map(({ status }) => status))].toSorted().join(', ')}`,
      `redeliveries: ${deliveries.filter(({ redelivery_of }) => redelivery_of !== null).length}`,
      `workflows: ${workflows.statuses}`,
    ],
    wrong: [
      ...workflows.wrong,
      ...(done.length === follow_ups.length ? [] : [unequal]),
      ...wrongWebhooks(orders, events, deliveries, received),
    ],
  };
}

async function ordersOf(db: Database, { orders, links }: CrashActor): Promise<OrderRow[]> {
  return await queryRows<OrderRow>(
    db,
    `select o.id, o.kind, o.status, o.amount, o.attempts_max, o.ended, o.related_payment_link_id as payment_link_id,
       (select string_agg(t.status, ' ' order by t.attempt) from transactions t where t.order_id = o.id) as statuses
     from orders o
     where o.id = any(:orders::uuid[]) or o.related_order_id = any(:orders::uuid[])
       or o.related_payment_link_id = any(:links::uuid[])
       or o.related_order_id in (select id from orders where related_payment_link_id = any(:links::uuid[]))
     order by o.sequence`,
    { orders, links },
  );
}

const eventsOf = (db: Database, ids: string[]) =>
  queryRows<Events>(
    db,
    `select t.order_id, t.id as transaction_id, e.event from transaction_events e join transactions t on t.id = e.transaction_id
     where t.order_id = any(:ids::uuid[]) order by t.order_id, t.attempt, e.n`,
    { ids },
  );

const deliveriesOf = (db: Database, ids: string[]) =>
  queryRows<DeliveryRow>(
    db,
    'select order_id, n, status, redelivery_of from webhook_deliveries where order_id = any(:ids::uuid[])',
    { ids },
  );

const AMOUNTS = [
  ...['captured', 'voided', 'refunded', 'charged_back', 'won_back'],
  ...['capture_pending', 'void_pending', 'refund_pending'],
];

async function moneyOf(db: Database, ids: string[]): Promise<string> {
  const sums = AMOUNTS.map((name) => `coalesce(sum(${name}_amount), 0)::bigint as ${name}`).join(', ');
  const [row] = await queryRows<Record<string, number>>(
    db,
    `select ${sums} from transactions where order_id = any(:ids::uuid[]) and original_transaction_id is null`,
    { ids },
  );
  return `money: ${AMOUNTS.map((name) => `${row?.[name]} ${name}`).join(', ')}`;
}

/** Every change of an order's status has one delivery, and what is delivered was received. */
function wrongWebhooks(
  orders: OrderRow[],
  events: Events[],
  deliveries: DeliveryRow[],
  received: ReadonlySet<string>,
): string[] {
  const counts = orders.flatMap((order) => {
    const changes = changesOf(order, events);
    const own = deliveries.filter(({ order_id, redelivery_of }) => order_id === order.id && redelivery_of === null);
    return own.length === changes
      ? []
      : [`a ${order.kind} order changed its status ${changes} times and has ${own.length} webhooks`];
  });
  const lost = deliveries.filter(
    ({ order_id, n, status, redelivery_of }) =>
      status === 'delivered' && !received.has(deliveryWorkflowId({ order_id, n: redelivery_of ?? n })),
  );
  return [...counts, ...lost.map(({ n }) => `webhook ${n} is delivered and was not received`)];
}

/** How often the status of an order has changed, by the events of its transactions (rules 4.4). */
function changesOf(order: OrderRow, events: Events[]): number {
  const transactions = new Map<string, TransactionStatus>();
  let [status, changes, was_accepted] = ['new' as OrderStatus, 0, false];
  const note = (next: OrderStatus) => {
    if (next !== status) changes += 1;
    status = next;
  };
  const own = events.filter(({ order_id }) => order_id === order.id);
  for (const [i, { transaction_id, event }] of own.entries()) {
    transactions.set(transaction_id, event);
    was_accepted ||= event === 'accepted';
    const ended = i === own.length - 1 && isAlone(event) && order.ended !== null ? { ended: order.ended } : {};
    note(
      orderStatus({
        transactions: [...transactions.values()],
        was_accepted,
        attempts_max: order.attempts_max,
        ...ended,
      }),
    );
  }
  note(order.status);
  return changes;
}

/** The last event that ends its order in the same move. */
const isAlone = (event: TransactionStatus) => event === 'cancelled' || event === 'expired';

/** How the workflows of the flow stand, and the tasks and runs of them that failed. */
async function workflowsOf(
  temporal: Client,
  { links }: CrashActor,
  orders: OrderRow[],
  deliveries: DeliveryRow[],
): Promise<{ statuses: string; wrong: string[] }> {
  const ids = [
    ...links.map(paymentLinkWorkflowId),
    ...orders.map(({ id }) => orderWorkflowId(id)),
    ...deliveries.map(deliveryWorkflowId),
  ];
  const found = await Promise.all(ids.map((id) => workflowOf(temporal, id)));
  const statuses = [...new Set(found.map(({ status }) => status))].toSorted().join(', ');
  return { statuses, wrong: found.flatMap(({ failed }) => failed) };
}

/** `missing`: it is not started yet. */
async function workflowOf(temporal: Client, id: string): Promise<{ status: string; failed: string[] }> {
  const handle = temporal.workflow.getHandle(id);
  try {
    const { status, type } = await handle.describe();
    const { failed } = failedTasksIn(await handle.fetchHistory());
    return {
      status: `${type} ${status.name}`,
      failed: failed.map(({ cause }) => `a task of ${type} failed: ${cause}`),
    };
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    return { status: 'missing', failed: [] };
  }
}
