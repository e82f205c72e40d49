import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { insertApiKey, newApiKey } from '../db/api-keys';
import { connect } from '../db/connection';
import { insertMerchant, upsertProject, type NewProject } from '../db/projects';

const MERCHANT = { id: '0190c000-0000-7000-8000-000000000001', name: 'Demo Books' };
const TEST_PROJECT = '0190c000-0000-7000-8000-000000000002';
const LIVE_PROJECT = '0190c000-0000-7000-8000-000000000003';

/** What both projects accept: every method, and currencies with two, no and three decimals. */
const PAYMENT_METHODS = ['credit-card', 'apple-pay', 'google-pay'];
const CURRENCIES = ['EUR', 'USD', 'GBP', 'CHF', 'SEK', 'NOK', 'DKK', 'PLN', 'CAD', 'AUD', 'JPY', 'KRW', 'KWD', 'BHD'];

interface DemoKeys {
  test_api_key: string;
  live_api_key: string;
}

export interface Demo extends DemoKeys {
  /** What signs the webhooks of each project. */
  test_webhook_secret: string;
  live_webhook_secret: string;
}

/**
 * The demo merchant with a test and a live project; repeat-safe: projects that an earlier version made get the methods of this
 * one. Its keys are made at random at the first call and kept in `data_dir`, as the database has only their hashes: a checkout
 * keeps its keys, also with a new database.
 */
export async function createDemo(options: {
  postgres_url: string;
  demo_webhook_url?: string;
  data_dir: string;
}): Promise<Demo> {
  const keys = await demoKeys(options.data_dir);
  const db = connect(options.postgres_url, { pool_max: 1 });
  const now = new Date();
  try {
    await insertMerchant(db, { ...MERCHANT, now });
    const make = async (project: Pick<NewProject, 'id' | 'name' | 'is_test' | 'account_funding'>, api_key: string) => {
      const { webhook_secret } = await upsertProject(
        db,
        MERCHANT.id,
        { ...project, payment_methods: PAYMENT_METHODS, currencies: CURRENCIES, webhook_url: options.demo_webhook_url },
        now,
      );
      await insertApiKey(db, project.id, api_key, now);
      return webhook_secret;
    };
    const test = { id: TEST_PROJECT, name: `${MERCHANT.name} (test)`, is_test: true, account_funding: true };
    const live = { id: LIVE_PROJECT, name: MERCHANT.name, is_test: false, account_funding: false };
    return {
      ...keys,
      test_webhook_secret: await make(test, keys.test_api_key),
      live_webhook_secret: await make(live, keys.live_api_key),
    };
  } finally {
    await db.destroy();
  }
}

async function demoKeys(data_dir: string): Promise<DemoKeys> {
  const file = path.join(data_dir, 'demo-keys.json');
  try {
    return JSON.parse(await readFile(file, 'utf8')) as DemoKeys;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const keys = { test_api_key: newApiKey({ is_test: true }), live_api_key: newApiKey({ is_test: false }) };
  await mkdir(data_dir, { recursive: true });
  await writeFile(file, JSON.stringify(keys, null, 2), { mode: 0o600 });
  return keys;
}
