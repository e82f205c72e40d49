import { findProjectByApiKey, insertApiKey, newApiKey } from '../../../../src/db/projects/api-keys';
import { findProject } from '../../../../src/db/projects/projects';
import { createTestDatabase, secrets } from '../../../support/database';
import { PROJECT } from '../../../support/domain';
import { setUp } from '../../../support/set-up';

const database = setUp(() => createTestDatabase());
const NOW = new Date(0);

test('rules 2.6: a key finds its project; of the key itself nothing is kept that would give it back', async () => {
  const key = newApiKey({ is_test: true });
  await insertApiKey({ db: database.db, secrets }, PROJECT.id, key, NOW);
  await insertApiKey({ db: database.db, secrets }, PROJECT.id, key, NOW);
  expect(await findProjectByApiKey({ db: database.db, secrets }, key, NOW.getTime())).toEqual({
    project: await findProject(database.db, PROJECT.id),
    api_key_id: key.slice(5, 17),
    expires_at: undefined,
  });
  const rows = (await database.db('api_keys').select()) as { id: string; secret_hash: Buffer }[];
  expect(rows).toHaveLength(1);
  expect(
    JSON.stringify(rows) + rows[0]!.secret_hash.toString('latin1') + rows[0]!.secret_hash.toString('hex'),
  ).not.toContain(key.slice(-40));
});

test('a key with one character changed, of another mode, half of it, or nothing like it finds nothing', async () => {
  const key = newApiKey({ is_test: true });
  await insertApiKey({ db: database.db, secrets }, PROJECT.id, key, NOW);
  const last = key.endsWith('0') ? '1' : '0';
  for (const wrong of [
    key.slice(0, -1) + last,
    key.replace('test_', 'live_'),
    key.slice(0, -1),
    `${key}0`,
    key.toUpperCase(),
    '',
    "' or 1=1 --",
  ]) {
    expect([wrong, await findProjectByApiKey({ db: database.db, secrets }, wrong, 0)]).toEqual([wrong, undefined]);
  }
});

test('keys are made at random, and say what they are for', () => {
  const keys = [newApiKey({ is_test: true }), newApiKey({ is_test: true }), newApiKey({ is_test: false })];
  expect(new Set(keys.map((key) => key.slice(5))).size).toBe(3);
  expect(keys.map((key) => key.slice(0, 5))).toEqual(['test_', 'test_', 'live_']);
});
