import { severalAtOnce } from '../../../src/domain/several-at-once';

test('so many run at a time, begun in their order; results are in this order, whichever ends first', async () => {
  const log: string[] = [];
  let running = 0;
  const made = await severalAtOnce(2, [9, 1, 4], async (turns, n) => {
    running += 1;
    log.push(`${n} begins beside ${running - 1}`);
    for (let i = 0; i < turns; i += 1) await Promise.resolve();
    running -= 1;
    return `${n}: ${turns}`;
  });
  expect(made).toEqual(['0: 9', '1: 1', '2: 4']);
  expect(log).toEqual(['0 begins beside 0', '1 begins beside 1', '2 begins beside 1']);
});

test('fewer than may run at a time, and none', async () => {
  expect(await severalAtOnce(8, ['one'], (one) => Promise.resolve(one))).toEqual(['one']);
  expect(await severalAtOnce(8, [], () => Promise.reject(new Error('nothing to do')))).toEqual([]);
});

test('a failure is thrown, and does not stop the others', async () => {
  const done: number[] = [];
  const work = async (n: number) => {
    await Promise.resolve();
    if (n === 1) throw new Error('no');
    done.push(n);
  };
  await expect(severalAtOnce(2, [1, 2, 3], work)).rejects.toThrow('no');
  await new Promise((resolve) => setImmediate(resolve));
  expect(done).toEqual([2, 3]);
});
