import { webhookRecoverySchema, type WebhookRecoveryAnswer } from '../../../src/contract/webhook-recovery';
import { newIdempotencyKey, type RefusalName } from '../../support/merchant';
import { createTestProject, type TestProject } from '../../support/operator';
import { aRecovery } from '../../support/database';
import { setUp } from '../../support/set-up';
import { until } from '../../support/waits';

const project = setUp<TestProject>(() => createTestProject());
type Answered = WebhookRecoveryAnswer & { error: RefusalName };

const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
const recover = (body: unknown, headers: Record<string, string> = {}) =>
  project.merchant.send<Answered>('POST', '/v1/webhooks/recover/', { body, headers });
const find = async (id: string) =>
  (await project.merchant.send<Answered>('GET', `/v1/webhooks/recoveries/${id}/`)).body;

test('rules 13.16: it is answered at once, a repeat with the key gets the same; without webhooks to send it is completed', async () => {
  const headers = { 'idempotency-key': newIdempotencyKey() };
  const body = { since: ago(2) };
  const { status, body: made } = await recover(body, headers);
  expect([status, webhookRecoverySchema.parse(made).status]).toEqual([201, 'running']);
  expect(made).toMatchObject({ project_id: project.id, remaining: 0, sent: 0, delivered: 0 });
  expect((await recover(body, headers)).body).toEqual(made);
  const completed = await until('it is completed', async () => {
    const now = await find(made.id);
    return now.status === 'completed' && now;
  });
  expect(completed.completed).toBeDefined();
});

test('rules 13.16: its time ends now at the latest', async () => {
  const { body } = await recover({ since: ago(1), until: ago(-24) });
  expect(Date.parse(body.until)).toBeLessThanOrEqual(Date.now());
  await until('it is completed', async () => (await find(body.id)).status === 'completed');
});

test('rules 13.16: one of a project is open at a time', async () => {
  const other = await createTestProject();
  const id = await aRecovery(other.id);
  const { status, body } = await other.merchant.send<Answered>('POST', '/v1/webhooks/recover/', {
    body: { since: ago(1) },
  });
  expect([status, body.error.type]).toEqual([409, 'Conflict']);
  expect(body.error.value).toContain(id);
});

test.each([
  [{}, 'since'],
  [{ since: 'yesterday' }, 'since'],
  [{ since: '2026-01-15T12:00:00' }, 'since'],
  [{ since: ago(-1) }, 'since'],
  [{ since: ago(32 * 24) }, 'since'],
  [{ since: ago(2), until: ago(3) }, 'until'],
  [{ since: '0000-01-01T00:00:00Z', until: '0000-01-02T00:00:00Z' }, 'since'],
  [{ since: ago(2), until: null }, 'until'],
])('rules 13.16: %j is refused with the name of the field', async (body, field) => {
  const { status, body: answer } = await recover(body);
  expect([status, answer.error.type, answer.error.property_path]).toEqual([400, 'ValidationError', field]);
});
