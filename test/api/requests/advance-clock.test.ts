import { advanceInTurn } from '../../../api/requests/advance-clock';
import type { MerchantContext } from '../../../api/merchant';
import { until } from '../../support/waits';

const of = (id: string) => ({ caller: { project: { id } } }) as unknown as MerchantContext;

const CLOCK = { clock_offset_ms: 0 };

test('rules 23.9: a project advances four clocks at a time, others take their turns, and beyond 40 that wait it is 429', async () => {
  const ends: (() => void)[] = [];
  const advance = () => new Promise<typeof CLOCK>((resolve) => ends.push(() => resolve(CLOCK)));
  const refused: unknown[] = [];
  const advances = Array.from({ length: 50 }, () =>
    advanceInTurn(of('busy'), CLOCK, advance).catch((error: unknown) => void refused.push(error)),
  );
  await until('the last ones are refused', () => refused.length === 6);
  expect(ends).toHaveLength(4);
  expect(refused[0]).toMatchObject({ error: 'TooManyRequests' });
  // Another project does not wait for this one.
  const of_other = advanceInTurn(of('other'), CLOCK, advance);
  await until('the advance of the other project has begun', () => ends.length === 5);
  const ending = setInterval(() => ends.forEach((end) => end()), 5);
  await Promise.all([...advances, of_other]);
  clearInterval(ending);
  expect([ends.length, refused.length]).toEqual([45, 6]);
});

test('an advance that gets no turn in time is 429, and is not made later', async () => {
  const ends: (() => void)[] = [];
  const advance = () => new Promise<typeof CLOCK>((resolve) => ends.push(() => resolve(CLOCK)));
  const advances = Array.from({ length: 4 }, () => advanceInTurn(of('slow'), CLOCK, advance));
  await expect(advanceInTurn(of('slow'), CLOCK, advance)).rejects.toMatchObject({ error: 'TooManyRequests' });
  ends.forEach((end) => end());
  await Promise.all(advances);
  expect(ends).toHaveLength(4);
});

test('an advance that did not move the clock was not answered in time', async () => {
  const moved = { clock_offset_ms: 1_000 };
  const advanced = (after: typeof CLOCK) => advanceInTurn(of('one'), CLOCK, () => Promise.resolve(after));
  expect(await advanced(moved)).toEqual({ advanced: moved, is_unknown: false });
  expect(await advanced(CLOCK)).toEqual({ advanced: CLOCK, is_unknown: true });
});
