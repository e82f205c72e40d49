import type { DeliveryAnswer } from '../../../../src/contract/delivery';
import type { AuditEntry } from '../../../../src/contract/manage/history';
import { recordAttempt } from '../../../../src/db/webhooks/deliveries';
import type { DeliveryKey } from '../../../../src/domain/delivery';
import { NOW, PROJECT } from '../../../support/domain';
import { aManageHost } from '../../../support/manage';
import { aDelivery } from '../../../support/rows';
import { setUp } from '../../../support/set-up';
import { NOBODY } from '../../../support/shapes';

const host = setUp(aManageHost);
let token: string;
beforeAll(async () => {
  token = await host.aToken('merchant', PROJECT.merchant_id);
});

const idOf = ({ order_id, n }: { order_id: string; n: number }) => `${order_id}-${n}`;
const get = async (id: string) => await host.send<DeliveryAnswer>('GET', `/v1/webhook-deliveries/${id}/`, { token });
const redeliver = (id: string, headers: Record<string, string> = {}) =>
  host.send<DeliveryAnswer>('POST', `/v1/webhook-deliveries/${id}/redeliver/`, { token, headers });
const list = async (query: string) =>
  (await host.send<{ items: DeliveryAnswer[]; next?: string }>('GET', `/v1/webhook-deliveries/?${query}`, { token }))
    .body;

const auditOf = async (object: string) =>
  (await host.send<{ items: AuditEntry[] }>('GET', `/v1/audit-trail/?object=${object}`, { token })).body.items;

test('a delivery shows every attempt: duration, status code or the kind of failure, and when the next is due', async () => {
  const delivery = await aDelivery(host.database.db);
  const attempt = { time_limit_ms: 4_000, started: NOW, duration_ms: 12 };
  const again = { status: 'new', next_attempt_at: NOW + 120_000 } as const;
  const { db } = host.database;
  await recordAttempt(db, delivery, { ...attempt, attempt: 1, status_code: 500, failure: 'answered 500' }, again);
  await recordAttempt(db, delivery, { ...attempt, attempt: 2, failure: 'connection refused' }, again);
  const { status, body } = await get(idOf(delivery));
  expect(status).toBe(200);
  expect(body).toMatchObject({
    id: idOf(delivery),
    order_id: delivery.order_id,
    project_id: PROJECT.id,
    event: 'status_changed',
    url: 'https://shop.example/hook',
    status: 'new',
    next_attempt_at: '2030-01-15T12:02:00.000000+00:00',
  });
  const started = '2030-01-15T12:00:00.000000+00:00';
  expect(body.attempts).toEqual([
    { n: 1, started, duration_ms: 12, status_code: 500, error: 'answered 500' },
    { n: 2, started, duration_ms: 12, error: 'connection refused' },
  ]);
  expect(body).not.toHaveProperty('redelivery_of');
});

test('deliveries are found by order, project, status and time, page by page', async () => {
  const [one, other] = [await aDelivery(host.database.db), await aDelivery(host.database.db)];
  const ids = async (query: string) => (await list(query)).items.map(({ id }) => id);
  expect(await ids(`order_id=${one.order_id}`)).toEqual([idOf(one)]);
  expect(await ids(`project_id=${PROJECT.id}&limit=100`)).toEqual(expect.arrayContaining([idOf(one), idOf(other)]));
  expect(await ids(`order_id=${one.order_id}&status=delivered`)).toEqual([]);
  expect(await ids(`order_id=${one.order_id}&since=2030-01-15T12:00:00Z`)).toEqual([idOf(one)]);
  expect(await ids(`order_id=${one.order_id}&since=2030-01-15T11:59:59.${'9'.repeat(200)}Z`)).toEqual([idOf(one)]);
  expect(await ids('since=2100-01-01T00:00:00Z')).toEqual([]);
  const first = await list('limit=1');
  const second = await list(`limit=1&cursor=${first.next}`);
  expect(second.items[0]!.id).not.toBe(first.items[0]!.id);
});

test.each(['status=sent', 'order_id=x', 'since=yesterday', 'state=new'])('%s is a ValidationError', async (query) => {
  const { status } = await host.send('GET', `/v1/webhook-deliveries/?${query}`, { token });
  expect(status).toBe(400);
});

test('a redelivery is a delivery of its own about the same event, and names the first, also of a redelivery', async () => {
  const delivery = await aDelivery(host.database.db);
  const { status, body } = await redeliver(idOf(delivery));
  expect([status, body]).toMatchObject([
    201,
    {
      id: `${delivery.order_id}-2`,
      redelivery_of: `${delivery.order_id}-1`,
      url: 'https://shop.example/hook',
      status: 'new',
      attempts: [],
    },
  ]);
  await setStatus(delivery, 2, 'delivered');
  expect((await redeliver(body.id)).body).toMatchObject({
    id: `${delivery.order_id}-3`,
    redelivery_of: `${delivery.order_id}-1`,
  });
  expect(host.started.slice(-2)).toMatchObject([
    { order_id: delivery.order_id, n: 2 },
    { order_id: delivery.order_id, n: 3 },
  ]);
  expect((await auditOf(body.id)).map(({ action }) => action)).toEqual(['webhook.redeliver']);
});

const setStatus = (delivery: { order_id: string }, n: number, status: string) =>
  host.database
    .db('webhook_deliveries')
    .where({ order_id: delivery.order_id, n })
    .update({ status, ...(status === 'paused' ? {} : { next_attempt_at: null }) });

test('rules 13.14: of several at once one is made, others are a Conflict that names it; a repeat is answered', async () => {
  const delivery = await aDelivery(host.database.db);
  const headers = (n: number) => ({ 'idempotency-key': `redelivery-${n}` });
  const answers = await Promise.all([0, 1, 2, 3].map((n) => redeliver(idOf(delivery), headers(n))));
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409, 409]);
  const made = answers.findIndex(({ status }) => status === 201);
  expect((await redeliver(idOf(delivery), headers(made))).body).toEqual(answers[made]!.body);
  expect((await list(`order_id=${delivery.order_id}`)).items).toHaveLength(2);

  // A redelivery is of the same event as the first delivery.
  await setStatus(delivery, 2, 'paused');
  for (const id of [idOf(delivery), `${delivery.order_id}-2`]) {
    expect((await redeliver(id)).body).toMatchObject({
      error: {
        type: 'Conflict',
        value: `The redelivery ${delivery.order_id}-2 of the same event is paused.`,
      },
    });
  }
  await setStatus(delivery, 2, 'failed');
  expect((await redeliver(idOf(delivery))).body.id).toBe(`${delivery.order_id}-3`);
});

describe('rules 13.10: deliver now, pause, resume', () => {
  const request = (delivery: DeliveryKey, verb: string, headers: Record<string, string> = {}) =>
    host.send<DeliveryAnswer & { error: string }>('POST', `/v1/webhook-deliveries/${idOf(delivery)}/${verb}/`, {
      token,
      headers,
    });
  const make = async (delivery: DeliveryKey, verbs: string[]) => {
    const answers = [];
    for (const verb of verbs) answers.push(await request(delivery, verb));
    return answers;
  };
  const setDue = (delivery: DeliveryKey, next_attempt_at: Date) =>
    host.database.db('webhook_deliveries').where({ order_id: delivery.order_id }).update({ next_attempt_at });

  test('a delivery that waits is paused and resumed, and keeps its time; its workflow is told', async () => {
    const delivery = await aDelivery(host.database.db);
    const paused = await request(delivery, 'pause');
    expect((await list(`order_id=${delivery.order_id}&status=paused`)).items).toEqual([paused.body]);
    const resumed = await request(delivery, 'resume');
    expect([paused, resumed]).toMatchObject([
      { status: 200, body: { status: 'paused' } },
      { status: 200, body: { status: 'new', next_attempt_at: '2030-01-15T12:00:00.000000+00:00' } },
    ]);
    expect(paused.body).not.toHaveProperty('next_attempt_at');
    expect(host.told.slice(-2)).toMatchObject([delivery, delivery]);
  });

  test('delivered now, and resumed after its time, it is due at once', async () => {
    const began = Date.now();
    const [one, other] = [await aDelivery(host.database.db), await aDelivery(host.database.db)];
    await request(other, 'pause');
    await setDue(other, new Date(began - 60_000));
    for (const answer of [await request(one, 'deliver-now'), await request(other, 'resume')]) {
      expect(answer).toMatchObject({ status: 200, body: { status: 'new' } });
      const due = Date.parse(answer.body.next_attempt_at!);
      expect([due >= began, due <= Date.now()]).toEqual([true, true]);
    }
  });

  test.each([
    ['paused, again', ['pause', 'pause']],
    ['resumed, again', ['pause', 'resume', 'resume']],
    ['resumed and never paused', ['resume']],
    ['delivered now while it is paused', ['pause', 'deliver-now']],
    ['delivered now, again', ['deliver-now', 'deliver-now']],
    ['paused while it is sent', ['deliver-now', 'pause']],
  ])('%s: Conflict, and nothing of it in the audit trail', async (_title, verbs) => {
    const delivery = await aDelivery(host.database.db);
    const answers = await make(delivery, verbs);
    expect(answers.map(({ status }) => status)).toEqual([...verbs.slice(1).map(() => 200), 409]);
    expect(answers.at(-1)!.body).toMatchObject({ error: { type: 'Conflict' } });
    expect(await auditOf(idOf(delivery))).toHaveLength(verbs.length - 1);
  });

  test('of several at once one is carried out; a repeat under its Idempotency-Key gets its answer', async () => {
    const delivery = await aDelivery(host.database.db);
    const headers = { 'idempotency-key': `pause-${delivery.order_id}` };
    const first = await request(delivery, 'pause', headers);
    expect(await request(delivery, 'pause', headers)).toMatchObject({ status: 200, body: first.body });
    const answers = await Promise.all(Array.from({ length: 4 }, () => request(delivery, 'resume')));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409]);
  });

  test('the audit trail says who did what, with the delivery before and after', async () => {
    const delivery = await aDelivery(host.database.db);
    const [paused, resumed, now] = await make(delivery, ['pause', 'resume', 'deliver-now']);
    const object = { kind: 'webhook', id: idOf(delivery) };
    expect(await auditOf(idOf(delivery))).toMatchObject([
      {
        action: 'webhook.deliver_now',
        actor: { kind: 'client' },
        object,
        before: resumed!.body,
        after: now!.body,
        request_id: now!.headers.get('x-request-id'),
      },
      { action: 'webhook.resume', object, before: paused!.body, after: resumed!.body },
      { action: 'webhook.pause', object, before: { status: 'new' }, after: paused!.body },
    ]);
  });
});

test('an unknown delivery is 404, a text that is no id 400', async () => {
  expect((await get(`${NOBODY}-1`)).status).toBe(404);
  expect((await redeliver(`${NOBODY}-1`)).status).toBe(404);
  expect((await get('x')).status).toBe(400);
});
