import { queryRows } from '../../src/db/query';
import { orderStatus, type Ending } from '../../src/domain/order';
import { TRANSACTION_MOVES, canMove, type OrderStatus, type TransactionStatus } from '../../src/domain/transitions';
import type { Invariant, Evidence } from './invariant';

/** An order with everything that its status is computed from. */
export interface OrderHistory {
  id: string;
  status: OrderStatus;
  attempts_max: number;
  ended: Ending | null;
  /** Statuses of its transactions, oldest first; null without one. */
  transactions: { id: string; status: TransactionStatus }[] | null;
  /** All changes of its transactions in the order in which they were made; null without one. */
  events: { transaction_id: string; event: TransactionStatus }[] | null;
  /** Deliveries of its status changes, redeliveries left out. */
  deliveries: number;
  /** Whether its merchant has an address for webhooks. */
  has_address: boolean;
}

/** All orders of the record, as their statuses and events tell of them. */
export const orderHistories = ({ record }: Evidence): Promise<OrderHistory[]> =>
  queryRows<OrderHistory>(
    record,
    `select o.id, o.status, o.attempts_max, o.ended,
       (select json_agg(json_build_object('id', t.id, 'status', t.status) order by t.attempt)
        from transactions t where t.order_id = o.id) as transactions,
       (select json_agg(json_build_object('transaction_id', t.id, 'event', e.event) order by t.attempt, e.n)
        from transactions t join transaction_events e on e.transaction_id = t.id where t.order_id = o.id) as events,
       (select count(*)::int from webhook_deliveries d where d.order_id = o.id and d.redelivery_of is null) as deliveries,
       coalesce(o.webhook_url, p.webhook_url) is not null as has_address
     from orders o join projects p on p.id = o.project_id`,
  );

export const statuses: Invariant = {
  name: 'statuses',
  title: "An order's status is the function of its transactions, and each of these moved as the table allows.",
  async violations(place) {
    return (await orderHistories(place)).flatMap((order) => [...wrongStatus(order), ...wrongMoves(order)]);
  },
};

function wrongStatus({ id, status, attempts_max, ended, transactions, events }: OrderHistory): string[] {
  const computed = orderStatus({
    transactions: (transactions ?? []).map((one) => one.status),
    was_accepted: (events ?? []).some(({ event }) => event === 'accepted'),
    attempts_max,
    ...(ended !== null && { ended }),
  });
  return computed === status ? [] : [`order ${id} is ${status}, by its transactions ${computed}`];
}

function wrongMoves({ transactions, events }: OrderHistory): string[] {
  return (transactions ?? []).flatMap(({ id, status }) => {
    const moves = (events ?? []).filter(({ transaction_id }) => transaction_id === id).map(({ event }) => event);
    const isLegal = moves.every((to, n) => (n === 0 ? to === 'new' : canMove(TRANSACTION_MOVES, moves[n - 1]!, to)));
    return isLegal && moves.at(-1) === status
      ? []
      : [`transaction ${id} is ${status}, by its events ${moves.join(' → ')}`];
  });
}
