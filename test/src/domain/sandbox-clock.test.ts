import { ADVANCE_BEGINS, nextClockStep, type ClockProgress, type KeyedWait } from '../../../src/domain/sandbox-clock';

const NOW = 1_000_000;
const wait = (key: string, at: number, over: Partial<KeyedWait> = {}): KeyedWait => ({ key, at: NOW + at, ...over });
const waitingFor = (awaited: string[], waited_ms: number, given_up: string[] = []): ClockProgress => ({
  is_finished: false,
  awaited,
  waited_ms,
  given_up,
});
const BEGINS = ADVANCE_BEGINS;
const NOTHING: string[] = [];

/** The clock is 100 ms ahead and is to be 500 ms ahead; 1 s has passed since the look before. */
test.each<
  [what: string, waits: KeyedWait[], before: ClockProgress, to: number, signalled: string[], after: ClockProgress]
>([
  ['nothing waits: to the end', [], BEGINS, 500, NOTHING, { ...BEGINS, is_finished: true }],
  ['what falls due later is told', [wait('a', 501)], BEGINS, 500, ['a'], { ...BEGINS, is_finished: true }],
  ['due exactly at the end: happens first', [wait('a', 500)], BEGINS, 500, ['a'], waitingFor(['a'], 0)],
  [
    'the next due time, not the one after',
    [wait('a', 300), wait('b', 400)],
    BEGINS,
    300,
    ['a', 'b'],
    waitingFor(['a'], 0),
  ],
  ['all of one instant', [wait('a', 300), wait('b', 300)], BEGINS, 300, ['a', 'b'], waitingFor(['a', 'b'], 0)],
  [
    'a question to the processor stops no clock',
    [wait('a', 300, { is_poll: true })],
    BEGINS,
    500,
    ['a'],
    { ...BEGINS, is_finished: true },
  ],
  [
    'due before the advance: the clock stays',
    [wait('a', 100), wait('b', 300)],
    BEGINS,
    100,
    ['a'],
    waitingFor(['a'], 0),
  ],
  [
    'a due question is not waited for',
    [wait('a', 50, { is_poll: true })],
    BEGINS,
    500,
    ['a'],
    { ...BEGINS, is_finished: true },
  ],
  [
    'still due: waited for, not told again',
    [wait('a', 100)],
    waitingFor(['a'], 2_000),
    100,
    NOTHING,
    waitingFor(['a'], 3_000),
  ],
  [
    'one of two has happened: the wait begins anew',
    [wait('b', 100)],
    waitingFor(['a', 'b'], 2_000),
    100,
    ['b'],
    waitingFor(['b'], 0),
  ],
  ['something else is due at once', [wait('b', 100)], waitingFor(['a'], 2_000), 100, ['b'], waitingFor(['b'], 0)],
  ['it has happened: on', [wait('b', 300)], waitingFor(['a'], 2_000), 300, ['b'], waitingFor(['b'], 0)],
  ['just before thirty seconds', [wait('a', 100)], waitingFor(['a'], 28_999), 100, NOTHING, waitingFor(['a'], 29_999)],
  [
    'after thirty seconds it is given up',
    [wait('a', 100)],
    waitingFor(['a'], 29_000),
    100,
    NOTHING,
    waitingFor(['a'], 30_000, ['a']),
  ],
  [
    'given up before: on, and told where the clock is',
    [wait('a', 100)],
    waitingFor(['a'], 30_000, ['a']),
    500,
    ['a'],
    { ...BEGINS, is_finished: true, given_up: ['a'] },
  ],
  [
    'only what was given up is passed over',
    [wait('a', 90), wait('b', 100)],
    waitingFor(['a'], 30_000, ['a']),
    100,
    ['b'],
    waitingFor(['b'], 0, ['a']),
  ],
])('rules 23.6: %s', (_what, waits, before, to, signalled, after) => {
  const look = { waits, offset_ms: 100, to_offset_ms: 500, now: NOW, passed_ms: 1_000 };
  const step = nextClockStep(before, look);
  expect([step.offset_ms, step.signalled.map(({ key }) => key), step.progress]).toEqual([to, signalled, after]);
});

test('a clock that is ahead of the end already stays there, and its objects go on', () => {
  const waits = [wait('a', 300)];
  const step = nextClockStep(ADVANCE_BEGINS, { waits, offset_ms: 100, to_offset_ms: 0, now: NOW, passed_ms: 0 });
  expect(step).toEqual({ progress: { ...ADVANCE_BEGINS, is_finished: true }, offset_ms: 100, signalled: waits });
});
