import { v7 as uuidv7 } from 'uuid';
import { finishReceiverCheck, playReceiverCase } from '../../activities/receiver-check';
import type { ActivityServices } from '../../activities/services';
import { queryRows } from '../../src/db/query';
import { beginRestore } from '../../src/db/backups/restores';
import { beginReceiverCheck, completeReceiverCheck, findReceiverCheck } from '../../src/db/webhooks/receiver-checks';
import { READS_AWAITED_MS, RECEIVER_CASES, type ReceiverCase } from '../../src/domain/receiver-check';
import { postWebhook } from '../../src/webhook/post';
import { createTestDatabase, secrets } from '../support/database';
import { PROJECT } from '../support/domain';
import { startReceiver } from '../support/servers';
import { setUp } from '../support/set-up';
import { runProcessor } from '../support/processor';

const receiver = setUp(startReceiver);
const database = setUp(() => createTestDatabase());
const processor = setUp(runProcessor);
const services = () =>
  ({
    db: database.db,
    secrets,
    processor,
    postWebhook,
    webhook_private_addresses: true,
    public_url: 'http://127.0.0.1:1',
    workflows: { orders: { recordChanged: async () => undefined } },
  }) as unknown as ActivityServices;

const counted = async () =>
  (
    await queryRows<{ orders: number; transactions: number; charges: number; open: number }>(
      database.db,
      `select (select count(*)::int from orders) as orders, (select count(*)::int from transactions) as transactions,
         (select count(*)::int from transaction_events where event = 'accepted') as charges,
         (select count(*)::int from webhook_deliveries where status = 'new') as open`,
    )
  )[0]!;

/** Begins a check, and ends all others: a project has one at a time. Returns its id. */
async function beginOnlyCheck(): Promise<string> {
  const check = { id: uuidv7(), project_id: PROJECT.id, webhook_url: receiver.url };
  await queryRows(database.db, `update receiver_checks set reason = 'x', completed = now()`);
  await database.db.transaction((trx) => beginReceiverCheck(trx, check, Date.now()));
  return check.id;
}

test('rules 27.9: a case that is played again makes no order and no charge twice, and sends its webhooks again', async () => {
  const check_id = await beginOnlyCheck();
  const play = (name: ReceiverCase) => playReceiverCase(services(), { check_id, case: name, now: Date.now() });
  const first = await Promise.all(RECEIVER_CASES.map(play));
  const made = await counted();
  expect(made).toEqual({ orders: 22, transactions: 23, charges: 22, open: 0 });
  const sent = receiver.received.length;
  const second = await Promise.all(RECEIVER_CASES.map(play));
  expect(await counted()).toEqual(made);
  expect(receiver.received).toHaveLength(2 * sent);
  const ids = (played: typeof first) => played.map(({ webhooks }) => webhooks.map(({ webhook_id }) => webhook_id));
  expect(ids(second)).toEqual(ids(first));
});

test('rules 27.2 and 28.4: after a restore, when the first webhook of an order is not number 1, cases are played as before', async () => {
  await database.db.transaction((trx) => beginRestore(trx, uuidv7(), Date.now(), new Date()));
  const check_id = await beginOnlyCheck();
  const play = (name: ReceiverCase) => playReceiverCase(services(), { check_id, case: name, now: Date.now() });
  const before = receiver.received.length;
  const sent = (await Promise.all(RECEIVER_CASES.map(play))).flatMap(({ webhooks }) => webhooks);
  expect(sent).toHaveLength(receiver.received.length - before);
});

test('rules 27.8: a check that counts as lost or not started is not played any more, beside the next one', async () => {
  const check_id = await beginOnlyCheck();
  await completeReceiverCheck(database.db, { id: check_id, reason: 'It could not be started.', now: Date.now() });
  const [before, sent] = [await counted(), receiver.received.length];
  const input = { check_id, now: Date.now() };
  const played = await playReceiverCase(services(), { ...input, case: 'once' });
  expect([played, await counted(), receiver.received.length]).toEqual([{ case: 'once', webhooks: [] }, before, sent]);
  expect(await finishReceiverCheck(services(), { ...input, played: [played] })).toBe('not_played');
});

test('rules 27.3: a webhook that is not accepted stays paused', async () => {
  const check_id = await beginOnlyCheck();
  receiver.answer((response) => response.writeHead(500).end());
  const { webhooks } = await playReceiverCase(services(), { check_id, case: 'once', now: Date.now() });
  expect(webhooks).toMatchObject([{ status_code: 500, expected: 'accepted' }]);
  const rows = await queryRows(
    database.db,
    `select d.status, a.status_code, a.failure from webhook_deliveries d join webhook_attempts a using (order_id, n)
     where d.order_id = :order_id`,
    { order_id: webhooks[0]!.order_id },
  );
  expect(rows).toEqual([{ status: 'paused', status_code: 500, failure: 'answered 500' }]);
});

test('rules 27.5: an order that is accepted and never retrieved: its case has failed once the four seconds are over', async () => {
  const check_id = await beginOnlyCheck();
  receiver.answer((response) => response.writeHead(200).end());
  const played = await playReceiverCase(services(), { check_id, case: 'once', now: Date.now() });
  const began = Date.now();
  expect(await finishReceiverCheck(services(), { check_id, played: [played], now: began })).toBe('failed');
  expect(Date.now() - began).toBeGreaterThanOrEqual(READS_AWAITED_MS);
  const { completed, cases } = (await findReceiverCheck(database.db, check_id))!;
  expect(completed).not.toBeNull();
  expect(cases!.find((one) => one.case === 'once')).toMatchObject({ result: 'failed', reads: [] });
});
