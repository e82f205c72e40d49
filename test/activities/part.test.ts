import { CancelledFailure } from '@temporalio/activity';
import { MockActivityEnvironment } from '@temporalio/testing';
import { workForAPart } from '../../activities/part';

/** A step that takes so long, by the clock of the process, and how many were taken. Milliseconds. */
function work({ of, step_ms }: { of: number; step_ms: number }) {
  const done = { steps: 0 };
  const began = performance.now();
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => began + done.steps * step_ms);
  return Object.assign(done, {
    step: async () => (done.steps += 1) < of,
    [Symbol.dispose]: () => clock.mockRestore(),
  });
}

function inActivity() {
  const environment = new MockActivityEnvironment();
  const heartbeats: unknown[] = [];
  environment.on('heartbeat', (details: unknown) => heartbeats.push(details));
  return { environment, heartbeats };
}

test('an activity works until nothing is left, with a heartbeat after each step', async () => {
  using done = work({ of: 3, step_ms: 1 });
  const { environment, heartbeats } = inActivity();
  await environment.run(() => workForAPart(done.step, () => ({ steps: done.steps })));
  expect(heartbeats).toEqual([{ steps: 1 }, { steps: 2 }, { steps: 3 }]);
});

test('after twenty seconds it leaves the rest to its next call', async () => {
  using done = work({ of: 100, step_ms: 6_000 });
  await inActivity().environment.run(() => workForAPart(done.step));
  expect(done.steps).toBe(4);
});

test('once it is cancelled it takes no further step', async () => {
  using done = work({ of: 100, step_ms: 1 });
  const { environment } = inActivity();
  const step = () => {
    environment.cancel();
    return done.step();
  };
  await expect(environment.run(() => workForAPart(step))).rejects.toThrow(CancelledFailure);
  expect(done.steps).toBe(1);
});
