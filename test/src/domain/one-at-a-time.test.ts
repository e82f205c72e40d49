import { oneAtATime } from '../../../src/domain/one-at-a-time';

test('work begins when the work before it has ended, in the order it came', async () => {
  const inTurn = oneAtATime();
  const log: string[] = [];
  const work = (name: string, turns: number) => async () => {
    log.push(`${name} begins`);
    for (let i = 0; i < turns; i += 1) await Promise.resolve();
    log.push(`${name} ends`);
    return name;
  };
  expect(await Promise.all([inTurn(work('a', 9)), inTurn(work('b', 1)), inTurn(work('c', 4))])).toEqual([
    'a',
    'b',
    'c',
  ]);
  expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});

test('a refusal goes to its caller and delays no other work', async () => {
  const inTurn = oneAtATime();
  const refused = inTurn(() => Promise.reject(new Error('no')));
  const next = inTurn(() => Promise.resolve('yes'));
  await expect(refused).rejects.toThrow('no');
  expect(await next).toBe('yes');
});
