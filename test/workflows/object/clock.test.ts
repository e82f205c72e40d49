import { ObjectClock, moveStoppedClocks, stopClocks } from '../../../workflows/object/clock';

test('the clock of an object is ahead of real time as far as it was advanced, and never goes back', () => {
  const clock = new ObjectClock();
  clock.advanceTo(1_000);
  const ahead = () => Math.round((clock.now() - Date.now()) / 100) * 100;
  expect([clock.offset_ms, ahead()]).toEqual([1_000, 1_000]);
  clock.advanceTo(5_000);
  clock.advanceTo(3_000);
  expect([clock.offset_ms, ahead()]).toEqual([5_000, 5_000]);
});

test.each(['x', Number.NaN, Infinity, 1.5, null, {}])('a clock is never advanced by %p', (offset_ms) => {
  const clock = new ObjectClock();
  expect(() => clock.advanceTo(offset_ms as number)).toThrow(RangeError);
  expect(clock.offset_ms).toBe(0);
});

test('rules 24.11: stopped clocks are moved by the end of a timer alone', () => {
  const clock = new ObjectClock();
  const startClocks = stopClocks();
  const stopped_at = clock.now();
  moveStoppedClocks(stopped_at + 5_000);
  moveStoppedClocks(stopped_at + 3_000);
  expect(clock.now()).toBe(stopped_at + 5_000);
  startClocks();
  moveStoppedClocks(stopped_at + 5_000);
  expect(clock.now()).toBeLessThan(stopped_at + 5_000);
});
