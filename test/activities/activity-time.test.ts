import { setTimeout as sleep } from 'node:timers/promises';
import { MockActivityEnvironment } from '@temporalio/testing';
import { withFailures } from '../../activities/failure';
import type { TimeOfTry } from '../../activities/services';
import { currentInstant } from '../../activities/activity-time';
import type { LocalRetry } from '../../workflows/messages';
import { MINUTE, NOW } from '../support/domain';
import { errorsOnly } from '../support/temporal';

describe('rules 4.15: the instant of an activity is that of the try, not of the first one', () => {
  type Input = TimeOfTry & { poll_at?: number };
  const { echo } = withFailures({ echo: (input: Input) => Promise.resolve(input) });
  /** A try so long after the first one was scheduled, by the worker's clock or by the server's, in milliseconds. */
  const tried = (info: { by_worker?: number; by_server?: number }, input: Input, ...retry: LocalRetry[]) =>
    new MockActivityEnvironment(
      {
        scheduledTimestampMs: Date.now() - (info.by_worker ?? 0),
        currentAttemptScheduledTimestampMs: Date.now() + (info.by_server ?? 0),
      },
      { logger: errorsOnly },
    ).run(() => (echo as (...args: [Input, ...LocalRetry[]]) => Promise<Input>)(input, ...retry)) as Promise<Input>;

  test.each<[string, Parameters<typeof tried>[0], LocalRetry[]]>([
    ['its task waited for a worker, or it was tried again', { by_worker: MINUTE }, []],
    ['the time-skipping server passed over the pause', { by_server: MINUTE }, []],
    ['the pause before it was a timer of the workflow', {}, [{ waited_ms: MINUTE }]],
  ])('%s', async (_title, info, retry) => {
    const { now, poll_at } = await tried(info, { now: NOW, poll_at: NOW + 5_000 }, ...retry);
    expect(now - NOW).toBeGreaterThanOrEqual(MINUTE);
    expect(now - NOW).toBeLessThan(MINUTE + 5_000);
    expect(poll_at! - now).toBe(5_000);
  });

  test('it never goes back: the clock of a server may be ahead of the worker', async () => {
    expect((await tried({ by_worker: -MINUTE, by_server: -2 * MINUTE }, { now: NOW })).now).toBe(NOW);
  });

  test('called without Temporal it is the instant of the input', async () => {
    expect((await echo({ now: NOW })).now).toBe(NOW);
  });

  test('the current instant of a try is its beginning and what has passed since', async () => {
    const { instants } = withFailures({
      async instants(input: TimeOfTry) {
        const first = currentInstant(input);
        await sleep(50);
        return { first, later: currentInstant(input) };
      },
    });
    const { first, later } = await instants({ now: NOW });
    expect([first - NOW < 40, later - NOW >= 49]).toEqual([true, true]);
    expect(currentInstant({ now: NOW })).toBe(NOW);
  });
});
