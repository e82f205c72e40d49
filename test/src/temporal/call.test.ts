import { WorkflowUpdateFailedError, type Client } from '@temporalio/client';
import { ApplicationFailure, NamespaceNotFoundError } from '@temporalio/common';
import { v7 as uuidv7 } from 'uuid';
import { callThenRead } from '../../../src/temporal/call';
import { KINDS } from '../../../src/temporal/kinds';
import type { Database } from '../../../src/db/query';
import { findStoredOrder } from '../../../src/db/orders/stored-order';
import { OrderWorkflows } from '../../../src/temporal/orders';
import { createTestDatabase } from '../../support/database';
import { aStoredOrder } from '../../support/rows';
import { aRefusingServer } from '../../support/servers';
import { setUp } from '../../support/set-up';
import { stack } from '../../support/stack';
import { temporalOf } from '../../support/temporal-client';
import { aRequest } from '../../support/domain';

const database = setUp(() => createTestDatabase());

/** A Temporal client that records the deadlines it was given. */
function temporal() {
  const deadlines: (number | Date)[] = [];
  const client = {
    withDeadline: (deadline: number | Date, call: () => Promise<void>) => (deadlines.push(deadline), call()),
  } as unknown as Client;
  return { client, deadlines };
}
const failed = (type: string) =>
  new WorkflowUpdateFailedError(
    'update failed',
    ApplicationFailure.create({ type, message: 'Why.', nonRetryable: true }),
  );
/** As the client throws what gRPC answers with this status. */
const grpc = (code: number) =>
  new Error('Update failed', {
    cause: Object.assign(new Error(`${code}: why`), { code, details: 'why', metadata: {} }),
  });
/** A call about an order that may not exist yet, for a request without an Idempotency-Key. */
const callThenReadOrder = (
  access: { client: Client; db: Database },
  { order_id, deadline_at }: { order_id: string; deadline_at: number },
  call: () => Promise<void>,
) => {
  const request = aRequest({ has_idempotency_key: false, deadline_at });
  return callThenRead(access, { kind: KINDS.order, id: order_id, request, purpose: 'create' }, call);
};
/** A server that drops an update so often, and then takes it. */
function dropping(
  times: number,
  then: () => Promise<void> = () => Promise.resolve(),
  why: Error = failed('UnprocessedUpdate'),
) {
  const sent: number[] = [];
  const call = async () => {
    sent.push(Date.now());
    if (sent.length <= times) throw why;
    await then();
  };
  return { sent, call };
}

test('an update that the server dropped is sent again, less and less often, until it is taken', async () => {
  const { id: order_id } = await aStoredOrder(database.db);
  const { sent, call } = dropping(4);
  const { client, deadlines } = temporal();
  const deadline_at = Date.now() + 60_000;
  expect(await callThenReadOrder({ client, db: database.db }, { order_id, deadline_at }, call)).toMatchObject({
    id: order_id,
  });
  expect([sent.length, deadlines]).toEqual([5, [deadline_at]]);
  // Not at once: the server is busy with the workflow. With the least jitter, and a timer may be a millisecond early.
  const pauses = sent.slice(1).map((at, n) => at - sent[n]!);
  for (const [n, least] of [75, 150, 300, 600].entries()) expect(pauses[n]).toBeGreaterThanOrEqual(least - 2);
});

test.each([
  ['the workflow was terminated', failed('AcceptedUpdateCompletedWorkflow')],
  ['a workflow task failed, or too many updates (9)', grpc(9)],
  ['Temporal is unavailable (14)', grpc(14)],
  ['Temporal is exhausted (8)', grpc(8)],
  ['Temporal has an error of its own (13)', grpc(13)],
])('sent again too, as it says nothing of what was done: %s', async (_why, error) => {
  const { id: order_id } = await aStoredOrder(database.db);
  const { sent, call } = dropping(1, undefined, error);
  expect(
    await callThenReadOrder(
      { client: temporal().client, db: database.db },
      { order_id, deadline_at: Date.now() + 60_000 },
      call,
    ),
  ).toMatchObject({ id: order_id });
  expect(sent).toHaveLength(2);
});

test.each([
  ['the order that was just paid cannot be read at first', 0],
  ['nor what the call looks up', 1],
])('%s: it is read again, never answered as if nothing had been done', async (_title, looked_up) => {
  const { id: order_id } = await aStoredOrder(database.db);
  let failures = 2;
  const refused = () => Promise.reject(Object.assign(new Error('sorry, too many clients already'), { code: '53300' }));
  const { client } = database.db as { client: { acquireConnection(): Promise<unknown> } };
  const acquireConnection = () => (failures-- > 0 ? refused() : client.acquireConnection());
  const busyClient = Object.create(client, { acquireConnection: { value: acquireConnection } }) as unknown;
  const busy = new Proxy(database.db, { get: (db, key) => (key === 'client' ? busyClient : Reflect.get(db, key)) });
  const call = async () => void (looked_up > 0 && (await findStoredOrder(busy, order_id)));
  expect(
    await callThenReadOrder(
      { client: temporal().client, db: busy },
      { order_id, deadline_at: Date.now() + 60_000 },
      call,
    ),
  ).toMatchObject({ id: order_id });
  expect(failures).toBeLessThan(0);
});

test('any other failure of Temporal is ours, and is not sent again', async () => {
  const { sent, call } = dropping(1, undefined, grpc(3));
  await expect(
    callThenReadOrder(
      { client: temporal().client, db: database.db },
      { order_id: uuidv7(), deadline_at: Date.now() + 60_000 },
      call,
    ),
  ).rejects.toThrow('Update failed');
  expect(sent).toHaveLength(1);
});

test('an unexpected error inside a workflow is ours too: its text is for the log', async () => {
  const error = failed('ServerError');
  const access = { client: temporal().client, db: database.db };
  const { id } = await aStoredOrder(database.db);
  const call = () => Promise.reject(error);
  await expect(callThenReadOrder(access, { order_id: id, deadline_at: Date.now() + 1_000 }, call)).rejects.toBe(error);
});

test('rules 10.4: dropped until the deadline is no answer: the order as it is, or 503', async () => {
  const { id: order_id } = await aStoredOrder(database.db);
  const { sent, call } = dropping(Number.POSITIVE_INFINITY);
  const began = Date.now();
  expect(
    await callThenReadOrder(
      { client: temporal().client, db: database.db },
      { order_id, deadline_at: began + 1_000 },
      call,
    ),
  ).toMatchObject({
    id: order_id,
    status: 'new',
  });
  expect(Date.now() - began).toBeLessThan(15_000);
  expect(sent.length).toBeGreaterThanOrEqual(2);
  expect(sent.length).toBeLessThanOrEqual(12);
  const nothing = callThenReadOrder(
    { client: temporal().client, db: database.db },
    { order_id: uuidv7(), deadline_at: Date.now() },
    call,
  );
  await expect(nothing).rejects.toMatchObject({ error: 'ServiceUnavailable' });
});

test.each(['Conflict', 'CanNotCancelTransaction', 'ServiceUnavailable'])(
  'a refusal (%s) is an answer: it is not sent again',
  async (type) => {
    const { id: order_id } = await aStoredOrder(database.db);
    const { sent, call } = dropping(1, () => Promise.reject(failed(type)));
    const refused = callThenReadOrder(
      { client: temporal().client, db: database.db },
      { order_id, deadline_at: Date.now() + 60_000 },
      call,
    );
    await expect(refused).rejects.toMatchObject({ error: type, value: 'Why.' });
    expect(sent).toHaveLength(2);
  },
);

test('taken at last, and nothing is there: NotFound', async () => {
  const { call } = dropping(1);
  const asked = callThenReadOrder(
    { client: temporal().client, db: database.db },
    { order_id: uuidv7(), deadline_at: Date.now() + 60_000 },
    call,
  );
  await expect(asked).rejects.toMatchObject({ error: 'NotFound' });
});

test.each<[string, Error]>([
  ['permission denied (7)', grpc(7)],
  ['unauthenticated (16)', grpc(16)],
  ['no such namespace', new NamespaceNotFoundError('n')],
])('Temporal refuses this service, %s: 503 at once, as nothing was done', async (_title, error) => {
  const { id: order_id } = await aStoredOrder(database.db);
  const { sent, call } = dropping(Number.POSITIVE_INFINITY, undefined, error);
  const request = { order_id, deadline_at: Date.now() + 60_000 };
  const refused = callThenReadOrder({ client: temporal().client, db: database.db }, request, call);
  await expect(refused).rejects.toMatchObject({ error: 'ServiceUnavailable' });
  expect(sent).toHaveLength(1);
});

test('a refusal by Temporal after an attempt with an unknown outcome: repeated until the deadline', async () => {
  const errors = [grpc(14), grpc(7)];
  let sent = 0;
  const call = () => Promise.reject(errors[Math.min(sent++, 1)]!);
  const access = { client: temporal().client, db: database.db };
  const { id } = await aStoredOrder(database.db);
  const answered = callThenReadOrder(access, { order_id: id, deadline_at: Date.now() + 1_500 }, call);
  expect(await answered).toMatchObject({ id });
  expect(sent).toBeGreaterThanOrEqual(3);
});

test('so it is with an update: only what sends it repeats it', async () => {
  let calls = 0;
  const server = await aRefusingServer(() => (calls++ === 0 ? 14 : 7));
  const client = temporalOf({ ...stack(), temporal_address: server.address });
  try {
    const orders = new OrderWorkflows({ client, db: database.db });
    const { id } = await aStoredOrder(database.db);
    const deadline_at = Date.now() + 1_500;
    expect(await orders.cancel(id, { source: 'merchant', request: aRequest({ deadline_at }) })).toMatchObject({
      id,
      status: 'new',
    });
    expect(Date.now()).toBeGreaterThanOrEqual(deadline_at);
  } finally {
    await client.connection.close();
    await server.close();
  }
});
