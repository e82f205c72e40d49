import { v7 as uuidv7 } from 'uuid';
import { insertApiKey, newApiKey } from '../../src/db/projects/api-keys';
import { connectDatabase } from '../../src/db/connection';
import { insertMerchant } from '../../src/db/projects/merchants';
import { upsertProject, type NewProject } from '../../src/db/projects/projects';
import { webhookSecretOf } from '../../src/db/webhooks/webhook-secrets';
import { SecretKeys } from '../../src/secrets';
import { Merchant } from './client';
import { stack } from './stack';

export interface TestProject {
  id: string;
  merchant: Merchant;
  webhook_secret: string;
}

/** A merchant of a test's own with one project on the run's stack. */
export async function createTestProject(fields: Partial<NewProject> = {}): Promise<TestProject> {
  const db = connectDatabase(stack().postgres_url, { pool_max: 1 });
  try {
    const secrets = new SecretKeys(stack().secret_keys);
    const [merchant_id, id, now] = [uuidv7(), fields.id ?? uuidv7(), new Date()];
    const { is_test = true } = fields;
    const api_key = newApiKey({ is_test });
    const merchant = { id: merchant_id, name: 'Another merchant', country: 'NL', default_currency: 'EUR' };
    await insertMerchant(db, merchant, now);
    await upsertProject(
      { db, secrets },
      merchant_id,
      { name: 'Another project', payment_methods: ['credit-card'], currencies: ['EUR'], ...fields, id, is_test },
      now,
    );
    await insertApiKey({ db, secrets }, id, api_key, now);
    const { secret } = await webhookSecretOf({ db, secrets }, id, now);
    return { id, merchant: new Merchant(stack(), api_key), webhook_secret: secret };
  } finally {
    await db.destroy();
  }
}
