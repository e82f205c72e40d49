import type express from 'express';
import { createRateLimit, createTokenBuckets } from '../../../api/http/rate-limit';
import { API_KEY, AUTHORIZATION, OWNER, serveTestApi, type TestApi } from '../../support/test-api';

const OTHER_KEY = API_KEY.replace('0123', '3210');
const basic = (api_key: string) => `Basic ${Buffer.from(`${api_key}:`).toString('base64')}`;
const OTHER_PROJECT_KEY = API_KEY.replace('0123', '2310');
const OTHER_OWNER = { ...OWNER, project: { ...OWNER.project, id: '0190c000-0000-7000-8000-00000000dddd' } };
const findOwner = async (api_key: string) =>
  [API_KEY, OTHER_KEY].includes(api_key) ? OWNER : api_key === OTHER_PROJECT_KEY ? OTHER_OWNER : undefined;
const PATH = '/v1/merchants/self/projects/self/';

let api: TestApi;
// Time stands still for the buckets, so that what drips in is what a test lets drip.
beforeEach(async () => {
  jest.useFakeTimers({
    doNotFake: [
      'nextTick',
      'queueMicrotask',
      'setImmediate',
      'clearImmediate',
      'setTimeout',
      'clearTimeout',
      'setInterval',
      'clearInterval',
    ],
  });
  api = await serveTestApi({ config: { RATE_LIMIT_PER_SECOND: 5 }, findOwner });
});
afterEach(async () => {
  jest.useRealTimers();
  await api.close();
});

const statuses = async (count: number, headers: Record<string, string> = {}) =>
  (await Promise.all(Array.from({ length: count }, () => api.send(PATH, { headers })))).map(({ status }) => status);
const TEN = Array(10).fill(200) as number[];

test('rules 18.1: two seconds of the rate may come at once, then one more with every token', async () => {
  expect(await statuses(10)).toEqual(TEN);
  expect(await statuses(2)).toEqual([429, 429]);
  jest.setSystemTime(Date.now() + 200);
  jest.advanceTimersByTime(200);
  expect((await statuses(2)).toSorted((a, b) => a - b)).toEqual([200, 429]);
  jest.advanceTimersByTime(60_000);
  expect((await statuses(11)).toSorted((a, b) => a - b)).toEqual([...TEN, 429]);
});

test('rules 18.1: every answer to a known key has the rate limit headers, refusals included', async () => {
  const standing = (response: Response) => [
    response.status,
    response.headers.get('ratelimit-policy'),
    response.headers.get('ratelimit'),
  ];
  expect(standing(await api.send(PATH))).toEqual([200, '"default";q=10;w=2', '"default";r=9;t=1']);
  expect(standing(await api.post('/v1/orders/', {}))).toEqual([400, '"default";q=10;w=2', '"default";r=8;t=1']);
  expect(standing(await fetch(api.url + PATH))).toEqual([401, null, null]);
  await statuses(8);
  const refused = await api.send(PATH);
  expect(standing(refused)).toEqual([429, '"default";q=10;w=2', '"default";r=0;t=2']);
  expect(refused.headers.get('retry-after')).toBe('1');
  expect([refused.headers.get('content-type'), await refused.json()]).toEqual([
    'application/json',
    { error: { status: 429, type: 'TooManyRequests', value: 'More than 5 requests a second.' } },
  ]);
});

test('rules 18.1: a body counts as one request more for each 16 KiB of it', async () => {
  const order = { currency: 'EUR', amount: 1, x: 'x'.repeat(5 * 16_384) };
  expect((await api.post('/v1/orders/', order)).status).toBe(200);
  expect((await api.send(PATH)).headers.get('ratelimit')).toBe('"default";r=3;t=2');
});

test('work that costs several requests takes as many tokens, and waits until they are available', async () => {
  const { admit, spend } = createRateLimit(5);
  const left = () => {
    const headers: Record<string, string> = {};
    const setHeader = (name: string, value: string) => void (headers[name] = value);
    admit('one', { setHeader } as unknown as express.Response);
    return headers['RateLimit'];
  };
  await spend('one', 4);
  expect(left()).toBe('"default";r=5;t=1');
  let spent = false;
  const waiting = spend('one', 6).then(() => (spent = true));
  await new Promise((passed) => setImmediate(passed));
  expect([spent, left()]).toEqual([false, '"default";r=4;t=2']);
  jest.advanceTimersByTime(60_000);
  await waiting;
  expect(left()).toBe('"default";r=3;t=2');
});

/** A limit whose time passes only when a test lets it. `ask` sends a request: whether it is admitted, and RateLimit. */
function aLimit(per_second: number) {
  jest.useFakeTimers();
  const { admit, spend } = createRateLimit(per_second);
  const ask = () => {
    let standing = '';
    const setHeader = (name: string, value: string) => void (name === 'RateLimit' && (standing = value));
    try {
      admit('one', { setHeader } as unknown as express.Response);
    } catch {
      return ['refused', standing];
    }
    return ['admitted', standing];
  };
  return { ask, spend };
}

test('rules 18.1: work that is given up takes nothing, and nobody waits for it', async () => {
  const { ask, spend } = aLimit(1);
  await spend('one', 2);
  const given_up = new AbortController();
  const waiting = [1, 2, 3].map(() => spend('one', 60, given_up.signal));
  await jest.advanceTimersByTimeAsync(1_000);
  given_up.abort();
  await Promise.all(waiting);
  expect(ask()[0]).toBe('admitted');
});

test('rules 18.1: work that costs more than the burst is slowed, not refused', async () => {
  const { spend } = aLimit(1);
  let spent = 0;
  const parts = async () => {
    for (; spent < 12; spent += 4) await spend('one', 4);
  };
  await Promise.all([parts(), jest.advanceTimersByTimeAsync(60_000)]);
  expect(spent).toBe(12);
});

test('rules 18.1: work that costs more than the burst leaves no debt', async () => {
  jest.useFakeTimers();
  const { spend, take } = createTokenBuckets({ per_second: 1, burst: 2 });
  let spent = false;
  const spending = spend('one', 12).then(() => (spent = true));
  await jest.advanceTimersByTimeAsync(9_900);
  expect(spent).toBe(false);
  await jest.advanceTimersByTimeAsync(100);
  await spending;
  expect(take('one').allowed).toBe(false);
  await jest.advanceTimersByTimeAsync(1_000);
  expect(take('one').allowed).toBe(true);
});

test('rules 18.1: work that costs several requests goes on while its project sends more than it may', async () => {
  const { ask, spend } = aLimit(5);
  for (let n = 0; n < 10; n += 1) ask();
  let spent = false;
  const waiting = spend('one', 4).then(() => (spent = true));
  for (let n = 0; n < 100 && !spent; n += 1) {
    ask();
    await jest.advanceTimersByTimeAsync(50);
  }
  expect(spent).toBe(true);
  await waiting;
  // What the requests took meanwhile is a debt.
  expect(ask()).toEqual(['refused', '"default";r=0;t=3']);
  await jest.advanceTimersByTimeAsync(1_200);
  expect(ask()[0]).toBe('admitted');
});

test('rules 18.1: a project beyond its rate has half of it for its lists, and half for its other requests', async () => {
  const { ask, spend } = aLimit(5);
  let [listed, admitted] = [0, 0];
  const list = async () => {
    for (; listed < 150; listed += 4) await spend('one', 4);
  };
  const lists = [list(), list(), list(), list()];
  for (let n = 0; n < 1_200; n += 1) {
    if (ask()[0] === 'admitted') admitted += 1;
    await jest.advanceTimersByTimeAsync(50);
  }
  // Five a second in a minute, and the burst.
  expect([listed > 120, admitted > 120, listed + admitted <= 330]).toEqual([true, true, true]);
  await jest.advanceTimersByTimeAsync(60_000);
  await Promise.all(lists);
});

test('a refused request reaches no operation', async () => {
  await statuses(12);
  expect(api.calls).toHaveLength(10);
});

test('rules 18.1: each project has its own bucket, with whichever of its keys a request comes', async () => {
  expect(await statuses(10)).toEqual(TEN);
  expect(await statuses(1, { authorization: AUTHORIZATION.replace('Basic ', 'basic   ') })).toEqual([429]);
  expect(await statuses(1, { authorization: basic(OTHER_KEY) })).toEqual([429]);
  expect(await statuses(1, { authorization: basic(OTHER_PROJECT_KEY) })).toEqual([200]);
});

test('a project that is busy keeps its bucket however many others come', () => {
  const rateLimit = createRateLimit(5);
  const ask = (caller: string) => rateLimit.admit(caller, { setHeader: () => {} } as unknown as express.Response);
  for (let n = 0; n < 10; n += 1) ask('busy');
  for (let n = 0; n < 12_000; n += 1) {
    ask(`other ${n}`);
    if (n % 1_000 === 0) expect(() => ask('busy')).toThrow('More than 5 requests');
  }
  expect(() => ask('busy')).toThrow('More than 5 requests');
});

test('0 turns it off', async () => {
  const free = await serveTestApi({ config: { RATE_LIMIT_PER_SECOND: 0 } });
  const answers = await Promise.all(Array.from({ length: 50 }, () => free.send(PATH)));
  expect(
    answers.every(
      ({ status, headers }) => status === 200 && !headers.has('ratelimit') && !headers.has('ratelimit-policy'),
    ),
  ).toBe(true);
  await free.close();
});
