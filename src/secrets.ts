import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

/** A secret of which only a keyed hash is kept. */
export interface HashedSecret {
  readonly secret_hash: Buffer;
  /** The key of SECRET_KEYS that it is hashed with. */
  readonly secret_key_id: string;
}

/** A text that is kept encrypted. */
export interface EncryptedText {
  readonly data: Buffer;
  /** The key of SECRET_KEYS that it is encrypted with. */
  readonly secret_key_id: string;
}

/** The ids and keys of a variable: `id:base64 of 32 bytes`, with commas. Throws an Error on a bad key or a repeated id. */
export function parseKeys(variable: 'SECRET_KEYS' | 'PAYLOAD_KEYS', text: string): [id: string, key: Buffer][] {
  const keys = text.split(',').map((entry): [string, Buffer] => {
    const [id = '', base64 = ''] = entry.trim().split(':');
    const key = Buffer.from(base64, 'base64');
    if (id === '' || key.length !== 32) throw new Error(`${variable}: each entry is id:base64 of 32 bytes`);
    return [id, key];
  });
  // Only one of them would be used, so that what the other protects could not be read.
  if (new Set(keys.map(([id]) => id)).size < keys.length) throw new Error(`${variable}: two keys have the same id`);
  return keys;
}

const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Secrets as the database keeps them. API keys and client secrets are random and at least 160 bits long, so a fast hash
 * is safe: they cannot be guessed from it. HMAC-SHA256 takes a microsecond; with a slow password hash, wrong keys could
 * overload the CPU. The HMAC key is not in the database, so write access to the database is not enough to create a
 * working key, and read access is not enough to find a receiver's account number (rules 11.3).
 */
export class SecretKeys {
  private readonly keys: Map<string, { hashing: Buffer; encrypting: Buffer }>;
  private readonly first: string;

  /** `text` is SECRET_KEYS. Throws an Error on a bad key. */
  constructor(text: string) {
    this.keys = new Map(
      parseKeys('SECRET_KEYS', text).map(([id, key]) => [
        id,
        { hashing: derived(key, 'hash'), encrypting: derived(key, 'encrypt') },
      ]),
    );
    this.first = [...this.keys.keys()][0]!;
  }

  /** The ids of its keys, as in SECRET_KEYS. */
  get ids(): string[] {
    return [...this.keys.keys()];
  }

  /** Whether secrets protected with this key are usable. */
  has(secret_key_id: string): boolean {
    return this.keys.has(secret_key_id);
  }

  /** `secret_key_id`: one of `ids`; by default the first, which protects what is new. */
  hash(secret: string, secret_key_id = this.first): HashedSecret {
    return { secret_hash: hmac(this.keys.get(secret_key_id)!.hashing, secret), secret_key_id };
  }

  /** Compares in constant time. Returns `false` also if the key it was hashed with is missing. */
  matches(secret: string, { secret_hash, secret_key_id }: HashedSecret): boolean {
    const key = this.keys.get(secret_key_id);
    return key !== undefined && timingSafeEqual(secret_hash, hmac(key.hashing, secret));
  }

  /** AES-256-GCM. `owner`: the id of the row that holds it; in another row it cannot be decrypted. */
  encrypt(text: string, owner: string): EncryptedText {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.keys.get(this.first)!.encrypting, iv).setAAD(Buffer.from(owner));
    const data = Buffer.concat([iv, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
    return { data, secret_key_id: this.first };
  }

  /** Throws an Error if the text was changed, belongs to another owner, or was encrypted with a key that is missing. */
  decrypt({ data, secret_key_id }: EncryptedText, owner: string): string {
    const key = this.keys.get(secret_key_id);
    if (key === undefined) throw new Error(`a secret was encrypted with key ${secret_key_id}, which SECRET_KEYS lacks`);
    const decipher = createDecipheriv('aes-256-gcm', key.encrypting, data.subarray(0, IV_BYTES));
    decipher.setAAD(Buffer.from(owner)).setAuthTag(data.subarray(-TAG_BYTES));
    return decipher.update(data.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
  }
}

const derived = (key: Buffer, purpose: string) => Buffer.from(hkdfSync('sha256', key, '', `payments ${purpose}`, 32));
const hmac = (key: Buffer, secret: string) => createHmac('sha256', key).update(secret).digest();
