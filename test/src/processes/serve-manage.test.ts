import { v7 as uuidv7 } from 'uuid';
import { newClientSecret } from '../../../api/manage/operations/clients';
import { TOKEN_PATH, TOKEN_SCOPE } from '../../../src/contract/manage/manage-api';
import { insertOAuthClient } from '../../../src/db/projects/oauth-clients';
import { beginRestore } from '../../../src/db/backups/restores';
import { SECRET_KEYS, createTestDatabase, secrets } from '../../support/database';
import { PROJECT } from '../../support/domain';
import { startProcess } from '../../support/process';
import { setUp } from '../../support/set-up';

const database = setUp(() => createTestDatabase());

test('rules 28.1: during a restore the bearer-token host gives tokens and answers reads, but not the read of a secret', async () => {
  const { db } = database;
  const [client_id, client_secret] = [uuidv7(), newClientSecret()];
  const client = { client_id, name: 'An operator', role: 'operator', merchant_id: null } as const;
  await insertOAuthClient(db, client, secrets.hash(client_secret), new Date());
  await db.transaction((trx) => beginRestore(trx, uuidv7(), Date.now(), new Date()));
  const host = await startProcess('manage', { env: { POSTGRES_URL: database.url, SECRET_KEYS } });
  try {
    const form = { grant_type: 'client_credentials', scope: TOKEN_SCOPE, client_id, client_secret };
    const given = await fetch(host.url + TOKEN_PATH, { method: 'POST', body: new URLSearchParams(form) });
    const { access_token } = (await given.json()) as { access_token: string };
    const headers = { authorization: `Bearer ${access_token}` };
    const get = async (path: string) => await fetch(`${host.url}/v1/projects/${PROJECT.id}/${path}`, { headers });
    expect([given.status, (await get('')).status]).toEqual([200, 200]);
    const refused = await get('webhook-secret/');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await db('audit_trail').where({ action: 'webhook_secret.read' })).toEqual([]);
  } finally {
    await host.stop();
  }
});
