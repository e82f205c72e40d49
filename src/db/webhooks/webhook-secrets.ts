import { randomBytes } from 'node:crypto';
import type { SecretKeys } from '../../secrets';
import { queryRow, queryRows, type Database } from '../query';

/**
 * The secrets that sign the webhooks of projects. The database has them encrypted (rules 21.22), each bound to its
 * project.
 */

/** The database, and the keys that decrypt its secrets. */
export interface WebhookSecretVault {
  db: Database;
  secrets: SecretKeys;
}

/** The columns of a project that hold its secrets. */
export interface StoredWebhookSecrets {
  webhook_secret: Buffer;
  webhook_secret_key_id: string;
  /** The previous secret, and until when it also signs; null without one. */
  previous_webhook_secret: Buffer | null;
  previous_webhook_secret_key_id: string | null;
  previous_webhook_secret_expires: string | null;
}

/** Selects StoredWebhookSecrets of a project `p`. */
export const WEBHOOK_SECRETS = `p.webhook_secret, p.webhook_secret_key_id, p.previous_webhook_secret,
  p.previous_webhook_secret_key_id, p.previous_webhook_secret_expires`;

/** The secret that a project's receiver is configured with. */
export interface ProjectWebhookSecret {
  secret: string;
  /** When the previous secret stops signing, ISO 8601; null without one. */
  previous_expires: string | null;
}

/** The secret that signs the project's webhooks at an instant. Throws when there is no such project. */
export async function webhookSecretOf(
  { db, secrets }: WebhookSecretVault,
  project_id: string,
  now: Date,
): Promise<ProjectWebhookSecret> {
  const stored = await queryRow<StoredWebhookSecrets>(
    db,
    `select ${WEBHOOK_SECRETS} from projects p where p.id = :project_id`,
    { project_id },
  );
  if (stored === undefined) throw new Error(`project ${project_id} does not exist`);
  const [secret = '', previous] = signingSecrets(secrets, project_id, stored, now.getTime());
  return { secret, previous_expires: previous === undefined ? null : stored.previous_webhook_secret_expires };
}

/**
 * The secrets that sign the project's webhooks at an instant, epoch milliseconds: the current one first, then the
 * previous one while it also signs. Throws an Error when SECRET_KEYS lacks a key.
 */
export function signingSecrets(
  secrets: SecretKeys,
  project_id: string,
  stored: StoredWebhookSecrets,
  at: number,
): string[] {
  const current = { data: stored.webhook_secret, secret_key_id: stored.webhook_secret_key_id };
  const {
    previous_webhook_secret: data,
    previous_webhook_secret_key_id: secret_key_id,
    previous_webhook_secret_expires: expires,
  } = stored;
  const signsToo = data !== null && secret_key_id !== null && expires !== null && Date.parse(expires) > at;
  return [current, ...(signsToo ? [{ data, secret_key_id }] : [])].map((one) => secrets.decrypt(one, project_id));
}

/**
 * Replaces the secret. The previous secret also signs until `expires`, unless its key is lost; one that still signs from
 * an earlier roll stops at once.
 */
export async function rollWebhookSecret(
  { db, secrets }: WebhookSecretVault,
  project_id: string,
  expires: Date,
): Promise<void> {
  await queryRows(
    db,
    `update projects set webhook_secret = :webhook_secret, webhook_secret_key_id = :webhook_secret_key_id,
       previous_webhook_secret = case when webhook_secret_key_id = any(:known::text[]) then webhook_secret end,
       previous_webhook_secret_key_id = case when webhook_secret_key_id = any(:known::text[]) then webhook_secret_key_id end,
       previous_webhook_secret_expires = case when webhook_secret_key_id = any(:known::text[]) then :expires::timestamptz end
     where id = :project_id`,
    { project_id, ...newWebhookSecret(secrets, project_id), expires, known: secrets.ids },
  );
}

/** A random secret as Standard Webhooks has it: whsec_ and the base64 of 24 to 64 random bytes. */
export const randomWebhookSecret = () => `whsec_${randomBytes(32).toString('base64')}`;

/** A new secret of a project, as its row has it. */
export function newWebhookSecret(
  secrets: SecretKeys,
  project_id: string,
): Pick<StoredWebhookSecrets, 'webhook_secret' | 'webhook_secret_key_id'> {
  const { data, secret_key_id } = secrets.encrypt(randomWebhookSecret(), project_id);
  return { webhook_secret: data, webhook_secret_key_id: secret_key_id };
}
