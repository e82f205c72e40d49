import { Router } from 'express';
import pino from 'pino';
import { LANGUAGES } from '../../../api/page/languages';
import { limitByAddress, limitForms } from '../../../api/page/limits';
import { onPageError } from '../../../api/page/respond';
import { serveTestApi, type TestApi } from '../../support/test-api';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const pass = (milliseconds: number) => {
  jest.setSystemTime(Date.now() + milliseconds);
  jest.advanceTimersByTime(milliseconds);
};

// Time stands still for the buckets, so that only what a test lets pass adds tokens.
beforeEach(() => {
  jest.useFakeTimers({
    now: NOW,
    doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'setTimeout', 'clearTimeout', 'setInterval'],
  });
});
afterEach(() => jest.useRealTimers());

describe('rules 18.6: requests of one address', () => {
  let service: TestApi;
  afterEach(() => service.close());

  async function serve(TRUSTED_PROXY = ''): Promise<void> {
    const pages = Router();
    pages.use('/pay', limitByAddress({ per_second: 10, burst: 4 }), (_request, response) => void response.end());
    pages.use('/pay', onPageError(pino({ level: 'silent' }), ''));
    service = await serveTestApi({ routers: [pages], config: { TRUSTED_PROXY } });
  }
  const load = (headers: Record<string, string> = {}) => service.send('/pay/', { headers });
  const statuses = async (count: number, headers?: Record<string, string>) => {
    const all: number[] = [];
    for (let n = 0; n < count; n += 1) all.push((await load(headers)).status);
    return all;
  };
  const from = (address: string) => ({ 'x-forwarded-for': address, 'x-forwarded-proto': 'https' });

  test('so many at once, then one more with every token', async () => {
    await serve();
    expect(await statuses(6)).toEqual([200, 200, 200, 200, 429, 429]);
    pass(100);
    expect(await statuses(2)).toEqual([200, 429]);
    pass(60_000);
    expect(await statuses(5)).toEqual([200, 200, 200, 200, 429]);
  });

  test('beyond that: a page in each language for browsers, JSON for programs, both with Retry-After', async () => {
    await serve();
    await statuses(4);
    for (const [language, { texts }] of Object.entries(LANGUAGES)) {
      const response = await load({ accept: 'text/html', 'accept-language': language });
      expect([response.status, response.headers.get('retry-after')]).toEqual([429, '1']);
      expect(await response.text()).toContain(texts.problems[429].heading);
    }
    const told = await load({ accept: 'application/json' });
    expect([told.status, told.headers.get('retry-after'), await told.json()]).toEqual([
      429,
      '1',
      {
        error: { status: 429, type: 'TooManyRequests', value: 'More than 10 requests a second from this address.' },
      },
    ]);
  });

  test('X-Forwarded-For of a stranger does not count', async () => {
    await serve();
    await statuses(4);
    expect(await statuses(1, from('203.0.113.7'))).toEqual([429]);
  });

  test('behind a trusted proxy each client has its own, whatever it claims to be forwarded for', async () => {
    await serve('127.0.0.1');
    expect(await statuses(5, from('203.0.113.7'))).toEqual([200, 200, 200, 200, 429]);
    expect(await statuses(1, from('198.51.100.1, 203.0.113.7'))).toEqual([429]);
    expect(await statuses(1, from('203.0.113.8'))).toEqual([200]);
  });

  test('the addresses of one IPv6 network count as one, as does an IPv4 address written as IPv6', async () => {
    await serve('127.0.0.1');
    expect(await statuses(4, from('2001:db8:1:2::1'))).toEqual([200, 200, 200, 200]);
    expect(await statuses(1, from('2001:db8:1:2:ffff::9'))).toEqual([429]);
    expect(await statuses(1, from('2001:db8:1:3::1'))).toEqual([200]);
    await statuses(4, from('203.0.113.7'));
    expect(await statuses(1, from('::ffff:203.0.113.7'))).toEqual([429]);
  });
});

test('rules 18.6: forms of one order: so many at once, then one more with every token; another order has its own', () => {
  const count = limitForms({ per_second: 5, burst: 3 });
  for (let n = 0; n < 3; n += 1) count('order-1');
  expect(() => count('order-1')).toThrow('More than 5 forms a second for this payment.');
  count('order-2');
  pass(200);
  count('order-1');
  expect(() => count('order-1')).toThrow('More than 5 forms');
});
