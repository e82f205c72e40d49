import pino from 'pino';
import { parseConfig } from '../../../src/config';
import { serveApi } from '../../../src/processes/serve-api';

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
