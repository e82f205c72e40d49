import { randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { insertFollowUp } from '../../../../src/db/orders/follow-ups';
import { beginAttempt, insertOrder } from '../../../../src/db/orders/insert-order';
import { loadOrderSnapshot } from '../../../../src/db/orders/order-snapshot';
import { insertPaymentLink, loadPaymentLinkSnapshot } from '../../../../src/db/payment-links';
import { withdrawRequest } from '../../../../src/db/requests/request-claims';
import { queryRow } from '../../../../src/db/query';
import { removeOld } from '../../../../src/db/retention/retention';
import type { AcceptedRequest } from '../../../../src/domain/accepted-request';
import { createTestDatabase, untilLocked } from '../../../support/database';
import { aLateRequest, aRequest, anOrder, aTransaction, NOW, PROJECT } from '../../../support/domain';
import { aFollowUp, anAcceptedPayment, aStoredOrder } from '../../../support/rows';
import { setUp } from '../../../support/set-up';

const database = setUp(() => createTestDatabase());

const times = { created: NOW, expires_at: NOW + 1_000, transaction_expires_at: NOW + 1_000 };

function aLink(request = aRequest(), id = uuidv7()) {
  const link = { id, project_id: PROJECT.id, merchant_order_id: 'L', amount: 500, currency: 'EUR' };
  return insertPaymentLink(database.db, { ...link, expiration_period: 'P1D' }, { ...times, request });
}

/** What a request without an Idempotency-Key writes: prepared, so that it can be written again and again. */
const WRITES: [title: string, prepare: () => Promise<(request: AcceptedRequest) => Promise<unknown>>][] = [
  [
    'an order',
    async () => {
      const order = anOrder();
      return (request) => insertOrder(database.db, order, aTransaction(order.id), { ...times, request });
    },
  ],
  [
    'an attempt of the hosted page',
    async () => {
      const { id } = await aStoredOrder(database.db, { transaction: false });
      const order = await loadOrderSnapshot(database.db, id);
      return (request) => beginAttempt(database.db, order, aTransaction(id), { ...times, request });
    },
  ],
  [
    'an attempt that came with its order',
    async () => {
      const order = await aStoredOrder(database.db);
      return (request) => beginAttempt(database.db, order, aTransaction(order.id), { ...times, request });
    },
  ],
  ...(['refund', 'capture', 'void'] as const).map((kind): (typeof WRITES)[number] => [
    `a ${kind}`,
    async () => {
      const mode = kind === 'refund' ? 'sale' : 'manual';
      const payment = await anAcceptedPayment(database.db, { mode, amount: 100 });
      const follow_up = aFollowUp(payment, { kind, amount: 40 });
      return (request) => insertFollowUp(database.db, { ...follow_up, request });
    },
  ]),
  [
    'a payment link',
    async () => {
      const id = uuidv7();
      return (request) => aLink(request, id);
    },
  ],
  [
    'an attempt of a payment link',
    async () => {
      const link = await aLink();
      const order = anOrder({ attempts_max: 1, charged_by: 'token' });
      const payment_link = { ...link, clock_offset_ms: 0 };
      return (request) => insertOrder(database.db, order, aTransaction(order.id), { ...times, payment_link, request });
    },
  ],
];

/** All that may have been written. */
const everything = async () => {
  return await queryRow<Record<string, number>>(
    database.db,
    `select (select count(*) from orders) as orders, (select sum(version) from orders) as versions,
       (select count(*) from transactions) as transactions, (select count(*) from payment_links) as links,
       (select sum(version) from payment_links) as link_versions`,
  );
};

describe.each(WRITES)('rules 10.5: %s, requested without an Idempotency-Key', (_title, prepare) => {
  const awaited = () => aRequest({ begin_before: Date.now() + 60_000 });

  test('withdrawn before it is written: refused, whatever the clocks show, and nothing is stored', async () => {
    const write = await prepare();
    const request = awaited();
    const before = await everything();
    expect(await withdrawRequest(database.db, request.request_id)).toBe(true);
    expect(await withdrawRequest(database.db, request.request_id)).toBe(true);
    await expect(write(request)).rejects.toMatchObject({ error: 'ServiceUnavailable' });
    expect(await everything()).toEqual(before);
    // Another request is not affected.
    await write(awaited());
  });

  test('written before it is withdrawn: it stays, a repeat finds it, and it cannot be withdrawn', async () => {
    const write = await prepare();
    const request = awaited();
    const written = await write(request);
    expect(await withdrawRequest(database.db, request.request_id)).toBe(false);
    expect(await write(request)).toEqual(written);
  });

  test('past begin_before it is refused, and stays so', async () => {
    const write = await prepare();
    const request = aLateRequest();
    const before = await everything();
    await expect(write(request)).rejects.toMatchObject({ error: 'ServiceUnavailable' });
    expect(await everything()).toEqual(before);
    const { request_id } = request;
    const claim = await database.db('request_claims').where({ request_id }).first('is_withdrawn');
    expect(claim).toEqual({ is_withdrawn: true });
    expect(await withdrawRequest(database.db, request_id)).toBe(true);
  });

  test('past begin_before, while an earlier try is not committed: not refused, as it may have been written', async () => {
    const write = await prepare();
    const request = aLateRequest();
    const holder = await database.db.transaction();
    await holder('request_claims').insert({ request_id: request.request_id, is_withdrawn: false });
    const late = write(request).catch((error: unknown) => error);
    await untilLocked('it waits', database.db);
    await holder.rollback();
    expect(await late).toMatchObject({ error: 'ServiceUnavailable' });
  });
});

test('rules 10.5: a request whose claim is not committed cannot be withdrawn, and the answer does not wait for it', async () => {
  const request_id = randomUUID();
  const holder = await database.db.transaction();
  await holder('request_claims').insert({ request_id, is_withdrawn: false });
  expect(await withdrawRequest(database.db, request_id)).toBe(false);
  await holder.rollback();
  expect(await withdrawRequest(database.db, request_id)).toBe(true);
});

test('rules 19.4: an attempt that was withdrawn leaves its link as it was', async () => {
  const link = await aLink();
  const request = aRequest({ has_idempotency_key: false });
  await withdrawRequest(database.db, request.request_id);
  const order = anOrder({ attempts_max: 1, charged_by: 'token' });
  const payment_link = { ...link, clock_offset_ms: 0 };
  const attempt = insertOrder(database.db, order, undefined, { ...times, payment_link, request });
  await expect(attempt).rejects.toMatchObject({ error: 'ServiceUnavailable' });
  expect(await loadPaymentLinkSnapshot(database.db, link.id)).toEqual(link);
});

test('rules 10.5: an attempt that its link does not take claims nothing: that nothing was stored is certain', async () => {
  const link = await aLink();
  const request = aRequest({ has_idempotency_key: false });
  const order = anOrder({ attempts_max: 1, charged_by: 'token' });
  // Read before the clock of the link was advanced.
  const payment_link = { ...link, clock_offset_ms: -1 };
  const attempt = insertOrder(database.db, order, undefined, { ...times, payment_link, request });
  await expect(attempt).rejects.toMatchObject({ error: 'ServiceUnavailable' });
  expect(await withdrawRequest(database.db, request.request_id)).toBe(true);
});

test('claims are deleted once they are old', async () => {
  const request_id = randomUUID();
  await withdrawRequest(database.db, request_id);
  const left = async () => (await database.db('request_claims').where({ request_id })).length;
  await removeOld(database.db, 'request_claims', Date.now() - 60_000);
  expect(await left()).toBe(1);
  await removeOld(database.db, 'request_claims', Date.now() + 60_000);
  expect(await left()).toBe(0);
});
