import { beginRestore } from '../../../src/db/backups/restores';
import { queryRows } from '../../../src/db/query';
import { lastSettlement, recordSettlements } from '../../../src/db/orders/settlements';
import { SETTLEMENTS, listAttentions, recordAttention } from '../../../src/db/recovery/attentions';
import { settlementsAttention } from '../../../src/domain/attention';
import { answerOfAdmin } from '../../support/admin';
import { createTestDatabase, untilLocked } from '../../support/database';
import { NOW, transactionIdOf } from '../../support/domain';
import { writeOrders } from '../../support/rows';
import { setUp } from '../../support/set-up';
import { NOBODY, TIMESTAMP } from '../../support/shapes';

/** `npm run admin -- settlement`. */

const database = setUp(() => createTestDatabase());
const REASON = 'A second settlement of one payment, ticket 43';
const DAY = 24 * 3_600_000;

const admin = (...args: string[]) => answerOfAdmin<{ items?: object[] }>(args, { env: { POSTGRES_URL: database.url } });
const discard = (number: string, reason = REASON) => admin('settlement', 'discard', number, '--reason', reason);
const listed = async () => (await admin('settlement', 'list')).items;
const attentions = async () =>
  (await listAttentions(database.db, { status: 'open' }, { limit: 100 })).items.map(({ object_kind }) => object_kind);

const payout = { transaction_id: transactionIdOf(NOBODY, 1), settlement_currency: 'EUR', settlement_amount: 1_213 };
const wait = async (number: number, fetched: number, fee = {}) =>
  await recordSettlements(database.db, {
    after: await lastSettlement(database.db),
    settlements: [{ number, ...payout, ...fee }],
    now: fetched,
  });

test('rules 22.9: settlements that wait are listed, and discarded with a reason; the attention to them ends with the last of a day', async () => {
  expect(await listed()).toEqual([]);
  const fee = { fee_currency: 'EUR', fee_amount: 37 };
  await wait(7, Date.now() - 2 * DAY, fee);
  await wait(14, Date.now() - 2 * DAY);
  await wait(21, Date.now());
  await recordAttention(database.db, SETTLEMENTS, settlementsAttention(Date.now() - 2 * DAY, Date.now()));
  const first = { number: 7, ...payout, ...fee, fetched: TIMESTAMP };
  expect(await listed()).toEqual([
    { number: 21, ...payout, fetched: TIMESTAMP },
    { number: 14, ...payout, fetched: TIMESTAMP },
    first,
  ]);

  expect(await discard('7')).toEqual(first);
  expect(await attentions()).toEqual(['settlements']);
  await discard('14');
  expect(await attentions()).toEqual([]);
  expect(await listed()).toEqual([{ number: 21, ...payout, fetched: TIMESTAMP }]);
  expect((await admin('audit', 'list', '--object', '7')).items).toMatchObject([
    {
      action: 'settlement.discard',
      actor: { kind: 'command_line' },
      object: { kind: 'settlement', id: '7' },
      before: first,
      after: { reason: REASON },
    },
  ]);
  expect(await discard('7')).toEqual({ error: 'Conflict', value: 'No settlement with the number 7 waits.' });
});

test('rules 22.9: the order of one that is discarded gets a new version, so that the audit compares it', async () => {
  const [order_id = ''] = await writeOrders(database.db, [{}]);
  const after = await lastSettlement(database.db);
  const waiting = { number: after + 7, transaction_id: transactionIdOf(order_id, 1), settlement_currency: 'XXX' };
  await recordSettlements(database.db, { after, settlements: [{ ...payout, ...waiting }], now: NOW });
  const read = async () => (await database.db('orders').where({ id: order_id }).first('version', 'modified')) as object;
  const before = (await read()) as { version: string };
  expect(await discard(String(waiting.number))).toMatchObject({ number: waiting.number });
  expect(await read()).toMatchObject({ version: Number(before.version) + 1 });
});

test.each<[title: string, args: string[], says: RegExp]>([
  ...['one', '0', '0x15', '1e1', '9'.repeat(20)].map((number): [string, string[], RegExp] => [
    `${number} as number`,
    [number, '--reason', REASON],
    /^number: /,
  ]),
  ['no reason', ['21'], /^reason: /],
])('rules 22.9: refused: %s', async (_title, args, says) => {
  expect(await admin('settlement', 'discard', ...args)).toEqual({
    error: 'ValidationError',
    value: expect.stringMatching(says) as unknown,
  });
});

test('rules 22.9: one that a fetch writes to its transaction at the same time is not discarded', async () => {
  const [order_id = ''] = await writeOrders(database.db, [{}]);
  const after = await lastSettlement(database.db);
  const settled = { ...payout, number: after + 7, transaction_id: transactionIdOf(order_id, 1) };
  await recordSettlements(database.db, { after, settlements: [settled, { ...settled, number: after + 14 }], now: NOW });
  await queryRows(
    database.db,
    'update transactions set settlement_currency = null, settlement_amount = null where order_id = :order_id',
    { order_id },
  );
  const fetch = await database.db.transaction();
  await recordSettlements(fetch, { after: after + 14, settlements: [], now: NOW });
  const discarding = discard(String(after + 14));
  await untilLocked('it waits for the fetch', database.db);
  await fetch.commit();
  expect(await discarding).toMatchObject({ error: 'Conflict' });
});

test('rules 28.1: none is discarded while a restored record has to be reconciled', async () => {
  await database.db.transaction((trx) => beginRestore(trx, NOBODY, NOW, new Date()));
  expect(await discard('21')).toMatchObject({
    error: 'Conflict',
    value: expect.stringContaining('reconcile') as unknown,
  });
  expect(await listed()).toContainEqual(expect.objectContaining({ number: 21 }));
});
