import type { EncryptedText } from '../../secrets';
import { queryRow, queryRows, type Database, type SqlTransaction } from '../query';

/** A public key as a JSON Web Key. */
export type PublicKey = Record<string, unknown>;

/** The key that signs access tokens now. */
export interface SigningKey {
  kid: string;
  created: string;
  /** PKCS 8 in PEM. */
  private_key: EncryptedText;
}

/** The key that signs; `undefined` before the first. */
export async function currentSigningKey(db: Database): Promise<SigningKey | undefined> {
  const row = await queryRow<{ kid: string; created: string; private_key: Buffer; secret_key_id: string }>(
    db,
    'select kid, created, private_key, secret_key_id from signing_keys where replaced is null',
  );
  if (row === undefined) return undefined;
  const { kid, created, private_key: data, secret_key_id } = row;
  return { kid, created, private_key: { data, secret_key_id } };
}

/** The public keys of the current key and of those that were replaced at or after `since`, the current one first. */
export async function publicKeys(db: Database, since: Date): Promise<{ kid: string; public_key: PublicKey }[]> {
  return await queryRows(
    db,
    `select kid, public_key from signing_keys where replaced is null or replaced >= :since
     order by replaced desc nulls first`,
    { since },
  );
}

/**
 * Makes a key the signing key, unless the current one is no longer `instead_of`: then returns `false`, as another
 * process was first. Deletes keys that were replaced before `forget`.
 */
export async function replaceSigningKey(
  trx: SqlTransaction,
  key: { kid: string; public_key: PublicKey; private_key: EncryptedText },
  { instead_of, now, forget }: { instead_of: string | undefined; now: Date; forget: Date },
): Promise<boolean> {
  await queryRows(trx, 'lock table signing_keys in share row exclusive mode');
  const current = await currentSigningKey(trx);
  if (current?.kid !== instead_of) return false;
  await trx('signing_keys').where('replaced', '<', forget).delete();
  await trx('signing_keys').whereNull('replaced').update({ replaced: now });
  await trx('signing_keys').insert({
    kid: key.kid,
    public_key: JSON.stringify(key.public_key),
    private_key: key.private_key.data,
    secret_key_id: key.private_key.secret_key_id,
    created: now,
  });
  return true;
}
