import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { TaskBacklog } from '../../../src/temporal/task-backlog';

/** A Temporal in which so many tasks wait, look by look; the last number stays. */
function aTemporal(counts: (number | Error)[]): { client: Client; looks: () => number } {
  let looks = 0;
  const describeTaskQueue = () => {
    looks += 1;
    const count = counts.length > 1 ? counts.shift()! : counts[0]!;
    return count instanceof Error
      ? Promise.reject(count)
      : Promise.resolve({ stats: { approximateBacklogCount: count } });
  };
  const client = { options: { namespace: 'default' }, workflowService: { describeTaskQueue } } as unknown as Client;
  return { client, looks: () => looks };
}

const LIMITS = { tasks_max: 50, look_every_ms: 5, stands_still_ms: 200 };

test.each([
  ['few tasks wait', [50], 1],
  ['they get fewer', [300, 120, 51, 50], 4],
  ['Temporal does not tell', [300, new Error('permission denied')], 2],
])('rules 22.7: the next workflow is started once %s', async (_why, counts, looks) => {
  const temporal = aTemporal(counts);
  await new TaskBacklog(temporal.client, LIMITS).untilShort();
  expect(temporal.looks()).toBe(looks);
});

test('callers at the same time share a look', async () => {
  const temporal = aTemporal([0]);
  const backlog = new TaskBacklog(temporal.client, LIMITS);
  await Promise.all([backlog.untilShort(), backlog.untilShort()]);
  expect(temporal.looks()).toBe(1);
});

test('rules 22.7: without a worker nobody waits for ever', async () => {
  const temporal = aTemporal([300]);
  const backlog = new TaskBacklog(temporal.client, LIMITS);
  await backlog.untilShort();
  const looks = temporal.looks();
  expect(looks).toBeGreaterThan(1);
  await backlog.untilShort();
  expect(temporal.looks() - looks).toBeLessThanOrEqual(1);
});

test('rules 22.7: a worker that stood still and goes on is waited for again, however many tasks there are by then', async () => {
  const counts = [300];
  const temporal = aTemporal(counts);
  const backlog = new TaskBacklog(temporal.client, LIMITS);
  await backlog.untilShort();
  counts.splice(0, 1, 900, 880, 860, 50);
  await sleep(LIMITS.look_every_ms + 1);
  await backlog.untilShort();
  expect(counts).toEqual([880, 860, 50]);
  await sleep(LIMITS.look_every_ms + 1);
  await backlog.untilShort();
  expect(counts).toEqual([50]);
});
