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

async function demo() {
  const keys = await createDemo({ postgres_url: database.url, data_dir, secret_keys: SECRET_KEYS });
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

test('projects of an earlier version get the wallets, and keep the rest', async () => {
  const before = await demo();
  await database.db('projects').update({ payment_methods: ['credit-card'] });
  expect(await demo()).toEqual(before);
});
