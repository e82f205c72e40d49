import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findProjectByApiKey } from '../../../src/db/projects/api-keys';
import { createDemo } from '../../../src/processes/demo';
import { createTestDatabase, SECRET_KEYS, secrets } from '../../support/database';
import { setUp } from '../../support/set-up';

const database = setUp(() => createTestDatabase());
const data_dir = mkdtempSync(path.join(tmpdir(), 'payments-demo-'));
afterAll(async () => {
  rmSync(data_dir, { recursive: true, force: true });
});

const METHODS = ['credit-card', 'apple-pay', 'google-pay'];

async function demo(demo_webhook_url?: string) {
  const options = { ...(demo_webhook_url !== undefined && { demo_webhook_url }) };
  const keys = await createDemo({ postgres_url: database.url, data_dir, secret_keys: SECRET_KEYS, ...options });
  const projects = await Promise.all(
    [keys.test_api_key, keys.live_api_key].map(
      async (api_key) => (await findProjectByApiKey({ db: database.db, secrets }, api_key, 0))?.project,
    ),
  );
  return { keys, projects };
}

test('both projects take cards and wallets, the test project funds accounts too', async () => {
  const { projects } = await demo();
  expect(projects).toMatchObject([
    { is_test: true, payment_methods: METHODS, account_funding: true },
    { is_test: false, payment_methods: METHODS, account_funding: false },
  ]);
});

test('the second time keeps keys, secrets and projects as they are', async () => {
  const before = await demo();
  expect(await demo()).toEqual(before);
});

test('the second time keeps what was changed on the bearer-token host; DEMO_WEBHOOK_URL is set again', async () => {
  const changed = { payment_methods: ['credit-card'], account_funding: false, webhook_url: 'https://shop.example/' };
  await database.db('projects').update(changed);
  expect((await demo()).projects).toMatchObject([changed, changed]);
  const { projects } = await demo('https://demo.example/');
  expect(projects.map((project) => project?.webhook_url)).toEqual(Array(2).fill('https://demo.example/'));
});
