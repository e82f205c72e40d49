import { v7 as uuidv7 } from 'uuid';
import { newClientSecret } from '../../../api/manage/operations/clients';
import { TOKEN_PATH } from '../../../src/contract/manage/manage-api';
import { newApiKey } from '../../../src/db/projects/api-keys';
import { SECRET_KEYS, createTestDatabase, untilLocked } from '../../support/database';
import { startProcess } from '../../support/process';
import { setUp } from '../../support/set-up';
import { until } from '../../support/waits';

const database = setUp(() => createTestDatabase());

/**
 * A request whose sender must be looked up, and the table of senders. Each has its own: requests that share a key share
 * its look-up.
 */
const UNKNOWN = {
  api: {
    table: 'api_keys',
    send: (url: string) => {
      const authorization = `Basic ${Buffer.from(`${newApiKey({ is_test: true })}:`).toString('base64')}`;
      return fetch(`${url}/v1/orders/`, { headers: { authorization } });
    },
  },
  manage: {
    table: 'oauth_clients',
    send: (url: string) => {
      const form = { grant_type: 'client_credentials', client_id: uuidv7(), client_secret: newClientSecret() };
      return fetch(url + TOKEN_PATH, { method: 'POST', body: new URLSearchParams(form) });
    },
  },
};

test.each([
  ['api', 'SIGTERM'],
  ['manage', 'SIGINT'],
] as const)(
  'rules 2.7 and 2.9: %s is ready while all its connections are in use; it drains and says so; a second signal, %s, goes on at once',
  async (name, signal) => {
    const { table, send } = UNKNOWN[name];
    const env = { POSTGRES_URL: database.url, POSTGRES_CONNECTIONS_MAX: '3', SECRET_KEYS, DRAIN_MS: '60000' };
    const host = await startProcess(name, { env });
    const ready = () => fetch(`${host.url}/health/ready`);
    try {
      const others = await database.db.transaction();
      await others.raw('lock table ?? in access exclusive mode', [table]);
      const requests = Array.from({ length: 5 }, () => send(host.url));
      await untilLocked('a request waits for the lock', database.db);
      const busy = await ready();
      await others.commit();
      expect([busy.status, await busy.json()]).toMatchObject([200, { checks: { postgres: 'ok' } }]);
      expect((await Promise.all(requests)).map(({ status }) => status)).toEqual(Array(5).fill(401));

      host.kill('SIGTERM');
      const answer = await until('it is not ready', async () => {
        const response = await ready();
        return response.status === 503 && response;
      });
      expect([answer.headers.get('connection'), await answer.json()]).toEqual([
        'close',
        { error: { status: 503, type: 'ServerError', value: 'Not ready: draining.' } },
      ]);
      const other = await fetch(`${host.url}/`);
      expect([other.status, other.headers.get('connection'), host.ended()]).toEqual([200, 'close', undefined]);
      host.kill(signal);
      expect(await until('it has ended', () => host.ended(), 30_000)).toMatch(/^0: /);
    } finally {
      await host.stop();
    }
  },
);
