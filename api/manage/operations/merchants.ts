import { v7 as uuidv7 } from 'uuid';
import type { SqlTransaction } from '../../../src/db/query';
import {
  findMerchant,
  insertMerchant,
  listMerchants,
  updateMerchant,
  type StoredMerchant,
} from '../../../src/db/projects/merchants';
import { presentPage } from '../../present/format';
import { requireOwn, type ManageOperations, type ManageServices } from '../manager';
import { audited, changeOf } from '../../requests/audited';
import { authorOf } from '../../requests/author';
import { presentMerchant } from '../present';

/** Operations on merchants (rules 21.9). */
export function merchantOperations(services: ManageServices) {
  const { db } = services;
  const stored = async (trx: SqlTransaction, id: string) => presentMerchant((await findMerchant(trx, id))!);

  return {
    listMerchants: async (_context, { query }) => presentPage(await listMerchants(db, query), presentMerchant),

    createMerchant: async (context, { body }) =>
      audited(services, authorOf(context), async (trx, now) => {
        const id = uuidv7();
        await insertMerchant(trx, { ...body, id }, now);
        const after = await stored(trx, id);
        return { answer: after, change: changeOf('merchant.create', { id, merchant_id: id }, { after }) };
      }),

    getMerchant: async ({ caller }, { params: { merchant_id } }) =>
      presentMerchant(ownMerchant(caller, await findMerchant(db, merchant_id))),

    updateMerchant: async (context, { params: { merchant_id }, body }) =>
      audited(services, authorOf(context), async (trx, now) => {
        const merchant = ownMerchant(context.caller, await findMerchant(trx, merchant_id, 'lock'));
        const before = presentMerchant(merchant);
        const { name = merchant.name, country = merchant.country, default_currency = merchant.default_currency } = body;
        const isSame =
          name === merchant.name && country === merchant.country && default_currency === merchant.default_currency;
        if (isSame) return { answer: before };
        await updateMerchant(trx, { id: merchant_id, name, country, default_currency }, now);
        const after = await stored(trx, merchant_id);
        return {
          answer: after,
          change: changeOf('merchant.update', { id: merchant_id, merchant_id }, { before, after }),
        };
      }),
  } satisfies Partial<ManageOperations>;
}

/** The merchant, when it is the caller's own. Throws NotFound. */
export function ownMerchant(
  caller: Parameters<typeof requireOwn>[0],
  merchant: StoredMerchant | undefined,
): StoredMerchant {
  return requireOwn(caller, merchant, merchant?.id, 'merchant');
}
