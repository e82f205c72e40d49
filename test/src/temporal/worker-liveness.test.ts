import { pino } from 'pino';
import { gauges } from '../../../src/metrics/recorder';
import { connectTemporal, pingTemporal } from '../../../src/temporal/connect';
import { WorkerLiveness } from '../../../src/temporal/worker-liveness';
import { aSilentServer } from '../../support/servers';
import { until } from '../../support/waits';

const POLL = '{namespace="payments",operation="PollWorkflowTaskQueue",task_queue="payments"}';
const OTHER = '{namespace="payments",operation="GetSystemInfo"}';

/** The lines of the SDK that are about polls, and one that is not. */
const sdkMetrics = ({ ended, failed }: { ended: number; failed: number }) =>
  [
    `temporal_long_request_latency_seconds_count${POLL} ${ended}`,
    `temporal_long_request_failure_total${POLL} ${failed}`,
    `temporal_long_request_latency_seconds_count${OTHER} ${Date.now()}`,
  ].join('\n');

const LIMITS = { polls_ms: 1_000, thread_ms: 60_000, look_every_ms: 1 };

// The clock of the worker stands still, so that only what a test lets pass counts.
beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'setTimeout', 'clearTimeout'] });
});
afterEach(() => jest.useRealTimers());

/** How often a worker has looked at its metrics. */
let looks = 0;
/** Lets time pass, in parts of the limit; within each part it looks, and once more, as it may just have looked. */
async function pass(milliseconds: number): Promise<void> {
  const part = LIMITS.polls_ms / 4;
  for (let left = milliseconds; left > 0; left -= part) {
    jest.advanceTimersByTime(part);
    const enough = looks + 2;
    await until('it has looked', () => looks >= enough, 60_000, 1);
  }
}
const longer = () => pass(3 * LIMITS.polls_ms);

/** A liveness that reads these metrics for some time. Returns what it says at the end, and its lines in the log. */
async function livenessWith(
  read: () => Promise<string>,
  check: (liveness: WorkerLiveness, lines: readonly { msg: string }[]) => Promise<unknown>,
  pingTemporal: () => Promise<void> = () => Promise.resolve(),
) {
  const lines: { msg: string; cause?: string }[] = [];
  const log = pino({}, { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]) });
  const readMetrics = () => ((looks += 1), read());
  const liveness = new WorkerLiveness({ log, readMetrics, pingTemporal }, LIMITS);
  liveness.start();
  await check(liveness, lines);
  await liveness.stop();
  return { problem: liveness.problem(), lines };
}

const SILENT = /^Temporal has answered no poll for \d+ s$/;

test('rules 24.6: only a process that polls Temporal exports the age of an answer', async () => {
  const readers = () => gauges.get('payments_temporal_poll_answer_age_seconds')?.size ?? 0;
  const before = readers();
  const liveness = new WorkerLiveness({
    log: pino({ level: 'silent' }),
    readMetrics: () => Promise.resolve(''),
    pingTemporal: () => Promise.resolve(),
  });
  expect(readers()).toBe(before);
  liveness.start();
  expect(readers()).toBe(before + 1);
  await liveness.stop();
});

test('rules 24.6: while polls are answered a worker is live', async () => {
  let ended = 0;
  const { problem, lines } = await livenessWith(
    () => Promise.resolve(sdkMetrics({ ended: ended++, failed: 0 })),
    longer,
  );
  expect([problem, lines]).toEqual([undefined, []]);
});

test.each([
  ['that end without an answer', (n: number) => ({ ended: 5 + n, failed: n })],
  ['that do not end', () => ({ ended: 5, failed: 0 })],
])('rules 24.6: polls %s make a worker not live, and Temporal is the cause', async (_name, polls) => {
  let n = 0;
  const read = () => Promise.resolve(sdkMetrics(polls(n++)));
  const { problem, lines } = await livenessWith(read, async (liveness) => {
    await pass(LIMITS.polls_ms);
    expect(liveness.problem()).toBeUndefined();
    await longer();
  });
  expect(problem).toMatch(SILENT);
  expect(lines).toMatchObject([{ msg: 'the worker is not live', cause: expect.stringMatching(SILENT) as string }]);
});

test('rules 24.6: while Temporal itself is away a worker is live, and polls have all their time once it is back', async () => {
  let is_away = true;
  const ping = () => (is_away ? Promise.reject(new Error('away')) : Promise.resolve());
  const { lines } = await livenessWith(
    () => Promise.resolve(sdkMetrics({ ended: 5, failed: 0 })),
    async (liveness, logged) => {
      await longer();
      expect(liveness.problem()).toBeUndefined();
      is_away = false;
      await pass(LIMITS.polls_ms);
      expect([liveness.problem(), logged]).toEqual([undefined, []]);
      await longer();
    },
    ping,
  );
  expect(lines.map(({ msg }) => msg)).toEqual(['the worker is not live']);
});

test('rules 24.6: a Temporal that is silent leaves a worker live: a ping ends without an answer', async () => {
  const { address, close } = await aSilentServer();
  const log = pino({ level: 'silent' });
  const client = connectTemporal({ address, namespace: 'payments', payload_keys: undefined, log });
  let ended = 0;
  const { problem, lines } = await livenessWith(
    () => Promise.resolve(sdkMetrics({ ended: 5, failed: 0 })),
    async () => {
      await until('a ping has ended', () => ended > 0);
      jest.advanceTimersByTime(3 * LIMITS.polls_ms);
      await until('another one has', () => ended > 1);
      await client.connection.close();
    },
    () => pingTemporal(client).finally(() => (ended += 1)),
  );
  await close();
  expect([problem, lines]).toEqual([undefined, []]);
}, 60_000);

test('rules 24.6: with the next answer it is live again', async () => {
  let ended = 5;
  const { lines } = await livenessWith(
    () => Promise.resolve(sdkMetrics({ ended, failed: 0 })),
    async (liveness, logged) => {
      await longer();
      expect(logged).toHaveLength(1);
      ended = 6;
      await pass(LIMITS.polls_ms / 4);
      expect(liveness.problem()).toBeUndefined();
    },
  );
  expect(lines.map(({ msg }) => msg)).toEqual(['the worker is not live', 'the worker is live again']);
});

test('metrics of the SDK that cannot be read are not blamed on Temporal', async () => {
  const { problem } = await livenessWith(() => Promise.reject(new Error('no metrics')), longer);
  expect(problem).toBeUndefined();
});
