import type { OrderView } from '../../src/db/order-view';
import type { Ended } from './step';

type Addresses = Pick<OrderView, 'id' | 'project_id' | 'return_url' | 'failure_url'>;

/** Where the customer goes once the order has ended; `undefined` when the merchant gave no address and they stay (rules 12.11). */
export function returnAddress(order: Addresses, ended: Ended): string | undefined {
  const address = ended === 'completed' ? order.return_url : (order.failure_url ?? order.return_url);
  return address === null ? undefined : withOrder(address, order);
}

/**
 * The merchant's address with order_id and project_id at the end of its query. Not by searchParams, which would rewrite the
 * existing query.
 */
function withOrder(address: string, { id, project_id }: Addresses): string {
  const url = new URL(address);
  const query = url.search.replace(/^\?/, '');
  url.search = `${query}${query === '' ? '' : '&'}order_id=${id}&project_id=${project_id}`;
  return url.href;
}

/**
 * Sources that the Content-Security-Policy's form-action has to allow besides our own: Chromium also applies it to the redirect
 * after a form.
 */
export function returnSources(order: Pick<Addresses, 'return_url' | 'failure_url'>): string[] {
  const addresses = [order.return_url, order.failure_url].filter((address) => address !== null);
  return [...new Set(addresses.map(sourceOf))];
}

/**
 * The origin where the policy's grammar can express it, else the scheme alone: it has no IPv6 addresses, and a `;` would begin
 * another directive.
 */
function sourceOf(address: string): string {
  const { origin, protocol } = new URL(address);
  return /^https?:\/\/[a-z0-9.-]+(:\d+)?$/.test(origin) ? origin : protocol;
}
