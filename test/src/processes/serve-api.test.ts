import pino from 'pino';
import { parseConfig } from '../../../src/config';
import { newApiKey } from '../../../src/db/projects/api-keys';
import { serveApi } from '../../../src/processes/serve-api';
import { SECRET_KEYS, createTestDatabase, untilLocked } from '../../support/database';
import { startProcess } from '../../support/process';
import { setUp } from '../../support/set-up';

const database = setUp(() => createTestDatabase());

test('an api without PAGE_SECRET does not start: with one of its own it would refuse the forms of the others', async () => {
  const config = parseConfig({
    API_PORT: '0',
    POSTGRES_URL: 'postgres://127.0.0.1:9/payments',
    TEMPORAL_ADDRESS: '127.0.0.1:9',
    PROCESSOR_URL: 'http://127.0.0.1:9',
  });
  await expect(serveApi(config, pino({ enabled: false }))).rejects.toThrow(
    /^PAGE_SECRET is not set: Secret that signs the forms/,
  );
});

test('rules 2.7: an API whose connections are all in use is ready', async () => {
  const env = { POSTGRES_URL: database.url, POSTGRES_CONNECTIONS_MAX: '3', SECRET_KEYS };
  const api = await startProcess('api', { env });
  try {
    const payments = await database.db.transaction();
    await payments.raw('lock table api_keys in access exclusive mode');
    // Requests that share a key share its look-up.
    const requests = Array.from({ length: 5 }, () => {
      const authorization = `Basic ${Buffer.from(`${newApiKey({ is_test: true })}:`).toString('base64')}`;
      return fetch(`${api.url}/v1/orders/`, { headers: { authorization } });
    });
    await untilLocked('a request waits for the lock', database.db);
    const ready = await fetch(`${api.url}/health/ready`);
    await payments.commit();
    expect([ready.status, await ready.json()]).toMatchObject([200, { checks: { postgres: 'ok' } }]);
    expect((await Promise.all(requests)).map(({ status }) => status)).toEqual(Array(5).fill(401));
  } finally {
    await api.stop();
  }
});
