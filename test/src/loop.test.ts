import { Loop } from '../../src/loop';
import { until } from '../support/waits';

const HOUR_MS = 3_600_000;

test('runs one round at a time, with the pauses that the rounds return', async () => {
  const events: string[] = [];
  const loop = new Loop(async () => {
    const n = events.length / 2 + 1;
    events.push(`${n} begins`);
    await new Promise(setImmediate);
    events.push(`${n} ends`);
    return n < 3 ? 0 : HOUR_MS;
  });
  loop.start();
  expect(events).toEqual(['1 begins']);
  await until('three rounds', () => events.length === 6);
  expect(loop.isStopping).toBe(false);
  await loop.stop();
  expect(events).toEqual(['1 begins', '1 ends', '2 begins', '2 ends', '3 begins', '3 ends']);
});

test('a stop waits for the current round, ends a pause, and lets no further round begin', async () => {
  let rounds = 0;
  let finish = () => {};
  const loop = new Loop(async () => {
    rounds += 1;
    await new Promise<void>((resolve) => (finish = resolve));
    return 0;
  });
  loop.start();
  let stopped = false;
  const stopping = loop.stop().then(() => (stopped = true));
  await new Promise(setImmediate);
  expect([loop.isStopping, stopped]).toEqual([true, false]);
  finish();
  await stopping;
  expect(rounds).toBe(1);

  const paused = new Loop(() => Promise.resolve((rounds += 1)));
  paused.start(HOUR_MS);
  await paused.stop();
  expect(rounds).toBe(1);
});
