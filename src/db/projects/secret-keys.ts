import { queryRows, type Database } from '../query';
import { KEY_WORKS } from './api-keys';
import { PREVIOUS_SECRET_WORKS } from './oauth-clients';

/** Which keys of SECRET_KEYS are needed at an instant, for what and for how many. */
export async function secretKeysInUse(
  db: Database,
  now: Date,
): Promise<{ secret_key_id: string; what: string; count: number }[]> {
  return await queryRows(
    db,
    `select secret_key_id, what, count(*)::int as count from (
       select secret_key_id, 'API keys' as what from api_keys k where ${KEY_WORKS}
       union all select secret_key_id, 'client secrets' from oauth_clients where revoked is null
       union all select previous_secret_key_id, 'client secrets' from oauth_clients
         where revoked is null and ${PREVIOUS_SECRET_WORKS}
       union all select webhook_secret_key_id, 'webhook secrets' from projects
       union all select previous_webhook_secret_key_id, 'webhook secrets' from projects
         where previous_webhook_secret_expires > :now
       union all select secret_key_id, 'signing keys' from signing_keys where replaced is null
     ) used group by secret_key_id, what order by secret_key_id, what`,
    { now },
  );
}
