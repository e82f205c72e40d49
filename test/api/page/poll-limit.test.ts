import { createPollLimit, type PollLimit } from '../../../api/page/poll-limit';

let pollLimit: PollLimit;
let polls: string[];
const poll = async (transaction_id: string) =>
  await pollLimit(transaction_id, async () => {
    polls.push(transaction_id);
  });

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setTimeout', 'setImmediate', 'nextTick', 'queueMicrotask'] });
  pollLimit = createPollLimit();
  polls = [];
});
afterEach(() => jest.useRealTimers());

const pass = (milliseconds: number) => jest.setSystemTime(Date.now() + milliseconds);

test('a caller that comes during a poll waits for its result and starts no other', async () => {
  let end: () => void = () => undefined;
  const under_way = new Promise<void>((resolve) => {
    end = resolve;
  });
  const ended: number[] = [];
  const loads = [1, 2, 3].map((n) =>
    pollLimit('t-1', async () => {
      polls.push('t-1');
      await under_way;
    }).then(() => ended.push(n)),
  );
  await poll('t-2');
  expect([polls, ended]).toEqual([['t-1', 't-2'], []]);
  end();
  await Promise.all(loads);
  expect([polls, ended]).toEqual([
    ['t-1', 't-2'],
    [1, 2, 3],
  ]);
});

test('rules 12.12: a question every second for an hour: 2 s after the first, then after twice as long each time, at most 5 minutes', async () => {
  const asked_at: number[] = [];
  for (let second = 0; second < 3_600; second += 1) {
    const before = polls.length;
    await poll('t-1');
    if (polls.length > before) asked_at.push(second);
    pass(1_000);
  }
  expect(asked_at.slice(0, 10)).toEqual([0, 2, 6, 14, 30, 62, 126, 254, 510, 810]);
  expect(asked_at).toHaveLength(19);
});

test('a failed poll is repeated at once, and every caller that waited gets its failure', async () => {
  const failing = () =>
    pollLimit('t-1', async () => {
      polls.push('t-1');
      throw new Error('Temporal is away');
    });
  await Promise.all([failing(), failing()].map((load) => expect(load).rejects.toThrow('Temporal is away')));
  await poll('t-1');
  expect(polls).toEqual(['t-1', 't-1']);
});
