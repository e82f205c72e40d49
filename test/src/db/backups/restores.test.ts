import { v7 as uuidv7 } from 'uuid';
import { moveOrder } from '../../../../src/db/orders/move-order';
import { insertFollowUp } from '../../../../src/db/orders/follow-ups';
import { findOrderSnapshot } from '../../../../src/db/orders/order-snapshot';
import { findStoredPaymentLink, insertPaymentLink } from '../../../../src/db/payment-links';
import { beginRestore, postponeEnds } from '../../../../src/db/backups/restores';
import type { OrderSnapshot } from '../../../../src/domain/order-snapshot';
import { createTestDatabase } from '../../../support/database';
import { BY_TOKEN, MINUTE, NOW, PROJECT, aRequest } from '../../../support/domain';
import { CAPTURE_END, aFollowUp, aStoredOrder, anAcceptedPayment, answerFollowUp } from '../../../support/rows';
import { setUp } from '../../../support/set-up';

const database = setUp(() => createTestDatabase({ webhook_url: 'https://shop.example/hook' }));
const DAY = 24 * 60 * MINUTE;
const by = { source: 'service', now: NOW } as const;
const found = async ({ id }: OrderSnapshot) => (await findOrderSnapshot(database.db, id))!;

test('rules 28.4: what was open in the backup and would have ended is put off, and nothing else', async () => {
  const { db } = database;
  const open = await aStoredOrder(db);
  const cancelled = await moveOrder(db, await aStoredOrder(db), { ended: 'cancelled' }, by);
  const paid = await anAcceptedPayment(db);
  const held = await anAcceptedPayment(db, { mode: 'manual' });
  const end = open.expires_at;

  // Those that ended before the backup, and those that end later.
  for (const [since, until] of [
    [end + 1, CAPTURE_END],
    [NOW, end],
  ] as const) {
    await postponeEnds(db, since, until);
    expect(await Promise.all([open, held].map(found))).toEqual([open, held]);
  }

  const later = end + MINUTE;
  await postponeEnds(db, NOW, later);
  expect(await Promise.all([cancelled, paid, held].map(found))).toEqual([cancelled, paid, held]);
  const put_off = await found(open);
  expect(put_off).toMatchObject({
    expires_at: later,
    version: open.version + 1,
    transactions: [{ expires_at: later }],
  });

  await postponeEnds(db, CAPTURE_END, CAPTURE_END + MINUTE);
  const { expires_at, transactions } = await found(held);
  expect([expires_at, transactions[0]!.capture!.capture_ends_at]).toEqual([held.expires_at, CAPTURE_END + MINUTE]);
  expect(await found(open)).toEqual(put_off);
});

const LINK = {
  project_id: PROJECT.id,
  merchant_order_id: 'L',
  amount: 500,
  currency: 'EUR',
  expiration_period: 'P1D',
};

test('rules 28.4: what ends by a sandbox clock is put off by that clock', async () => {
  const { db } = database;
  const ahead = 2 * DAY;
  const [order, other] = [await aStoredOrder(db), await aStoredOrder(db)];
  const held = await anAcceptedPayment(db, { mode: 'manual' });
  const link = uuidv7();
  await insertPaymentLink(
    db,
    { ...LINK, id: link },
    { created: NOW, expires_at: order.expires_at, request: aRequest() },
  );
  for (const id of [order.id, other.id, held.id, link]) {
    const offset_ms = id === other.id ? 1 : ahead;
    await db('sandbox_clocks').insert({ id, project_id: PROJECT.id, offset_ms, modified: new Date(NOW) });
  }
  const linkEnd = async () => Date.parse((await findStoredPaymentLink(db, link))!.expires_at);
  const end = order.expires_at;

  // By real time all of them ended long ago, but for one.
  await postponeEnds(db, end - ahead + 1, end + MINUTE - ahead);
  expect((await found(order)).expires_at).toBe(end);
  expect(await linkEnd()).toBe(end);
  await postponeEnds(db, end - ahead, end + MINUTE - ahead);
  expect(await found(order)).toMatchObject({ expires_at: end + MINUTE, transactions: [{ expires_at: end + MINUTE }] });
  expect(await linkEnd()).toBe(end + MINUTE);
  expect((await found(other)).expires_at).toBe(end);
  await postponeEnds(db, CAPTURE_END - ahead, CAPTURE_END + MINUTE - ahead);
  expect((await found(held)).transactions[0]!.capture!.capture_ends_at).toBe(CAPTURE_END + MINUTE);
});

test('rules 28.4: an attempt whose charge was begun is not put off', async () => {
  const { db } = database;
  const order = await aStoredOrder(db, BY_TOKEN);
  await postponeEnds(db, NOW, order.expires_at + MINUTE);
  const { expires_at, transactions } = await found(order);
  expect([expires_at, transactions[0]!.expires_at]).toEqual([order.expires_at + MINUTE, order.expires_at]);
});

test.each(['refused', 'processing'] as const)(
  'rules 28.4: a capture window that had ended is not put off when its release is %s',
  async (answer) => {
    const { db } = database;
    const held = await anAcceptedPayment(db, { mode: 'manual' });
    const release = aFollowUp(held, { kind: 'void', requested_by: 'service', now: CAPTURE_END });
    await answerFollowUp(db, release, await insertFollowUp(db, release), answer, CAPTURE_END);
    const before = await found(held);
    await postponeEnds(db, CAPTURE_END, CAPTURE_END + MINUTE);
    expect(await found(held)).toEqual(before);
  },
);

test('rules 28.4: after a restore no webhook has a number that one before it had', async () => {
  const { db } = database;
  const move = async () => (await moveOrder(db, await aStoredOrder(db), { ended: 'cancelled' }, by)).deliveries;
  expect(await move()).toEqual([1]);
  await db.transaction((trx) => beginRestore(trx, uuidv7(), NOW, new Date(NOW)));
  expect(await move()).toEqual([NOW / MINUTE + 1]);
});
