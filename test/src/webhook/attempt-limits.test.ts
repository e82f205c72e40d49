import { ATTEMPT_TASKS_AT_ONCE, AttemptLimits } from '../../../src/webhook/attempt-limits';

const merchant = { merchant_id: 'm', project_id: 'p', url: 'https://shop.example/hook' };
const other = { merchant_id: 'n', project_id: 'q', url: 'https://other.example/hook' };
/** Projects of one merchant. */
const projects = Array.from({ length: 50 }, (_, n) => ({ ...merchant, project_id: `p${n}` }));

/** Begins as many attempts as it may, up to 100. */
function beginAll(local: AttemptLimits, endpoint: typeof merchant): (() => void)[] {
  return Array.from({ length: 100 }, () => local.beginLocally(endpoint)).filter((end) => end !== undefined);
}

test('an endpoint of which nothing is known gets two at once; ended, they make room for others', () => {
  const local = new AttemptLimits();
  const ends = beginAll(local, merchant);
  expect(ends).toHaveLength(2);
  for (const end of ends) end();
  expect(beginAll(local, merchant)).toHaveLength(2);
});

test('rules 13.9: one that answers at once gets twenty, one that is slow none, until it answers at once again', () => {
  const local = new AttemptLimits();
  local.learn(merchant, true);
  expect(beginAll(local, merchant)).toHaveLength(0);
  local.learn(merchant, false);
  expect(beginAll(local, merchant)).toHaveLength(20);
});

test('a project gets no more by using many hosts, and takes nothing from another project', () => {
  const local = new AttemptLimits();
  const hosts = Array.from({ length: 50 }, (_, i) => ({ ...merchant, url: `https://host-${i}.example/` }));
  expect(hosts.map((host) => local.beginLocally(host)).filter((end) => end !== undefined)).toHaveLength(2);
  expect(beginAll(local, other)).toHaveLength(2);
});

test('attempts of one project to a host do not affect those of another project', () => {
  const local = new AttemptLimits();
  local.learn({ ...other, url: merchant.url }, true);
  expect(beginAll(local, merchant)).toHaveLength(2);
});

test('all paths of a host are one endpoint', () => {
  const local = new AttemptLimits();
  local.learn({ ...merchant, url: 'https://shop.example/another?order=1' }, true);
  expect(beginAll(local, merchant)).toHaveLength(0);
});

test('rules 13.9: tasks of one project take a fifth of the slots, whatever their endpoint; an ended one makes room', () => {
  const limits = new AttemptLimits();
  const begun = Array.from({ length: 200 }, (_, i) =>
    limits.beginTask({ ...merchant, url: `https://host-${i}.example/` }),
  );
  const ends = begun.filter((end) => end !== undefined);
  expect(ends).toHaveLength(ATTEMPT_TASKS_AT_ONCE / 5);
  expect(limits.beginTask(other)).toBeDefined();
  ends[0]!();
  expect([limits.beginTask(merchant), limits.beginTask(merchant)]).toEqual([expect.any(Function), undefined]);
});

test('rules 13.9: many projects get their merchant fewer than half of the slots, inside workflow tasks and as tasks', () => {
  const limits = new AttemptLimits();
  for (const project of projects) limits.learn(project, false);
  expect(projects.flatMap((project) => beginAll(limits, project))).toHaveLength(40);
  expect(beginAll(limits, other)).toHaveLength(2);
  const tasks = projects.flatMap((project) => Array.from({ length: 20 }, () => limits.beginTask(project)));
  expect(tasks.filter((end) => end !== undefined)).toHaveLength(200);
  expect(limits.beginTask(other)).toBeDefined();
});

describe('rules 13.9: a task that finds no slot asks again', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  /** The slots of the project are taken; as many attempts as that ended before, after so long. */
  function busy(attempt_ms: number): AttemptLimits {
    const limits = new AttemptLimits();
    const begin = () => Array.from({ length: 100 }, () => limits.beginTask(merchant));
    const ends = begin();
    jest.advanceTimersByTime(attempt_ms);
    for (const end of ends) end!();
    begin();
    return limits;
  }
  const turns = (limits: AttemptLimits, tasks: number) =>
    Array.from({ length: tasks }, () => limits.nextTurn(merchant));

  test('after two seconds, where attempts end at once', () => {
    const [first, ...others] = turns(busy(10), 1_000);
    expect(first).toBe(2_000);
    expect(Math.max(...others)).toBeLessThan(2_100);
  });

  test('of a receiver that never answers each in its turn, and within a minute', () => {
    const limits = busy(10_000);
    const thousand = turns(limits, 1_000);
    // Twenty a second, while ten slots a second become free.
    expect(thousand.map((wait) => Math.round(wait - 2_000)).slice(0, 3)).toEqual([0, 50, 100]);
    expect(thousand.at(-1)).toBeCloseTo(2_000 + 999 * 50, -1);
    expect(turns(limits, 1_000).at(-1)).toBe(60_000);
    expect(limits.nextTurn(other)).toBe(2_000);
    jest.advanceTimersByTime(70_000);
    expect(limits.nextTurn(merchant)).toBe(2_000);
  });

  test('of a merchant whose projects have all its slots, in one turn for all of them', () => {
    const limits = new AttemptLimits();
    const begin = () => projects.flatMap((project) => Array.from({ length: 4 }, () => limits.beginTask(project)));
    const ends = begin();
    jest.advanceTimersByTime(10_000);
    for (const end of ends) end!();
    begin();
    // Forty a second, while twenty slots a second become free.
    const waits = projects.map((project) => Math.round(limits.nextTurn(project) - 2_000));
    expect([waits.slice(0, 3), waits.at(-1)]).toEqual([[0, 25, 50], 49 * 25]);
    expect(limits.nextTurn(other)).toBe(2_000);
  });
});
