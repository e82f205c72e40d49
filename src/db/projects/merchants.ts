import { laterModifiedSql, queryRow, type Database } from '../query';
import { BY_CREATED, readPage, type ListPage, type PageRequest } from '../pages';

/** A merchant. Instants are ISO 8601 texts in UTC. */
export interface StoredMerchant {
  id: string;
  name: string;
  country: string;
  default_currency: string;
  created: string;
  modified: string;
}

type NewMerchant = Pick<StoredMerchant, 'id' | 'name' | 'country' | 'default_currency'>;

const MERCHANT = 'select id, name, country, default_currency, created, modified from merchants';

/** Repeat-safe: an existing merchant stays as it is. */
export async function insertMerchant(db: Database, merchant: NewMerchant, now: Date): Promise<void> {
  await db('merchants')
    .insert({ ...merchant, created: now, modified: now })
    .onConflict('id')
    .ignore();
}

/** The merchant; `undefined` when there is none. `lock`: until the end of the SQL transaction. */
export async function findMerchant(db: Database, id: string, lock?: 'lock'): Promise<StoredMerchant | undefined> {
  return await queryRow<StoredMerchant>(db, `${MERCHANT} where id = :id ${lock ? 'for update' : ''}`, {
    id,
  });
}

export async function updateMerchant(db: Database, merchant: NewMerchant, now: Date): Promise<void> {
  const { id, ...fields } = merchant;
  await db('merchants')
    .where({ id })
    .update({ ...fields, modified: db.raw(laterModifiedSql('merchants'), { now }) });
}

export async function listMerchants(db: Database, page: PageRequest): Promise<ListPage<StoredMerchant>> {
  return await readPage(db, page, { select: MERCHANT, key: BY_CREATED });
}
