import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { grpcStatusOf } from '../../../src/temporal/grpc-status';
import { connectTemporal, pingTemporal } from '../../../src/temporal/connect';
import { OutageLog } from '../../../src/temporal/outages';
import { ORDER_WORKFLOW, pollNowUpdate } from '../../../workflows/messages';
import { aRefusingServer, aSilentServer } from '../../support/servers';
import { stack } from '../../support/stack';
import { withTemporal } from '../../support/temporal-client';
import { until } from '../../support/waits';

interface Line {
  level: number;
  msg: string;
  cause?: string;
  seconds?: number;
}

/** A log that keeps its lines. */
function aLog() {
  const lines: Line[] = [];
  return {
    lines,
    log: pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line) as Line) }),
  };
}

const MESSAGES = { down: 'Temporal is unavailable', up: 'Temporal is available again' };

describe('OutageLog', () => {
  const MINUTE = 60_000;

  test('one line with the cause when it begins, one when it is over, however many calls there are', () => {
    const { lines, log } = aLog();
    const outages = new OutageLog(log, MESSAGES);
    outages.answered(0);
    for (const n of [1, 2, 3]) outages.failed('unavailable: why', n, n);
    for (const n of [1, 2]) outages.answered(MINUTE + n);
    expect(lines).toMatchObject([
      { msg: 'Temporal is unavailable', cause: 'unavailable: why' },
      { msg: 'Temporal is available again', seconds: 60 },
    ]);
    outages.failed('unavailable: why', 2 * MINUTE, 2 * MINUTE);
    expect(lines).toHaveLength(3);
  });

  test('a call that fails while others are answered is no outage', () => {
    const { lines, log } = aLog();
    const outages = new OutageLog(log, MESSAGES);
    outages.answered(10);
    outages.failed('deadline_exceeded: why', 5, 20);
    expect(lines).toEqual([]);
  });

  test('where every second call fails, the log is not filled', () => {
    const { lines, log } = aLog();
    const outages = new OutageLog(log, MESSAGES);
    for (let at = 0; at < 5_000; at += 2) {
      outages.failed('unavailable: why', at, at);
      outages.answered(at + 1);
    }
    expect(lines).toHaveLength(2);
  });
});

describe('the calls of a client', () => {
  test.each([
    ['permission denied', 7, 'permission_denied: why'],
    ['unauthenticated', 16, 'unauthenticated: why'],
    ['unavailable', 14, 'unavailable: why'],
  ])('%s: the cause is logged once, and once that it is over', async (_title, code, cause) => {
    const not_found = 5;
    let status = not_found;
    const server = await aRefusingServer(() => status);
    const { lines, log } = aLog();
    const client = connectTemporal({ address: server.address, namespace: 'n', payload_keys: undefined, log });
    const ping = async () => await pingTemporal(client).catch((error: unknown) => grpcStatusOf(error));
    try {
      // Where the machine stands still the first connection takes longer than a ping may.
      await until('the server answers', async () => (await ping()) === 'not_found');
      lines.splice(0);
      status = code;
      for (const _ of [1, 2, 3]) await expect(pingTemporal(client)).rejects.toThrow();
      expect(lines).toMatchObject([{ level: 50, msg: 'Temporal is unavailable', cause }]);
      // Not found is an answer too.
      status = not_found;
      expect(await ping()).toBe('not_found');
      expect(lines.slice(1)).toMatchObject([{ level: 30, msg: 'Temporal is available again' }]);
    } finally {
      await client.connection.close();
      await server.close();
    }
  });

  test('a connection that is closed between two attempts of a call: the call fails, and nothing throws later', async () => {
    const server = await aRefusingServer(14);
    const { lines, log } = aLog();
    const client = connectTemporal({ address: server.address, namespace: 'n', payload_keys: undefined, log });
    const counted = client.workflow.count().catch((error: unknown) => grpcStatusOf(error));
    await until('an attempt has failed', () => lines.length > 0);
    await client.connection.close();
    expect(await counted).toBe('unavailable');
    await server.close();
  });

  test('a namespace that does not exist is a cause too', async () => {
    const { lines, log } = aLog();
    const { temporal_address: address } = stack();
    const client = connectTemporal({ address, namespace: 'nowhere', payload_keys: undefined, log });
    try {
      await expect(pingTemporal(client)).rejects.toThrow();
      expect(lines).toMatchObject([
        { msg: 'Temporal is unavailable', cause: expect.stringMatching(/nowhere/) as string },
      ]);
    } finally {
      await client.connection.close();
    }
  });

  /** Sends an update and waits a second for its answer, then until the log says whose fault that is. */
  async function outageOfUpdate(
    address: string,
    workflow_id: string,
    checkDatabase: () => Promise<void> = () => Promise.resolve(),
  ): Promise<string> {
    const { lines, log } = aLog();
    const namespace = stack().temporal_namespace;
    const client = connectTemporal({ address, namespace, payload_keys: undefined, log, checkDatabase });
    try {
      const update = client.withDeadline(Date.now() + 1_000, () =>
        client.workflow.getHandle(workflow_id).executeUpdate(pollNowUpdate),
      );
      await expect(update).rejects.toThrow();
      await until('the outage is logged', () => Promise.resolve(lines.length > 0));
      return lines.map(({ msg, cause }) => (msg.startsWith('Postgres') ? `${msg}: ${cause}` : msg)).join();
    } finally {
      await client.connection.close();
    }
  }

  test('rules 10.16: an update without an answer, while Temporal is silent: Temporal is unavailable', async () => {
    const server = await aSilentServer();
    expect(await outageOfUpdate(server.address, 'order:1')).toBe('Temporal is unavailable');
    await server.close();
  });

  test('rules 10.16: an update without an answer, while Temporal answers: no worker does, or their database does not work', async () => {
    const workflowId = `nobody:${randomUUID()}`;
    await withTemporal(stack(), async ({ workflow }) => {
      const handle = await workflow.start(ORDER_WORKFLOW, { workflowId, taskQueue: 'nobody' });
      expect(await outageOfUpdate(stack().temporal_address, workflowId)).toBe('no worker answers in time');
      const readOnly = () => Promise.reject(new Error('is read-only'));
      expect(await outageOfUpdate(stack().temporal_address, workflowId, readOnly)).toBe(
        'Postgres is unavailable: is read-only',
      );
      await handle.terminate();
    });
  });
});
