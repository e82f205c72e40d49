import { MockActivityEnvironment } from '@temporalio/testing';
import { createActivities } from '../../activities';
import type { AttemptInput } from '../../activities/webhook-delivery';
import type { ActivityServices } from '../../activities/services';
import { withDatabase } from '../../src/db/connection';
import type { Database } from '../../src/db/query';
import { moveOrder } from '../../src/db/orders/move-order';
import type { DeliveryKey } from '../../src/domain/delivery';
import { gauges } from '../../src/metrics/recorder';
import { SecretKeys } from '../../src/secrets';
import { AttemptLimits } from '../../src/webhook/attempt-limits';
import { postWebhook } from '../../src/webhook/post';
import { createTestDatabase, secrets } from '../support/database';
import { NOW, PROJECT } from '../support/domain';
import { aStoredOrder } from '../support/rows';
import { startReceiver } from '../support/servers';
import { setUp } from '../support/set-up';
import { errorsOnly } from '../support/temporal';
import { until } from '../support/waits';

const receiver = setUp(startReceiver);
const database = setUp(() => createTestDatabase({ webhook_url: receiver.url }));
beforeEach(() => {
  receiver.received.splice(0);
  receiver.answer((response) => response.writeHead(200).end());
});

const started: DeliveryKey[] = [];

const activities = (over: Partial<ActivityServices> = {}) =>
  createActivities({
    db: database.db,
    workflows: { deliveries: { start: async (id: DeliveryKey) => void started.push(id) } },
    secrets,
    postWebhook,
    attempt_limits: new AttemptLimits(),
    webhook_private_addresses: true,
    log_requests: 'none',
    ...over,
  } as unknown as ActivityServices);

type Made = ReturnType<typeof activities>;
/**
 * Runs an attempt in a worker that took its task `waited_ms` after it was scheduled, by a server whose time is a minute
 * ahead if 0.
 */
function run<Result>(
  activity: (input: AttemptInput) => Promise<Result>,
  input: AttemptInput,
  waited_ms = 0,
  attempt = 1,
): Promise<Result> {
  const scheduledTimestampMs = Date.now() + (waited_ms === 0 ? 60_000 : -waited_ms);
  return new MockActivityEnvironment({ scheduledTimestampMs, attempt }, { logger: errorsOnly }).run(activity, input);
}
/** When the n-th attempt is due, however long those before it took. */
const dueAt = (n: number) => NOW + (n - 1) * 150_000;
const attempt = (id: DeliveryKey, n: number, made: Made = activities()) =>
  run(made.attemptDelivery, { ...id, now: dueAt(n) });
const attemptLocally = (id: DeliveryKey, n: number, made: Made = activities()) =>
  run(made.attemptDeliveryLocally, { ...id, now: dueAt(n) });

/** A sender whose every attempt ends like this. */
const answering = (failure: string | undefined, duration_ms: number) =>
  activities({ postWebhook: () => Promise.resolve({ failure, duration_ms }) });

async function aDelivery(): Promise<DeliveryKey> {
  const order = await aStoredOrder(database.db);
  const { deliveries } = await moveOrder(database.db, order, { ended: 'cancelled' }, { source: 'merchant', now: NOW });
  expect(deliveries).toEqual([1]);
  return { order_id: order.id, n: 1 };
}
const attempts = (order_id: string) =>
  database
    .db('webhook_attempts')
    .where({ order_id })
    .orderBy('attempt')
    .select('attempt', 'status_code', 'failure', 'started', 'duration_ms') as unknown as Promise<
    { attempt: number; status_code: number | null; failure: string | null; started: string; duration_ms: number }[]
  >;

describe('attemptDelivery', () => {
  test('is recorded with the instant of the workflow; delivered, it is not sent again', async () => {
    const id = await aDelivery();
    const delivered = { status: 'delivered', attempts: 1, clock_offset_ms: 0, is_slow: false };
    expect(await attempt(id, 1)).toEqual(delivered);
    expect(await attempt(id, 1)).toEqual(delivered);
    expect(receiver.received).toHaveLength(1);
    const rows = await attempts(id.order_id);
    expect(rows).toEqual([expect.objectContaining({ attempt: 1, status_code: 200, failure: null })]);
    // It begins once the record is read.
    expect(Date.parse(rows[0]!.started) - NOW).toBeGreaterThanOrEqual(0);
    expect(Date.parse(rows[0]!.started) - NOW).toBeLessThan(60_000);
  });

  test('rules 13.6: two minutes run from the end of the attempt, however long its task waited for a slot', async () => {
    const id = await aDelivery();
    const made = answering('answered 500', 300);
    const { next_attempt_at } = await run(made.attemptDelivery, { ...id, now: NOW }, 30_000);
    const begun = Date.parse((await attempts(id.order_id))[0]!.started);
    expect(begun).toBeGreaterThanOrEqual(NOW + 30_000);
    expect(next_attempt_at).toBe(begun + 300 + 120_000);
  });

  test('it goes on from the record: not before the next attempt is due, then with the next number', async () => {
    const id = await aDelivery();
    const made = answering('answered 500', 0);
    const first = await run(made.attemptDelivery, { ...id, now: NOW });
    expect(first).toMatchObject({ attempts: 1 });
    const { next_attempt_at = 0 } = first;
    expect(await run(made.attemptDelivery, { ...id, now: next_attempt_at - 1 })).toMatchObject({
      attempts: 1,
      next_attempt_at,
    });
    expect(await run(made.attemptDelivery, { ...id, now: next_attempt_at })).toMatchObject({ attempts: 2 });
  });

  test('rules 13.7: killed before its record it is sent again under the same id: a receiver may get it twice', async () => {
    const id = await aDelivery();
    const killed = activities({
      postWebhook: async (webhook) => (await postWebhook(webhook), Promise.reject(new Error('killed'))),
    });
    await expect(attempt(id, 1, killed)).rejects.toThrow('killed');
    await attempt(id, 1);
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([
      `webhook:${id.order_id}:1`,
      `webhook:${id.order_id}:1`,
    ]);
    expect(await attempts(id.order_id)).toHaveLength(1);
  });

  test('without the key that decrypts the secret nothing is sent, and no attempt counts as in flight', async () => {
    const id = await aDelivery();
    const inFlight = () => [...gauges.get('payments_webhook_attempts_in_flight')!].map((read) => read()[0]!.value);
    const before = inFlight();
    const other = new SecretKeys(`other:${Buffer.alloc(32, 8).toString('base64')}`);
    await expect(attempt(id, 1, activities({ secrets: other }))).rejects.toThrow('SECRET_KEYS');
    expect([receiver.received, inFlight()]).toEqual([[], before]);
    expect(await attempt(id, 1)).toMatchObject({ status: 'delivered', attempts: 1 });
    expect(inFlight()).toEqual(before);
  });

  test('a sender that never ends: the attempt is recorded as failed, and its slot is freed', async () => {
    const id = await aDelivery();
    await attempt(id, 1, answering('answered 500', 1));
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date'] });
    let sent = () => {};
    const sending = new Promise<void>((resolve) => (sent = resolve));
    const hung = attempt(id, 2, activities({ postWebhook: () => (sent(), new Promise(() => undefined)) }));
    await sending;
    await jest.advanceTimersByTimeAsync(21_000);
    jest.useRealTimers();
    expect(await hung).toMatchObject({ attempts: 2, failure: 'the attempt did not end', is_slow: true });
  });

  test.each([
    [true, true, true],
    [true, false, false],
    [false, true, false],
  ])(
    'a project that is test: %s, private addresses configured: %s → they are allowed: %s',
    async (is_test, configured, allowed) => {
      const id = await aDelivery();
      const seen: boolean[] = [];
      await database.db('projects').update({ is_test });
      const one = activities({
        webhook_private_addresses: configured,
        postWebhook: ({ private_addresses }) => (
          seen.push(private_addresses),
          Promise.resolve({ status_code: 200, duration_ms: 1 })
        ),
      });
      await attempt(id, 1, one);
      await database.db('projects').update({ is_test: true });
      expect(seen).toEqual([allowed]);
    },
  );
});

test('rules 13.6: while Postgres is read-only nothing is sent, as the attempt could not be recorded', async () => {
  const id = await aDelivery();
  const session_sql = 'set default_transaction_read_only = on';
  const inReadOnly = async (db: Database) => {
    await expect(attempt(id, 1, activities({ db }))).rejects.toThrow('read-only');
    await expect(attemptLocally(id, 1, activities({ db }))).rejects.toThrow('read-only');
  };
  await withDatabase(database.url, inReadOnly, { session_sql });
  expect(receiver.received).toEqual([]);
  expect(await attempt(id, 1)).toMatchObject({ status: 'delivered', attempts: 1 });
});

test.each([
  ['attemptDelivery', 'commit', 1],
  ['attemptDelivery', 'rollback', 2],
  ['attemptDeliveryLocally', 'commit', 1],
] as const)(
  'rules 13.6: %s repeats nothing while the commit of its record hangs; after the %s it was sent %i times',
  async (name, end, sent) => {
    const id = await aDelivery();
    // The statement of the first try, whose session still holds the rows.
    const hung = await database.db.transaction();
    const record = {
      ...id,
      attempt: 1,
      time_limit_ms: 4_000,
      started: new Date(NOW),
      duration_ms: 1,
      failure: 'answered 500',
    };
    await hung('webhook_attempts').insert(record);
    await hung('webhook_deliveries')
      .where(id)
      .update({ next_attempt_at: new Date(NOW + 120_000) });
    const during = async (db: Database) => {
      const attempt_limits = new AttemptLimits();
      const made = activities({ db, attempt_limits });
      // The last: the first try of another worker, as a task that is lost with its worker comes again ten seconds later.
      for (const [n, late_ms] of [
        [1, 0],
        [2, 0],
        [3, 0],
        [1, 10_000],
      ] as const) {
        const at = { ...id, now: NOW + late_ms };
        await expect(run<unknown>(made[name], at, 0, n)).rejects.toThrow('lock timeout');
        // The receiver was slow: a task, which is a first try again, would send it next.
        jest.spyOn(attempt_limits, 'beginLocally').mockReturnValue(undefined);
      }
    };
    await withDatabase(database.url, during, { session_sql: 'set lock_timeout = 100' });
    const before = receiver.received.length;
    await hung[end]();
    expect(await run<unknown>(activities()[name], { ...id, now: NOW }, 0, 4)).toMatchObject({ attempts: 1 });
    expect([before, receiver.received.length]).toEqual([1, sent]);
  },
);

test('rules 13.9: a task beyond the share of its project sends nothing; tried again with room, it delivers', async () => {
  const attempt_limits = new AttemptLimits();
  const made = activities({ attempt_limits });
  const id = await aDelivery();
  const ends = Array.from({ length: 100 }, () =>
    attempt_limits.beginTask({ project_id: PROJECT.id, merchant_id: PROJECT.merchant_id, url: receiver.url }),
  );
  await expect(attempt(id, 1, made)).rejects.toMatchObject({ type: 'ProjectIsBusy', nonRetryable: false });
  expect([receiver.received, await attempts(id.order_id)]).toEqual([[], []]);
  ends[0]!();
  expect(await attempt(id, 1, made)).toMatchObject({ status: 'delivered', attempts: 1 });
});

describe('attemptDeliveryLocally', () => {
  test('makes the attempt of an endpoint that may answer at once', async () => {
    const id = await aDelivery();
    expect(await attemptLocally(id, 1)).toMatchObject({ status: 'delivered' });
    expect(await attemptLocally(id, 1)).toMatchObject({ status: 'delivered' });
    expect(receiver.received).toHaveLength(1);
  });

  test('rules 13.9: makes none when this delivery’s last attempt was slow, in whatever worker that was', async () => {
    const id = await aDelivery();
    await attempt(id, 1, answering('reading took too long', 4_000));
    expect(await attemptLocally(id, 2)).toBeNull();
    expect(await attempts(id.order_id)).toHaveLength(1);
  });

  test('makes two at once while nothing is known of the endpoint; a failed one gives its place back too', async () => {
    let answer = () => {};
    const answered = new Promise<void>((resolve) => (answer = resolve));
    let posts = 0;
    const made = activities({
      postWebhook: () => {
        posts += 1;
        return answered.then(() => Promise.reject(new Error('broken')));
      },
    });
    const running = [attemptLocally(await aDelivery(), 1, made), attemptLocally(await aDelivery(), 1, made)].map(
      (one) => one.catch(({ message }: Error) => message),
    );
    const third = await aDelivery();
    await until('two are being sent', () => posts === 2);
    expect(await attemptLocally(third, 1, made)).toBeNull();
    answer();
    expect(await Promise.all(running)).toEqual(['broken', 'broken']);
    await expect(attemptLocally(third, 1, made)).rejects.toThrow('broken');
  });
});

test('startDeliveries: one workflow for each webhook', async () => {
  await activities().startDeliveries({ order_id: 'o', project_id: PROJECT.id, deliveries: [1, 3] });
  expect(started).toEqual([
    { order_id: 'o', n: 1, project_id: PROJECT.id },
    { order_id: 'o', n: 3, project_id: PROJECT.id },
  ]);
});
