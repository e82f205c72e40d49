import { randomBytes } from 'node:crypto';
import { rollWebhookSecret, webhookSecretOf } from '../../../../src/db/webhooks/webhook-secrets';
import { SecretKeys } from '../../../../src/secrets';
import { createTestDatabase } from '../../../support/database';
import { PROJECT } from '../../../support/domain';
import { setUp } from '../../../support/set-up';

const database = setUp(() => createTestDatabase());

test('rules 21.22: a secret whose key is lost can be rolled: the new one signs alone', async () => {
  const { db } = database;
  const secrets = new SecretKeys(`another:${randomBytes(32).toString('base64')}`);
  const now = new Date();
  const secretNow = async () => await webhookSecretOf({ db, secrets }, PROJECT.id, now);
  await expect(secretNow()).rejects.toThrow('SECRET_KEYS lacks');
  await rollWebhookSecret({ db, secrets }, PROJECT.id, new Date(now.getTime() + 60_000));
  expect(await secretNow()).toEqual({ secret: expect.stringMatching(/^whsec_/), previous_expires: null });
});
