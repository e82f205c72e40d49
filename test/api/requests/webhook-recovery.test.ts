import pino from 'pino';
import { v7 as uuidv7 } from 'uuid';
import { carryOut } from '../../../api/operation';
import {
  changeWebhookRecovery,
  startWebhookRecovery,
  type WebhookRecoveryServices,
} from '../../../api/requests/webhook-recovery';
import { findWebhookRecovery } from '../../../src/db/webhooks/recoveries';
import { createTestDatabase } from '../../support/database';
import { PROJECT } from '../../support/domain';
import { setUp } from '../../support/set-up';

const database = setUp(() => createTestDatabase());

const BY = { actor: { kind: 'api_key', id: 'k' }, request_id: uuidv7(), log: pino({ level: 'silent' }) } as const;

/** What the workflow of a recovery was told. */
let called: string[] = [];
beforeEach(() => {
  called = [];
});

/** The services on a database that does not count as usual. */
function servicesCounting(count: () => Promise<never>): WebhookRecoveryServices {
  const { db } = database;
  const raw = (sql: string, bindings: never) => (sql.includes('least(count(*)') ? count() : db.raw(sql, bindings));
  return {
    db: new Proxy(db, { get: (target, key) => (key === 'raw' ? raw : Reflect.get(target, key)) }),
    webhook_recoveries: {
      start: async () => void called.push('start'),
      resume: async () => void called.push('resume'),
    },
  };
}

/** Starts a recovery, pauses, resumes and stops it. Returns the answers. */
async function wholeLife(services: WebhookRecoveryServices) {
  const time = { since: new Date(Date.now() - 60_000).toISOString() };
  const answers = [await carryOut(await startWebhookRecovery(services, PROJECT.id, time, BY))];
  const { id } = answers[0]!;
  for (const request of ['pause', 'resume', 'stop'] as const) {
    const recovery = (await findWebhookRecovery(database.db, id))!;
    answers.push(await carryOut(await changeWebhookRecovery(services, recovery, request, BY)));
  }
  expect(called).toEqual(['start', 'resume', 'resume', 'resume']);
  return answers.map(({ status, remaining }) => [status, remaining]);
}

const NOT_COUNTED = [
  ['running', undefined],
  ['paused', undefined],
  ['running', undefined],
  ['stopped', 0],
];

test('rules 13.18: a recovery is started, paused, resumed and stopped also when its webhooks cannot be counted', async () => {
  const failing = servicesCounting(() => Promise.reject(Object.assign(new Error('timeout'), { code: '57014' })));
  expect(await wholeLife(failing)).toEqual(NOT_COUNTED);
});

test('rules 13.18: and so it is while they are being counted, or others are before them', async () => {
  let end = () => {};
  const counted = new Promise<never>((_, reject) => (end = () => reject(new Error('timeout'))));
  expect(await wholeLife(servicesCounting(() => counted))).toEqual(NOT_COUNTED);
  end();
});

test('what is to be sent is counted before the SQL transaction of a request: a request does not wait for a count', async () => {
  const { db, statements, forget } = database;
  const counts = () => statements.filter((sql) => sql.includes('least(count(*)')).length;
  const services = { db, webhook_recoveries: {} as WebhookRecoveryServices['webhook_recoveries'] };
  const time = { since: new Date(Date.now() - 60_000).toISOString() };
  forget();
  const { write } = await startWebhookRecovery(services, PROJECT.id, time, BY);
  expect(counts()).toBe(1);
  expect(await db.transaction(write)).toMatchObject({ status: 'running', remaining: 0 });
  expect(counts()).toBe(1);
});
