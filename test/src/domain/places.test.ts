import { takePlace, takePlaces } from '../../../src/domain/places';

test('a caller has as many places as it may take; a free one can be taken again, and other callers have their own', () => {
  const taken = new Map<string, number>();
  const take = (caller: string) => takePlace(taken, caller, 2);
  const ends = [take('a'), take('a'), take('b')];
  expect([...ends, take('a')]).toEqual([...Array(3).fill(expect.any(Function)), undefined]);
  ends[0]!();
  expect([take('a'), take('a')]).toEqual([expect.any(Function), undefined]);
});

test('a caller without places is forgotten', () => {
  const taken = new Map<string, number>();
  takePlace(taken, 'a', 1)!();
  expect([...taken]).toEqual([]);
});

test('places of several callers are taken and freed together, or none of them', () => {
  const taken = new Map<string, number>();
  const shares = (caller: string) => [
    { caller, at_once: 2 },
    { caller: 'all', at_once: 3 },
  ];
  const ends = ['a', 'a', 'a', 'b', 'c'].map((caller) => takePlaces(taken, shares(caller)));
  expect(ends.map((end) => end !== undefined)).toEqual([true, true, false, true, false]);
  ends[0]!();
  expect([...taken]).toEqual([
    ['a', 1],
    ['all', 2],
    ['b', 1],
  ]);
});
