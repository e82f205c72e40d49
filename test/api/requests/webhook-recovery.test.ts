import pino from 'pino';
import { v7 as uuidv7 } from 'uuid';
import { startWebhookRecovery, type WebhookRecoveryServices } from '../../../api/requests/webhook-recovery';
import { createTestDatabase } from '../../support/database';
import { PROJECT } from '../../support/domain';
import { setUp } from '../../support/set-up';

const database = setUp(() => createTestDatabase());

test('rules 20.22: what is to be sent is counted on the connections of lists, not in the SQL transaction of the request', async () => {
  const { db, statements, forget } = database;
  const counted: string[] = [];
  const bulk = {
    read: async (project_id: string, work: (of: never) => Promise<unknown>) => {
      counted.push(project_id);
      return await work(db as never);
    },
  } as WebhookRecoveryServices['bulk'];
  const started = startWebhookRecovery(
    { db, webhook_recoveries: {} as never, ...(bulk && { bulk }) },
    PROJECT.id,
    { since: new Date(Date.now() - 60_000).toISOString() },
    { actor: { kind: 'api_key', id: 'k' }, request_id: uuidv7(), log: pino({ level: 'silent' }) },
  );
  const { write } = await started;
  expect(counted).toEqual([PROJECT.id]);
  forget();
  const answer = await db.transaction(write);
  expect(answer).toMatchObject({ status: 'running', remaining: 0 });
  expect(statements.filter((sql) => sql.includes('least(count(*)'))).toEqual([]);
});
