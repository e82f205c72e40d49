import { randomUUID } from 'node:crypto';
import type { LoggedRequestAnswer } from '../../../src/contract/request-log';
import { Merchant, newIdempotencyKey } from '../../support/merchant';
import { createTestProject } from '../../support/operator';
import { until } from '../../support/waits';

const merchant = new Merchant();
const get = (id: string, as = merchant) => as.send<LoggedRequestAnswer>('GET', `/v1/requests/${id}/`);
const untilLogged = (id: string) =>
  until('the request is in the log', async () => {
    const { status, body } = await get(id);
    return status === 200 && body;
  });

test('rules 25.3: a refused request tells by its X-Request-Id which fields were wrong', async () => {
  const refused = await merchant.send('POST', '/v1/orders/', {
    body: { currency: 'EUR', amount: -1, transactions: [{ payment_method: 4 }] },
    headers: { 'idempotency-key': newIdempotencyKey() },
  });
  const id = refused.headers.get('x-request-id')!;
  const logged = await untilLogged(id);
  expect(logged).toEqual({
    id,
    received: expect.stringMatching(/^\d{4}-.*\+00:00$/) as string,
    operation: 'createOrder',
    method: 'POST',
    path: '/v1/orders/',
    status: 400,
    duration_ms: expect.any(Number) as number,
    error_type: 'ValidationError',
    error_fields: ['amount', 'transactions.0.payment_method'],
    idempotency_key: expect.any(String) as string,
    is_repeat: false,
    api_key_id: expect.any(String) as string,
  });
  expect(Math.abs(Date.parse(logged.received) - Date.now())).toBeLessThan(60_000);
});

test('rules 25.3: a request of another project is Unauthorized, an unknown one NotFound, no uuid a ValidationError', async () => {
  const listed = await merchant.send('GET', '/v1/merchants/self/projects/self/');
  const id = listed.headers.get('x-request-id')!;
  await untilLogged(id);
  const other = await createTestProject();
  expect((await get(id, other.merchant)).status).toBe(401);
  expect((await get(randomUUID())).status).toBe(404);
  expect((await get('4111')).status).toBe(400);
});
