import { v7 as uuidv7 } from 'uuid';
import { moveOrder } from '../../../src/db/orders/move-order';
import { findOrderSnapshot } from '../../../src/db/orders/order-snapshot';
import { beginRestore, postponeEnds } from '../../../src/db/restores';
import type { OrderSnapshot } from '../../../src/domain/order-snapshot';
import { createTestDatabase } from '../../support/database';
import { MINUTE, NOW } from '../../support/domain';
import { CAPTURE_END, aStoredOrder, anAcceptedPayment } from '../../support/rows';
import { setUp } from '../../support/set-up';

const database = setUp(() => createTestDatabase({ webhook_url: 'https://shop.example/hook' }));
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

test('rules 28.4: after a restore no webhook has a number that one before it had', async () => {
  const { db } = database;
  const move = async () => (await moveOrder(db, await aStoredOrder(db), { ended: 'cancelled' }, by)).deliveries;
  expect(await move()).toEqual([1]);
  await db.transaction((trx) => beginRestore(trx, uuidv7(), NOW, new Date(NOW)));
  expect(await move()).toEqual([NOW / MINUTE + 1]);
});
