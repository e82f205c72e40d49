import { createPrivateKey, createPublicKey, generateKeyPairSync, randomUUID, type JsonWebKey } from 'node:crypto';
import { SignJWT, errors, jwtVerify } from 'jose';
import type { Database, SqlTransaction } from '../../src/db/query';
import { currentSigningKey, publicKeys, replaceSigningKey, type SigningKey } from '../../src/db/projects/token-keys';
import type { OAuthClient } from '../../src/db/projects/oauth-clients';
import { ServiceError } from '../../src/errors';
import type { SecretKeys } from '../../src/secrets';

/** Lifetime of an access token, in seconds. */
export const TOKEN_SECONDS = 3_600;
const AUDIENCE = 'payments';
/** The only algorithm of the keys. The header of a token must name it and never chooses another. */
const ALGORITHM = 'ES256';
const TYPE = 'at+jwt';

const SECOND_MS = 1_000;
/** The first token request after this time replaces the key. Milliseconds. */
const SIGNING_KEY_AGE_MS = 30 * 24 * 3_600_000;
/** A replaced key checks the tokens it has signed until they have expired, and a minute more. Milliseconds. */
const CHECKS_FOR_MS = (TOKEN_SECONDS + 60) * SECOND_MS;

interface TokenServices {
  db: Database;
  secrets: SecretKeys;
  /** Address of the bearer-token host. */
  issuer: string;
}

type RecordReplacement = (trx: SqlTransaction, keys: { kid: string; instead_of: string | undefined }) => Promise<void>;

/**
 * Access tokens: JWTs that any process of the installation, and any reader of the key set, can verify (rules 21.4,
 * 21.5).
 */
export class Tokens {
  constructor(private readonly services: TokenServices) {}

  /** A token for a client. `now`: epoch milliseconds. */
  async issue({ client_id, role, merchant_id }: OAuthClient, now: number): Promise<string> {
    const { secrets, issuer } = this.services;
    const { kid, private_key } = await this.signingKey(now);
    const issued = Math.floor(now / SECOND_MS);
    return await new SignJWT({ role, ...(merchant_id !== null && { merchant_id }) })
      .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid })
      .setIssuer(issuer)
      .setSubject(client_id)
      .setAudience(AUDIENCE)
      .setIssuedAt(issued)
      .setExpirationTime(issued + TOKEN_SECONDS)
      .setJti(randomUUID())
      .sign(createPrivateKey(secrets.decrypt(private_key, kid)));
  }

  /** The id of the client that a token was given to. Rejects with Unauthorized for any other text. */
  async clientOf(token: string, now: number): Promise<string> {
    try {
      const { payload } = await jwtVerify(token, async ({ kid }) => await this.publicKey(kid, now), {
        algorithms: [ALGORITHM],
        typ: TYPE,
        issuer: this.services.issuer,
        audience: AUDIENCE,
        requiredClaims: ['sub', 'iat', 'exp'],
        currentDate: new Date(now),
      });
      return payload.sub!;
    } catch (error) {
      if (error instanceof errors.JOSEError) throw new ServiceError('Unauthorized', 'The access token is not valid.');
      throw error;
    }
  }

  /** The public keys of tokens that may be valid, as a JSON Web Key Set. */
  async keySet(now: number): Promise<{ keys: object[] }> {
    // Before the first token there is a key too: who reads the set early may remember it. Only tokens replace one.
    if ((await currentSigningKey(this.services.db)) === undefined) await this.signingKey(now);
    const found = await publicKeys(this.services.db, new Date(now - CHECKS_FOR_MS));
    return { keys: found.map(({ kid, public_key }) => ({ ...public_key, kid, alg: ALGORITHM, use: 'sig' })) };
  }

  /**
   * Replaces the key that signs. Tokens that were signed before stay good until they expire. Returns the new key's id.
   * `record`: what is written in the same SQL transaction.
   */
  async rotate(now: number, record?: RecordReplacement): Promise<string> {
    for (;;) {
      const made = await this.replace((await currentSigningKey(this.services.db))?.kid, now, record);
      if (made !== undefined) return made;
    }
  }

  private async signingKey(now: number): Promise<SigningKey> {
    const { db } = this.services;
    const current = await currentSigningKey(db);
    if (current !== undefined && now - Date.parse(current.created) < SIGNING_KEY_AGE_MS) return current;
    await this.replace(current?.kid, now);
    return (await currentSigningKey(db))!;
  }

  /** `undefined`: another process was first. */
  private async replace(
    instead_of: string | undefined,
    now: number,
    record?: RecordReplacement,
  ): Promise<string | undefined> {
    const { db, secrets } = this.services;
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const kid = randomUUID();
    const key = {
      kid,
      public_key: publicKey.export({ format: 'jwk' }) as Record<string, unknown>,
      private_key: secrets.encrypt(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), kid),
    };
    const forget = new Date(now - CHECKS_FOR_MS);
    const isReplaced = await db.transaction(async (trx) => {
      const replaced = await replaceSigningKey(trx, key, { instead_of, now: new Date(now), forget });
      if (replaced) await record?.(trx, { kid, instead_of });
      return replaced;
    });
    return isReplaced ? kid : undefined;
  }

  private async publicKey(kid: string | undefined, now: number) {
    const found = await publicKeys(this.services.db, new Date(now - CHECKS_FOR_MS));
    const key = found.find((one) => one.kid === kid);
    if (key === undefined) throw new errors.JWKSNoMatchingKey();
    return createPublicKey({ key: key.public_key as JsonWebKey, format: 'jwk' });
  }
}
