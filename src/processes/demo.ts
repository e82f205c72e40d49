import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { newClientSecret } from '../../api/manage/operations/clients';
import { insertApiKey, newApiKey } from '../db/projects/api-keys';
import { withDatabase } from '../db/connection';
import { insertMerchant } from '../db/projects/merchants';
import { insertOAuthClient } from '../db/projects/oauth-clients';
import { upsertProject, type NewProject } from '../db/projects/projects';
import { webhookSecretOf } from '../db/webhooks/webhook-secrets';
import { SecretKeys } from '../secrets';
import { keepInFile } from '../stack/keep-in-file';

const MERCHANT = {
  id: '0190c000-0000-7000-8000-000000000001',
  name: 'Demo Books',
  country: 'NL',
  default_currency: 'EUR',
};
const TEST_PROJECT = '0190c000-0000-7000-8000-000000000002';
const LIVE_PROJECT = '0190c000-0000-7000-8000-000000000003';
const OPERATOR = '0190c000-0000-7000-8000-000000000004';

/** Settings of both projects: every method, and currencies with two, no and three decimals. */
const PAYMENT_METHODS = ['credit-card', 'apple-pay', 'google-pay'];
const CURRENCIES = ['EUR', 'USD', 'GBP', 'CHF', 'SEK', 'NOK', 'DKK', 'PLN', 'CAD', 'AUD', 'JPY', 'KRW', 'KWD', 'BHD'];

/** How each of its keys is made. */
const KEYS = {
  test_api_key: () => newApiKey({ is_test: true }),
  live_api_key: () => newApiKey({ is_test: false }),
  operator_client_secret: newClientSecret,
};

export interface Demo extends Record<keyof typeof KEYS, string> {
  /** The secrets that sign the webhooks of each project. */
  test_webhook_secret: string;
  live_webhook_secret: string;
  /** The client of an operator. */
  operator_client_id: string;
}

/**
 * The demo merchant with a test and a live project, and a client for its operator; repeat-safe: what was changed since
 * stays, but `demo_webhook_url` is set again. Its keys are made at random at the first call and kept in
 * `data_dir`, as the database has only their hashes: a checkout keeps its keys, also with a new database.
 */
export async function createDemo(options: {
  postgres_url: string;
  secret_keys: string;
  demo_webhook_url?: string;
  data_dir: string;
}): Promise<Demo> {
  mkdirSync(options.data_dir, { recursive: true });
  const keys = keepInFile(path.join(options.data_dir, 'demo-keys.json'), KEYS);
  const secrets = new SecretKeys(options.secret_keys);
  const now = new Date();
  return await withDatabase(options.postgres_url, async (db) => {
    await insertMerchant(db, MERCHANT, now);
    const operator = { client_id: OPERATOR, name: 'Demo operator', role: 'operator', merchant_id: null } as const;
    await insertOAuthClient(db, operator, secrets.hash(keys.operator_client_secret), now);
    const make = async (project: Pick<NewProject, 'id' | 'name' | 'is_test' | 'account_funding'>, api_key: string) => {
      await upsertProject(
        { db, secrets },
        MERCHANT.id,
        { ...project, payment_methods: PAYMENT_METHODS, currencies: CURRENCIES, webhook_url: options.demo_webhook_url },
        now,
      );
      await insertApiKey({ db, secrets }, project.id, api_key, now);
      return (await webhookSecretOf({ db, secrets }, project.id, now)).secret;
    };
    const test = { id: TEST_PROJECT, name: `${MERCHANT.name} (test)`, is_test: true, account_funding: true };
    const live = { id: LIVE_PROJECT, name: MERCHANT.name, is_test: false, account_funding: false };
    return {
      ...keys,
      operator_client_id: OPERATOR,
      test_webhook_secret: await make(test, keys.test_api_key),
      live_webhook_secret: await make(live, keys.live_api_key),
    };
  });
}
