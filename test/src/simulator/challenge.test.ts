import { Client } from 'pg';
import { startTestSimulator, type TestSimulator } from './support';
import { answerIssuer } from '../../support/processor';
import { setUp } from '../../support/set-up';

const bench = setUp(startTestSimulator);

const BACK = 'https://shop.example/pay/?order=7';

/** A charge at the issuer's page: its key and the page's address. */
async function atTheIssuer(
  over: Parameters<TestSimulator['charge']>[1] = { return_url: BACK },
): Promise<{ key: string; url: string }> {
  const charge = await bench.charge('challenge', over);
  const answer = await bench.processor.execute(charge, charge.transaction_id);
  const is_challenge = typeof answer === 'object' && answer.result === 'challenge';
  if (!is_challenge || !answer.challenge_url) throw new Error('no challenge');
  return { key: charge.transaction_id, url: answer.challenge_url };
}

const FAILED = { result: 'error', three_ds: { result: 'failed', liability_shift: false } };

test.each([
  [
    'the right code',
    [{ code: '0101' }],
    { result: 'approved', response_code: '00', three_ds: { result: 'authenticated', liability_shift: true } },
  ],
  ['the code that fails', [{ code: '3333' }], FAILED],
  ['cancel', [{ action: 'cancel' }], FAILED],
  ['a wrong code, then the right one', [{ code: '1' }, { code: '0101' }], { result: 'approved' }],
  ['three wrong codes', [{ code: '1' }, { code: '2' }, { code: '' }], FAILED],
])('%s: back to return_url as it was given, and only the processor knows the end', async (_, forms, end) => {
  const { key, url } = await atTheIssuer();
  for (const form of forms.slice(0, -1)) {
    expect((await answerIssuer(url, form)).headers.get('location')).toBe(new URL(url).pathname);
    expect(await bench.processor.findOperation(key, {})).toMatchObject({ result: 'challenge' });
  }
  const last = await answerIssuer(url, forms.at(-1) ?? {});
  expect([last.status, last.headers.get('location')]).toEqual([303, BACK]);
  const asked = await bench.processor.findOperation(key, {});
  expect(asked).toMatchObject(end);
  if (end === FAILED) expect(asked).not.toHaveProperty('response_code');
});

test.each<[string, (at: { key: string; url: string }) => Promise<unknown>]>([
  ['asked by the service', ({ key }) => bench.processor.findOperation(key, {})],
  ['opened by the customer', ({ url }) => fetch(url, { redirect: 'manual' })],
  ['answered by the customer', ({ url }) => answerIssuer(url, { code: '0101' })],
])('rules 17.5: a challenge fails an hour after it began: %s', async (_who, act) => {
  const at = await atTheIssuer();
  const { key } = at;
  const db = new Client({ connectionString: bench.postgres_url });
  await db.connect();
  const pass = (interval: string) =>
    db.query(`update operations set occurred = occurred - interval '${interval}' where idempotency_key = $1`, [key]);
  try {
    await pass('59 minutes');
    expect(await bench.processor.findOperation(key, {})).toMatchObject({ result: 'challenge' });
    await pass('1 minute');
    await act(at);
    expect(await bench.processor.findOperation(key, {})).toMatchObject(FAILED);
  } finally {
    await db.end();
  }
});

test('the first end counts, whatever is submitted afterwards or at the same time', async () => {
  const { key, url } = await atTheIssuer();
  await Promise.all([
    answerIssuer(url, { code: '0101' }),
    answerIssuer(url, { action: 'cancel' }),
    answerIssuer(url, { code: '0101' }),
  ]);
  const first = await bench.processor.findOperation(key, {});
  expect((await answerIssuer(url, { code: '3333' })).headers.get('location')).toBe(BACK);
  expect(await bench.processor.findOperation(key, {})).toEqual(first);
});

test('the page shows amount and card, the mistake after a wrong code, and runs nothing', async () => {
  const { url } = await atTheIssuer({ return_url: BACK, amount: 123_456, currency: 'HUF' });
  await answerIssuer(url, { code: '1111' });
  const answer = await fetch(url, { headers: { 'accept-language': 'de-DE' } });
  const page = await answer.text();
  expect(page).toContain('1.234,56');
  expect(page).toContain('•••• 0015');
  expect(page).toContain('2 attempts are left');
  expect(page).not.toContain('<script');
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(answer.headers.get('cache-control')).toBe('no-store');
});

test('without a return_url it says thank you; an unknown address is 404', async () => {
  const { url } = await atTheIssuer({});
  const answer = await answerIssuer(url, { code: '0101' });
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('Thank you')]);
  expect((await fetch(`${bench.simulator.page_url}/challenge/nobody/`)).status).toBe(404);
});
