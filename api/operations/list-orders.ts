import { listOrderViews, type OrderView } from '../../src/db/order-view';
import { oneAtATime } from '../../src/domain/one-at-a-time';
import { listPeriod } from '../../src/domain/period';
import { validationError } from '../../src/errors';
import { clock } from '../clock';
import type { MerchantContext, MerchantOperation, Services } from '../merchant';
import { jsonArray } from '../operation';
import { presentOrder } from '../present';

/** Most orders in one list (rules 5.8). */
export const LIST_ORDERS_MAX = 10_000;
/** Orders that use up as much of the rate limit as one request (rules 18.1). */
const ORDERS_PER_TOKEN = 100;
/** Orders that are read at a time: so few that the process does nothing else for some milliseconds only. */
const PAGE = { first: 50, most: 200, bytes: 512 * 1024 };

type ListServices = Pick<Services, 'db' | 'public_url'>;

/**
 * The orders of the project that were created in a period, newest first, read in pages while they are sent. Throws a
 * ValidationError that names the parameter.
 */
export const listOrders = ({ db, public_url }: ListServices): MerchantOperation<'listOrders'> => {
  // Pages of all lists are read one after another: together they hold one connection, and the process in between is
  // free for others.
  const inTurn = oneAtATime();
  return (context, { query }) => {
    const period = listPeriod({ ...query, now: clock.now() });
    if ('problem' in period) throw validationError(period.parameter, period.problem);
    const { id } = context.caller.project;
    const read = (page: Page) => inTurn(() => listOrderViews(db, id, { ...period, ...page }));
    return Promise.resolve(jsonArray(pagesOf(read, context, public_url)));
  };
};

interface Page {
  after: OrderView | undefined;
  limit: number;
}

/** The orders as JSON, a page at a time. */
async function* pagesOf(
  read: (page: Page) => Promise<OrderView[]>,
  { spend }: Pick<MerchantContext, 'spend'>,
  public_url: string,
): AsyncGenerator<string[]> {
  let listed = 0;
  let size = PAGE.first;
  let after: OrderView | undefined;
  while (listed < LIST_ORDERS_MAX) {
    const limit = Math.min(size, LIST_ORDERS_MAX - listed);
    const orders = await read({ after, limit });
    const tokens = tokensOf(listed + orders.length) - tokensOf(listed);
    if (tokens > 0) await spend(tokens);
    const page = orders.map((order) => JSON.stringify(presentOrder(order, public_url)));
    yield page;
    if (orders.length < limit) return;
    listed += orders.length;
    after = orders.at(-1);
    const bytes = page.reduce((sum, { length }) => sum + length, 0) / page.length;
    size = Math.max(1, Math.min(PAGE.most, Math.floor(PAGE.bytes / bytes)));
  }
}

const tokensOf = (orders: number) => Math.floor(orders / ORDERS_PER_TOKEN);
