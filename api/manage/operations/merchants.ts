import { v7 as uuidv7 } from 'uuid';
import type { SqlTransaction } from '../../../src/db/connection';
import {
  findMerchant,
  insertMerchant,
  listMerchants,
  updateMerchant,
  type Merchant,
} from '../../../src/db/projects/merchants';
import { audited, requireOwn, type ManageOperation, type ManageServices } from '../manager';
import { presentMerchant, presentPage } from '../present';

/** Operations on merchants (rules 21.9). */
export function merchantOperations(services: ManageServices) {
  const { db } = services;
  const changeOf = (action: string, after: Merchant, before?: Merchant) => ({
    action,
    object: { kind: 'merchant', id: after.id },
    merchant_id: after.id,
    ...(before && { before: presentMerchant(before) }),
    after: presentMerchant(after),
  });
  const stored = async (trx: SqlTransaction, id: string) => (await findMerchant(trx, id))!;

  const operations: {
    listMerchants: ManageOperation<'listMerchants'>;
    createMerchant: ManageOperation<'createMerchant'>;
    getMerchant: ManageOperation<'getMerchant'>;
    updateMerchant: ManageOperation<'updateMerchant'>;
  } = {
    listMerchants: async (_context, { query }) => presentPage(await listMerchants(db, query), presentMerchant),

    createMerchant: async (context, { body }) =>
      audited(services, context, async (trx, now) => {
        const id = uuidv7();
        await insertMerchant(trx, { ...body, id }, now);
        const merchant = await stored(trx, id);
        return { answer: presentMerchant(merchant), change: changeOf('merchant.create', merchant) };
      }),

    getMerchant: async ({ caller }, { params: { merchant_id } }) =>
      presentMerchant(ownMerchant(caller, await findMerchant(db, merchant_id))),

    updateMerchant: async (context, { params: { merchant_id }, body }) =>
      audited(services, context, async (trx, now) => {
        const before = ownMerchant(context.caller, await findMerchant(trx, merchant_id, 'lock'));
        const { name = before.name, country = before.country, default_currency = before.default_currency } = body;
        const wanted = { id: merchant_id, name, country, default_currency };
        const isSame =
          name === before.name && country === before.country && default_currency === before.default_currency;
        if (isSame) return { answer: presentMerchant(before) };
        await updateMerchant(trx, wanted, now);
        const after = await stored(trx, merchant_id);
        return { answer: presentMerchant(after), change: changeOf('merchant.update', after, before) };
      }),
  };
  return operations;
}

/** The merchant, when it is the caller's own. Throws NotFound. */
export function ownMerchant(caller: Parameters<typeof requireOwn>[0], merchant: Merchant | undefined): Merchant {
  return requireOwn(caller, merchant, ({ id }) => id, 'merchant');
}
