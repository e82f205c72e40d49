import pino from 'pino';
import type { WaitPreference } from '../../../api/operation';
import { OrderWaits } from '../../../api/requests/order-waits';
import { WAITING_MAX, WaitingPlaces } from '../../../api/requests/waiting-requests';
import { connectDatabase } from '../../../src/db/connection';
import { moveOrder } from '../../../src/db/orders/move-order';
import { loadOrderSnapshot } from '../../../src/db/orders/order-snapshot';
import { findStoredOrder, type StoredOrder } from '../../../src/db/orders/stored-order';
import { createTestDatabase } from '../../support/database';
import { aStoredOrder } from '../../support/rows';
import { setUp } from '../../support/set-up';
import { until } from '../../support/waits';

const database = setUp(() => createTestDatabase());
const log = pino({ enabled: false });

/** A request that waits for a minute; `leave` closes its connection. */
function aWait({ ms = 60_000, is_outdated = false } = {}) {
  const leaving = new Set<() => void>();
  const seen = { applied: 0, open: 0 };
  const wait: WaitPreference = {
    until: Date.now() + ms,
    isOutdated: () => is_outdated,
    hasLeft: () => false,
    onLeave(leave) {
      leaving.add(leave);
      return () => leaving.delete(leave);
    },
    apply: () => (seen.applied += 1),
    begin() {
      seen.open += 1;
      return () => (seen.open -= 1);
    },
  };
  return { wait, seen, leave: () => leaving.forEach((leave) => leave()), watchers: () => leaving.size };
}

/** Whether the request waited for the order: it was read again. */
async function waited(waits: OrderWaits, wait: WaitPreference | undefined, order: StoredOrder): Promise<boolean> {
  let reads = 0;
  await waits.read(wait, async () => {
    reads += 1;
    return order;
  });
  return reads === 2;
}

async function aReadOrder(): Promise<StoredOrder> {
  const { id } = await aStoredOrder(database.db, { amount: 500 });
  return (await findStoredOrder(database.db, id))!;
}

async function cancel({ id }: { id: string }): Promise<void> {
  const record = await loadOrderSnapshot(database.db, id);
  await moveOrder(database.db, record, { ended: 'cancelled' }, { source: 'merchant', now: Date.now() });
}

test('rules 5.12: a request waits until the status of its order changes; those for other orders go on', async () => {
  const waits = new OrderWaits(database.db, log, new WaitingPlaces());
  const [changed, other] = [await aReadOrder(), await aReadOrder()];
  const requests = [aWait(), aWait(), aWait()];
  const ended = new Set<number>();
  const waiting = [changed, changed, other].map(async (order, n) => {
    expect(await waited(waits, requests[n]!.wait, order)).toBe(true);
    ended.add(n);
  });
  await cancel(changed);
  await Promise.all(waiting.slice(0, 2));
  expect(requests[2]!.watchers()).toBe(1);
  expect(ended).toEqual(new Set([0, 1]));
  await waits.close();
  await Promise.all(waiting);
  expect(requests.map(({ seen, watchers }) => [seen, watchers()])).toEqual(
    requests.map(() => [{ applied: 1, open: 0 }, 0]),
  );
});

test('a change between the reading of the order and the wait ends the wait', async () => {
  const waits = new OrderWaits(database.db, log, new WaitingPlaces());
  const order = await aReadOrder();
  await cancel(order);
  expect(await waited(waits, aWait().wait, order)).toBe(true);
  await waits.close();
});

test('one statement looks for all that wait, and none when none waits', async () => {
  const waits = new OrderWaits(database.db, log, new WaitingPlaces());
  const orders = [await aReadOrder(), await aReadOrder(), await aReadOrder()];
  database.forget();
  const waiting = orders.map((order) => waited(waits, aWait({ ms: 400 }).wait, order));
  await Promise.all(waiting);
  await waits.close();
  const looks = database.statements.length;
  // Every 15 ms at most, in 400 ms.
  expect(looks).toBeGreaterThan(0);
  expect(looks).toBeLessThanOrEqual(26);
  expect(database.statements.every((sql) => sql.includes('unnest'))).toBe(true);
});

test.each([
  ['a final order', { status: 'completed' }, {}],
  ['a client that knows another version', {}, { is_outdated: true }],
] as const)(
  'rules 5.12: %s does not wait, and is told that the preference was applied',
  async (_title, fields, how) => {
    const waits = new OrderWaits(database.db, log, new WaitingPlaces());
    const { wait, seen } = aWait(how);
    expect(await waited(waits, wait, { ...(await aReadOrder()), ...fields })).toBe(false);
    expect(seen).toEqual({ applied: 1, open: 0 });
    expect(await waited(waits, undefined, await aReadOrder())).toBe(false);
  },
);

test('rules 5.13: a wait ends when its client leaves', async () => {
  const waits = new OrderWaits(database.db, log, new WaitingPlaces());
  const { wait, leave, watchers } = aWait();
  const waiting = waited(waits, wait, await aReadOrder());
  await until('it waits', () => watchers() > 0);
  leave();
  expect([await waiting, watchers()]).toEqual([true, 0]);
  await waits.close();
});

test('rules 18.10: so many requests of a project wait at a time, the next is answered at once', async () => {
  const waits = new OrderWaits(database.db, log, new WaitingPlaces());
  const order = await aReadOrder();
  const requests = Array.from({ length: WAITING_MAX.per_project }, () => aWait());
  const waiting = requests.map(({ wait }) => waited(waits, wait, order));
  await until('all wait', () => requests.every(({ watchers }) => watchers() > 0));
  const beyond = aWait();
  expect([await waited(waits, beyond.wait, order), beyond.seen.applied]).toEqual([false, 0]);
  // Another project has places of its own.
  const another = aWait();
  const other = waited(waits, another.wait, { ...order, project_id: 'another' });
  requests[0]!.leave();
  await waiting[0];
  const next = waited(waits, beyond.wait, order);
  await until('both wait', () => another.watchers() + beyond.watchers() === 2);
  await waits.close();
  expect(await Promise.all([other, next, ...waiting])).toEqual(Array.from({ length: waiting.length + 2 }, () => true));
  expect(await waited(waits, aWait().wait, order)).toBe(false);
});

test('a change is seen after Postgres did not answer for a while', async () => {
  const lines: string[] = [];
  // Every connection attempt fails until the right address is there.
  const wrong = connectDatabase('postgres://127.0.0.1:9/none', { pool_max: 1, quiet: true });
  const place = { db: wrong };
  const switching = new Proxy(wrong, { get: (_target, name) => Reflect.get(place.db, name) as unknown });
  const waits = new OrderWaits(
    switching,
    pino({}, { write: (line: string) => void lines.push(line) }),
    new WaitingPlaces(),
  );
  const order = await aReadOrder();
  const waiting = waited(waits, aWait().wait, order);
  await until('a look fails', () => lines.length > 0);
  await cancel(order);
  place.db = database.db;
  expect(await waiting).toBe(true);
  await waits.close();
  expect(lines).toHaveLength(1);
  await wrong.destroy();
});
