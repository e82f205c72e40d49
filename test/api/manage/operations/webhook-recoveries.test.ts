import pino from 'pino';
import { webhookRecoveryOperations } from '../../../../api/manage/operations/webhook-recoveries';
import type { ManageContext, ManageServices } from '../../../../api/manage/manager';
import { createTestDatabase } from '../../../support/database';
import { aWebhookRecovery } from '../../../support/rows';
import { setUp } from '../../../support/set-up';
import { until } from '../../../support/waits';

const database = setUp(() => createTestDatabase());

const SENT_AT_ONCE = 5;

test('rules 13.18, 18.7: of a project one recovery is counted at a time, and left out at the deadline of its request', async () => {
  const { db } = database;
  const recovery_id = await aWebhookRecovery(db);
  let [running, most, counted] = [0, 0, 0];
  let letGo = () => {};
  const held = new Promise<void>((resolve) => (letGo = resolve));
  const raw = async (sql: string, bindings: never) => {
    if (!sql.includes('least(count(*)')) return await db.raw(sql, bindings);
    running += 1;
    most = Math.max(most, running);
    await held;
    running -= 1;
    counted += 1;
    return await db.raw(sql, bindings);
  };
  const slow = new Proxy(db, { get: (target, key) => (key === 'raw' ? raw : Reflect.get(target, key)) });
  const { getWebhookRecovery, listWebhookRecoveries } = webhookRecoveryOperations({ db: slow } as ManageServices);
  const caller = { id: 'operator', log: {}, actor: { kind: 'oauth_client', id: 'operator' }, role: 'operator' };
  const context = { caller, log: pino({ level: 'silent' }) } as unknown as ManageContext;
  const get = (of: ManageContext) => getWebhookRecovery(of, { params: { recovery_id } });
  const first = new AbortController();
  const left = get({ ...context, signal: first.signal });
  await until('one is counted', () => running > 0);
  const sent = Array.from({ length: SENT_AT_ONCE }, () => get(context));
  const listed = listWebhookRecoveries(context, { query: { limit: 10 } });
  const uncounted = expect.not.objectContaining({ remaining: expect.anything() as unknown }) as unknown;
  expect(await get({ ...context, signal: AbortSignal.timeout(300) })).toEqual(uncounted);
  first.abort(new Error('left'));
  expect(await left).toEqual(uncounted);
  letGo();
  expect((await Promise.all(sent)).map(({ id, remaining }) => [id, remaining])).toEqual(
    Array.from({ length: SENT_AT_ONCE }, () => [recovery_id, 0]),
  );
  expect((await listed).items).toHaveLength(1);
  expect([most, counted]).toEqual([1, SENT_AT_ONCE + 2]);
});
