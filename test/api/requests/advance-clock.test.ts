import { advanceInTurn } from '../../../api/requests/advance-clock';
import type { MerchantContext, MerchantServices } from '../../../api/merchant';
import { beginAdvance } from '../../../src/db/sandbox-clocks/sandbox-clocks';
import type { ReadableKind } from '../../../src/temporal/kinds';
import { createTestDatabase } from '../../support/database';
import { NOW, PROJECT } from '../../support/domain';
import { aStoredOrder } from '../../support/rows';
import { setUp } from '../../support/set-up';
import { NOBODY } from '../../support/shapes';
import { until } from '../../support/waits';

const of = (id: string) => ({ caller: { project: { id } } }) as unknown as MerchantContext;

const database = setUp(() => createTestDatabase());

const CLOCK = { clock_offset_ms: 0 };
const inTurn = (
  project: string,
  advance: () => Promise<typeof CLOCK>,
  { id, request_id } = { id: NOBODY, request_id: 'none' },
) =>
  advanceInTurn(
    { db: database.db, sandbox_clocks: { advance } as unknown as MerchantServices['sandbox_clocks'] },
    of(project),
    {
      kind: {} as ReadableKind<typeof CLOCK>,
      owner: { id, project_id: project },
      input: { request_id, advance: { advance_ms: 1_000 } },
    },
  );

test('rules 23.9: a project advances four clocks at a time, others take their turns, and beyond 40 that wait it is 429', async () => {
  const ends: (() => void)[] = [];
  const advance = () => new Promise<typeof CLOCK>((resolve) => ends.push(() => resolve(CLOCK)));
  const refused: unknown[] = [];
  const advances = Array.from({ length: 50 }, () =>
    inTurn('busy', advance).catch((error: unknown) => void refused.push(error)),
  );
  await until('the last ones are refused', () => refused.length === 6);
  expect(ends).toHaveLength(4);
  expect(refused[0]).toMatchObject({ error: 'TooManyRequests' });
  // Another project does not wait for this one.
  const of_other = inTurn('other', advance);
  await until('the advance of the other project has begun', () => ends.length === 5);
  const ending = setInterval(() => ends.forEach((end) => end()), 5);
  await Promise.all([...advances, of_other]);
  clearInterval(ending);
  expect([ends.length, refused.length]).toEqual([45, 6]);
});

test('an advance that gets no turn in time is 429, and is not made later', async () => {
  const ends: (() => void)[] = [];
  const advance = () => new Promise<typeof CLOCK>((resolve) => ends.push(() => resolve(CLOCK)));
  const advances = Array.from({ length: 4 }, () => inTurn('slow', advance));
  await expect(inTurn('slow', advance)).rejects.toMatchObject({ error: 'TooManyRequests' });
  ends.forEach((end) => end());
  await Promise.all(advances);
  expect(ends).toHaveLength(4);
});

test.each<[title: string, begun: string[], moved: boolean, is_unknown: boolean]>([
  ['that waits behind another one, which has moved the clock, is unknown', ['other'], true, true],
  ['that has begun is unknown while the clock has not moved: the answer does not show it', ['asked'], false, true],
  ['that a repeat finds carried out is known', ['asked'], true, false],
])('rules 11.5: an advance %s', async (_title, begun, moved, is_unknown) => {
  const { id } = await aStoredOrder(database.db);
  const clock = { clock_id: id, project_id: PROJECT.id };
  for (const request_id of begun) {
    await beginAdvance(database.db, clock, { request_id, advance: { advance_ms: 1_000 }, now: NOW });
  }
  const advanced = { clock_offset_ms: moved ? 1_000 : 0 };
  expect(await inTurn('one', () => Promise.resolve(advanced), { id, request_id: 'asked' })).toEqual({
    advanced,
    is_unknown,
  });
});
