import {
  apiKeyId,
  countApiKeys,
  expireApiKey,
  findApiKey,
  insertApiKey,
  listApiKeys,
  newApiKey,
  revokeApiKey,
  type ApiKey,
} from '../../../src/db/projects/api-keys';
import type { SqlTransaction } from '../../../src/db/query';
import { findStoredProject } from '../../../src/db/projects/projects';
import { overlapEnd } from '../../../src/domain/duration';
import { ServiceError } from '../../../src/errors';
import { presentPage } from '../../present/format';
import { requireOwn, type ManageOperations, type ManageServices, type Manager } from '../manager';
import { audited, changeOf } from '../../requests/audited';
import { authorOf } from '../../requests/author';
import { presentApiKey } from '../present';
import { ownProject } from './projects';

/** Keys of a project that work at the same time, those in their overlap included (rules 21.17). */
const KEYS_MAX = 20;

/** Operations on API keys (rules 21.11, 21.12, 21.17). */
export function apiKeyOperations(services: ManageServices) {
  const { db, secrets } = services;

  /** Makes a key. The answer shows it this once; the audit trail never does. Throws Conflict beyond KEYS_MAX. */
  async function makeKey(trx: SqlTransaction, project: { id: string; is_test: boolean }, now: Date) {
    if ((await countApiKeys(trx, project.id, now)) >= KEYS_MAX) {
      throw new ServiceError(
        'Conflict',
        `The project has ${KEYS_MAX} API keys that work. Revoke one first, or roll one with the overlap PT0S.`,
      );
    }
    const key = newApiKey(project);
    await insertApiKey({ db: trx, secrets }, project.id, key, now);
    const made = presentApiKey((await findApiKey(trx, apiKeyId(key), now))!);
    return { made, answer: { ...made, key } };
  }

  return {
    async listApiKeys({ caller }, { params: { project_id }, query }) {
      ownProject(caller, await findStoredProject(db, project_id));
      return presentPage(await listApiKeys(db, project_id, new Date(), query), presentApiKey);
    },

    createApiKey: async (context, { params: { project_id } }) =>
      audited(services, authorOf(context), async (trx, now) => {
        const project = ownProject(context.caller, await findStoredProject(trx, project_id));
        const { made: after, answer } = await makeKey(trx, project, now);
        const key = { id: after.id, merchant_id: project.merchant_id };
        return { answer, change: changeOf('api_key.create', key, { after }) };
      }),

    rollApiKey: async (context, { params: { id }, body: { overlap = 'PT24H' } }) =>
      audited(services, authorOf(context), async (trx, now) => {
        const key = ownKey(context.caller, await findApiKey(trx, id, now, 'lock'));
        if (key.expires !== null) throw new ServiceError('Conflict', 'The API key was rolled before.');
        const before = presentApiKey(key);
        const expires = overlapEnd(overlap, now);
        await expireApiKey(trx, id, expires, now);
        const { made, answer } = await makeKey(trx, { id: key.project_id, is_test: key.is_test }, now);
        const after = { ...presentApiKey({ ...key, expires: expires.toISOString() }), replaced_by: made };
        return { answer, change: changeOf('api_key.roll', key, { before, after }) };
      }),

    revokeApiKey: async (context, { params: { id } }) =>
      audited(services, authorOf(context), async (trx, now) => {
        const key = ownKey(context.caller, await findApiKey(trx, id, now, 'lock'));
        await revokeApiKey(trx, id, now);
        return { answer: null, change: changeOf('api_key.revoke', key, { before: presentApiKey(key) }) };
      }),
  } satisfies Partial<ManageOperations>;
}

function ownKey(caller: Manager, key: ApiKey | undefined): ApiKey {
  return requireOwn(caller, key, key?.merchant_id, 'API key');
}
