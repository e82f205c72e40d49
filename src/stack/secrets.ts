import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { readIfThere, writeWhole } from './files';

/** What the embedded stack needs to keep to itself: made at random at its first start, the same at every later one. */
export interface Secrets {
  postgres_password: string;
  meilisearch_key: string;
  page_secret: string;
  payload_keys: string;
}

/** The secrets in `data_dir`; missing ones are made and written, readable by the owner alone. */
export function keepSecrets(data_dir: string): Secrets {
  const file = path.join(data_dir, 'secrets.json');
  const kept = JSON.parse(readIfThere(file) ?? '{}') as Partial<Secrets>;
  const secrets: Secrets = {
    postgres_password: kept.postgres_password ?? randomBytes(24).toString('hex'),
    meilisearch_key: kept.meilisearch_key ?? randomBytes(24).toString('hex'),
    page_secret: kept.page_secret ?? randomBytes(32).toString('hex'),
    payload_keys: kept.payload_keys ?? `1:${randomBytes(32).toString('base64')}`,
  };
  writeWhole(file, `${JSON.stringify(secrets, null, 2)}\n`);
  return secrets;
}
