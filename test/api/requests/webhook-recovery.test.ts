import pino from 'pino';
import { v7 as uuidv7 } from 'uuid';
import { startWebhookRecovery, type WebhookRecoveryServices } from '../../../api/requests/webhook-recovery';
import { createTestDatabase } from '../../support/database';
import { PROJECT } from '../../support/domain';
import { setUp } from '../../support/set-up';

const database = setUp(() => createTestDatabase());

test('what is to be sent is counted before the SQL transaction of a request: a request does not wait for a count', async () => {
  const { db, statements, forget } = database;
  const counts = () => statements.filter((sql) => sql.includes('least(count(*)')).length;
  const services = { db, webhook_recoveries: {} as WebhookRecoveryServices['webhook_recoveries'] };
  const time = { since: new Date(Date.now() - 60_000).toISOString() };
  const by = { actor: { kind: 'api_key', id: 'k' }, request_id: uuidv7(), log: pino({ level: 'silent' }) } as const;
  forget();
  const { write } = await startWebhookRecovery(services, PROJECT.id, time, by);
  expect(counts()).toBe(1);
  expect(await db.transaction(write)).toMatchObject({ status: 'running', remaining: 0 });
  expect(counts()).toBe(1);
});
