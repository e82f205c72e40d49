import { v7 as uuidv7 } from 'uuid';
import { signalLinkOfEndedOrder } from '../../activities/order-signals';
import type { ActivityServices } from '../../activities/services';
import { insertOrder } from '../../src/db/orders/insert-order';
import {
  recordPaymentLinkEnd,
  findStoredPaymentLink,
  insertPaymentLink,
  loadPaymentLinkSnapshot,
} from '../../src/db/payment-links';
import { moveOrder } from '../../src/db/orders/move-order';
import type { PaymentLinkSnapshot } from '../../src/domain/payment-link';
import { createTestDatabase, untilLocked, type TestDatabase } from '../support/database';
import { aRequest, anOrder, aTransaction, NOW, PROJECT } from '../support/domain';
import { setUp } from '../support/set-up';

const DAY = 24 * 60 * 60_000;
const database = setUp(() => createTestDatabase());

const aLink = (expires_at = NOW + DAY) =>
  insertPaymentLink(
    database.db,
    {
      id: uuidv7(),
      project_id: PROJECT.id,
      merchant_order_id: 'L-1',
      amount: 500,
      currency: 'EUR',
      expiration_period: 'P1D',
    },
    { created: NOW, expires_at, request: aRequest() },
  );

function anAttempt(
  { id, expires_at, clock_offset_ms }: Pick<PaymentLinkSnapshot, 'id' | 'expires_at' | 'clock_offset_ms'>,
  created = NOW,
) {
  const order = anOrder({ attempts_max: 1, charged_by: 'token' });
  const times = { created, expires_at, transaction_expires_at: expires_at };
  return insertOrder(database.db, order, aTransaction(order.id), {
    ...times,
    request: aRequest(),
    payment_link: { id, expires_at, clock_offset_ms },
  });
}

const end = (order: Awaited<ReturnType<typeof anAttempt>>, to: 'accepted' | 'error', now = NOW) =>
  moveOrder(database.db, order, { transaction_id: order.transactions[0]!.id, to }, { source: 'processor', now });

test('order and link move together: processing with the order, all_unsuccessful or completed with its outcome', async () => {
  const link = await aLink();
  const declined = await anAttempt(link);
  expect(await loadPaymentLinkSnapshot(database.db, link.id)).toMatchObject({ status: 'processing', attempts: 1 });
  await end(declined, 'error');
  expect(await loadPaymentLinkSnapshot(database.db, link.id)).toMatchObject({
    status: 'all_unsuccessful',
    attempts: 1,
  });
  const paid = await anAttempt(link);
  await end(paid, 'accepted');
  expect(await loadPaymentLinkSnapshot(database.db, link.id)).toMatchObject({
    status: 'completed',
    attempts: 2,
    completed_order_id: paid.id,
    order_ids: [declined.id, paid.id],
  });
  await expect(anAttempt(link)).rejects.toMatchObject({ error: 'TransactionAlreadyStarted' });
});

test('rules 19.11: a link that its merchant ends at its end or later has expired by itself', async () => {
  const { db } = database;
  const [before, at] = [await aLink(), await aLink()];
  await recordPaymentLinkEnd(db, before.id, { ended_by: 'merchant', now: before.expires_at - 1 });
  await recordPaymentLinkEnd(db, at.id, { ended_by: 'merchant', now: at.expires_at });
  const endedBy = async ({ id }: { id: string }) => (await loadPaymentLinkSnapshot(db, id)).ended_by;
  expect([await endedBy(before), await endedBy(at)]).toEqual(['merchant', 'time']);
});

test('rules 11.8: each status of its open attempt makes another version of the link, which shows it', async () => {
  const { db } = database;
  const link = await aLink();
  const attempt = await anAttempt(link);
  const version = async () => (await loadPaymentLinkSnapshot(db, link.id)).version;
  const begun = await version();
  const move = { transaction_id: attempt.transactions[0]!.id, to: 'pending' } as const;
  const pending = await moveOrder(db, attempt, move, { source: 'processor', now: NOW });
  expect([pending.status, await version()]).toEqual(['processing', begun + 1]);
  await end(pending, 'accepted');
  expect(await loadPaymentLinkSnapshot(db, link.id)).toMatchObject({ status: 'completed', version: begun + 2 });
});

test('an order that ends after the link has expired leaves it expired', async () => {
  const link = await aLink();
  await end(await anAttempt(link), 'error', NOW + DAY);
  expect(await loadPaymentLinkSnapshot(database.db, link.id)).toMatchObject({ status: 'expired', ended_by: 'time' });
});

test('rules 19.4: of forty attempts at once one makes an order, and 25 are made in all', async () => {
  const link = await aLink();
  for (let n = 1; n <= 25; n += 1) {
    const attempts = await Promise.allSettled(Array.from({ length: n === 1 ? 40 : 2 }, () => anAttempt(link)));
    const made = attempts.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    expect(made).toHaveLength(1);
    const refused = attempts.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    for (const reason of refused) expect(reason).toMatchObject({ error: 'TransactionAlreadyStarted' });
    await end(made[0]!, 'error');
  }
  await expect(anAttempt(link)).rejects.toMatchObject({ error: 'TransactionAlreadyStarted' });
  expect((await loadPaymentLinkSnapshot(database.db, link.id)).attempts).toBe(25);
});

test('rules 19.4: an attempt that is written twice at once and ends meanwhile is one, and leaves the link open', async () => {
  const { db } = database;
  const link = await aLink();
  const order = anOrder({ attempts_max: 1, charged_by: 'token' });
  const attempt = (on: TestDatabase['db']) =>
    insertOrder(on, order, aTransaction(order.id), {
      ...{ created: NOW, expires_at: link.expires_at, transaction_expires_at: link.expires_at },
      request: aRequest(),
      payment_link: { id: link.id, expires_at: link.expires_at, clock_offset_ms: 0 },
    });
  const second = await db.transaction(async (trx) => {
    const first = await attempt(trx);
    const waiting = attempt(db).catch((error: unknown) => error);
    await untilLocked('the second waits for the link', db);
    await moveOrder(
      trx,
      first,
      { transaction_id: first.transactions[0]!.id, to: 'error' },
      { source: 'processor', now: NOW },
    );
    return { waiting };
  });
  expect(await second.waiting).toMatchObject({ constraint: 'orders_pkey' });
  expect(await attempt(db)).toMatchObject({ id: order.id, status: 'error' });
  expect(await loadPaymentLinkSnapshot(db, link.id)).toMatchObject({ status: 'all_unsuccessful', attempts: 1 });
});

test('rules 19.7: an attempt in the last millisecond is taken, at the end it is refused', async () => {
  const [first, second] = [await aLink(NOW + 1_000), await aLink(NOW + 1_000)];
  await anAttempt(first, NOW + 999);
  await expect(anAttempt(second, NOW + 1_000)).rejects.toMatchObject({ error: 'TransactionAlreadyStarted' });
});

test('rules 4.15: modified of a link never goes back', async () => {
  const later = NOW + 10_000;
  const modifiedAfter = async (link: { id: string }, change: () => Promise<unknown>) => {
    await database
      .db('payment_links')
      .where({ id: link.id })
      .update({ modified: new Date(later) });
    await change();
    return Date.parse((await findStoredPaymentLink(database.db, link.id))!.modified);
  };
  const [link, ended] = [await aLink(), await aLink()];
  let attempt: Awaited<ReturnType<typeof anAttempt>>;
  expect(await modifiedAfter(link, async () => (attempt = await anAttempt(link)))).toBe(later);
  expect(await modifiedAfter(link, () => end(attempt, 'error'))).toBe(later);
  expect(
    await modifiedAfter(ended, () => recordPaymentLinkEnd(database.db, ended.id, { ended_by: 'merchant', now: NOW })),
  ).toBe(later);
  expect((await loadPaymentLinkSnapshot(database.db, ended.id)).status).toBe('expired');
});

test('rules 23.11: an attempt that does not have the clock of its link is refused, and nothing is made', async () => {
  const link = await aLink();
  const { id } = link;
  await database.db('sandbox_clocks').insert({ id, project_id: PROJECT.id, offset_ms: DAY, modified: new Date(NOW) });
  await expect(anAttempt(link)).rejects.toMatchObject({ error: 'ServiceUnavailable' });
  // Its time is over by its own clock.
  await expect(anAttempt({ ...link, clock_offset_ms: DAY }, NOW + DAY)).rejects.toMatchObject({
    error: 'TransactionAlreadyStarted',
  });
  const other = await aLink();
  await expect(anAttempt({ ...other, clock_offset_ms: DAY })).rejects.toMatchObject({ error: 'ServiceUnavailable' });
  for (const one of [link, other]) {
    expect(await loadPaymentLinkSnapshot(database.db, one.id)).toMatchObject({ status: 'new', attempts: 0 });
  }
});

test('the workflow of the link is signalled once its order is final, and only then', async () => {
  const link = await aLink();
  const signalled: string[] = [];
  const payment_links = { recordChanged: async (id: string) => void signalled.push(id) };
  const services = { workflows: { payment_links } } as unknown as ActivityServices;
  const order = await anAttempt(link);
  await signalLinkOfEndedOrder(services, order);
  expect(signalled).toEqual([]);
  const ended = await end(order, 'error');
  await signalLinkOfEndedOrder(services, ended);
  expect(signalled).toEqual([link.id]);
});
