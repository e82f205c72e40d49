import { SecretKeys } from '../../src/secrets';

/** SECRET_KEYS of tests that have a database of their own. */
export const SECRET_KEYS = `test:${Buffer.alloc(32, 7).toString('base64')}`;
export const secrets = new SecretKeys(SECRET_KEYS);
