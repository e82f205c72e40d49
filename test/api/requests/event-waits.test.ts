import pino from 'pino';
import type { WaitPreference } from '../../../api/operation';
import { EventWaits } from '../../../api/requests/event-waits';
import { OrderWaits } from '../../../api/requests/order-waits';
import { WAITING_MAX, WaitingPlaces } from '../../../api/requests/waiting-requests';
import { currentPosition } from '../../../src/db/webhooks/events';
import { createTestDatabase } from '../../support/database';
import { PROJECT } from '../../support/domain';
import { setUp } from '../../support/set-up';
import { NOBODY } from '../../support/shapes';
import { until } from '../../support/waits';

const database = setUp(() => createTestDatabase());
const log = pino({ enabled: false });

test('rules 13.20: a cursor that is later than now becomes now, as after a restore from a backup', async () => {
  const waits = new EventWaits(database.db, log, new WaitingPlaces());
  const current = await currentPosition(database.db);
  const given = { project_id: PROJECT.id, xid: String(BigInt(current.xid) + 1_000_000n), id: '7' };
  const { position } = await waits.read(undefined, given, 10);
  expect([BigInt(position.xid) >= BigInt(current.xid), BigInt(position.xid) < BigInt(given.xid), position.id]).toEqual([
    true,
    true,
    '0',
  ]);
  await waits.close();
});

test('rules 13.19, 18.10: requests that wait for an order and for events of a project share its places', async () => {
  const places = new WaitingPlaces();
  const [orders, events] = [new OrderWaits(database.db, log, places), new EventWaits(database.db, log, places)];
  const leaving: (() => void)[] = [];
  let begun = 0;
  const wait: WaitPreference = {
    until: Date.now() + 20_000,
    isOutdated: () => false,
    hasLeft: () => false,
    onLeave: (leave) => (leaving.push(leave), () => undefined),
    apply: () => undefined,
    begin: () => ((begun += 1), () => undefined),
  };
  const order = { id: NOBODY, project_id: PROJECT.id, status: 'new', version: 1 } as const;
  const forOrders = Array.from({ length: WAITING_MAX.per_project }, () => orders.read(wait, async () => order));
  await until('all wait', () => begun === WAITING_MAX.per_project);
  const known = { project_id: PROJECT.id, ...(await currentPosition(database.db)) };
  const { events: none } = await events.read(wait, known, 10);
  expect([none, begun]).toEqual([[], WAITING_MAX.per_project]);
  leaving[0]!();
  await forOrders[0];
  const forEvents = events.read(wait, known, 10);
  await until('it waits', () => begun === WAITING_MAX.per_project + 1);
  await Promise.all([orders.close(), events.close()]);
  await Promise.all([...forOrders, forEvents]);
});

test('rules 18.10: 2,000 requests wait in all', () => {
  const places = new WaitingPlaces();
  const taken = Array.from({ length: 2_000 }, (_, n) => places.take(`project ${n % 20}`));
  expect([taken.includes(undefined), places.take('another')]).toEqual([false, undefined]);
  taken[0]!();
  expect(places.take('another')).toBeDefined();
});
