import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, randomBytes, type KeyObject } from 'node:crypto';
import type { Payload, PayloadCodec, SerializationContext } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { LRUCache } from 'lru-cache';
import { OPERATOR_PAYLOAD, REFUSED_PAYLOAD } from '../../workflows/messages';
import { parseKeys } from '../secrets';

const ENCODING = 'binary/encrypted';
const KEY_ID = 'encryption-key-id';
const WORKFLOW_ID = 'encryption-workflow-id';
/** The metadata key of the operator's name, inside the encrypted payload. */
const OPERATOR = 'operator';
const SALT_BYTES = 16;
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** AES-GCM with random IVs allows 2^32 payloads for one key. */
const PAYLOADS_PER_KEY = 2 ** 31;
/** Each process that wrote a payload has used at least one derived key. */
const DERIVED_KEYS_CACHED = 1_000;
/**
 * The workflow id that a schedule makes. All other workflow ids contain a colon, so that no client can start another
 * workflow's payloads under such an id.
 */
const SCHEDULED = /^([^:]+)-\d{4}-\d{2}-\d{2}T[\d:.]+Z$/;

type Context = Pick<SerializationContext, 'workflowId'> & Partial<Pick<SerializationContext, 'type'>>;

/** A key that encrypts, derived from a configured one. */
interface DerivedKey {
  salt: Buffer;
  key: KeyObject;
  /** Payloads encrypted with it. */
  payloads: number;
}

/** A decrypted payload, and the data authenticated with it. */
interface Decrypted {
  payload: Payload;
  /** The workflow for which it was encrypted. */
  workflow_id: string | undefined;
  /** The operator for whom the codec server encrypted it, who may send it to any workflow. */
  operator: string | undefined;
}

/**
 * Encrypts and decrypts payloads (AES-256-GCM). `keys` is a comma-separated list of `id:base64 of 32 bytes`. The first
 * key encrypts; each decrypts the payloads with its id. Throws on a bad key.
 *
 * A payload is encrypted with a key derived from the configured one and a random salt, which is part of the payload.
 * Each cipher takes a new salt after `payloads_per_key` payloads, so that no key encrypts 2^32. The workflow id is
 * authenticated with the payload (rules 24.4).
 */
export class PayloadCipher {
  private readonly keys: Map<string, Buffer>;
  private readonly first: string;
  private readonly derived_keys = new LRUCache<string, KeyObject>({ max: DERIVED_KEYS_CACHED });
  private encrypting: DerivedKey | undefined;

  constructor(
    keys: string,
    private readonly payloads_per_key = PAYLOADS_PER_KEY,
  ) {
    this.keys = new Map(parseKeys('PAYLOAD_KEYS', keys));
    this.first = [...this.keys.keys()][0]!;
  }

  encrypt(payload: Payload, workflow_id: string | undefined): Payload {
    const { key, salt } = this.encryptingKey();
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(authenticatedData(this.first, workflow_id));
    const plain = temporal.api.common.v1.Payload.encode(payload).finish();
    return {
      metadata: {
        encoding: Buffer.from(ENCODING),
        [KEY_ID]: Buffer.from(this.first),
        ...(workflow_id !== undefined && { [WORKFLOW_ID]: Buffer.from(workflow_id) }),
      },
      data: Buffer.concat([salt, iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]),
    };
  }

  /** Encrypts a JSON payload together with the operator's name. Throws when it is not JSON. */
  encryptForOperator(payload: Payload, operator: string): Payload {
    if (text(payload.metadata?.['encoding']) !== 'json/plain') throw new Error('the payload is not JSON');
    JSON.parse(text(payload.data));
    const metadata = { ...payload.metadata, [OPERATOR]: Buffer.from(operator) };
    return this.encrypt({ ...payload, metadata }, undefined);
  }

  /** Throws when the payload is not encrypted, was changed, or is encrypted with an unknown key. */
  decrypt(encrypted: Payload): Decrypted {
    if (!isEncrypted(encrypted)) throw new Error('the payload is not encrypted');
    const { metadata, data } = encrypted;
    const id = text(metadata?.[KEY_ID]);
    const workflow_id = metadata?.[WORKFLOW_ID] && text(metadata[WORKFLOW_ID]);
    const bytes = Buffer.from(data ?? []);
    const salt = bytes.subarray(0, SALT_BYTES);
    const iv = bytes.subarray(SALT_BYTES, SALT_BYTES + IV_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', this.derive(id, salt), iv);
    decipher.setAAD(authenticatedData(id, workflow_id)).setAuthTag(bytes.subarray(-TAG_BYTES));
    const content = bytes.subarray(SALT_BYTES + IV_BYTES, -TAG_BYTES);
    const plain = Buffer.concat([decipher.update(content), decipher.final()]);
    const payload = temporal.api.common.v1.Payload.decode(plain);
    const operator = payload.metadata?.[OPERATOR];
    return { payload, workflow_id, operator: operator && text(operator) };
  }

  /** The key for the next payload. Counts the payload. */
  private encryptingKey(): DerivedKey {
    if (this.encrypting === undefined || this.encrypting.payloads >= this.payloads_per_key) {
      const salt = randomBytes(SALT_BYTES);
      this.encrypting = { salt, key: this.derive(this.first, salt), payloads: 0 };
    }
    this.encrypting.payloads += 1;
    return this.encrypting;
  }

  private derive(id: string, salt: Buffer): KeyObject {
    const secret = this.keys.get(id);
    if (secret === undefined) throw new Error('the payload was encrypted with a key that is not in PAYLOAD_KEYS');
    const name = `${id}:${salt.toString('base64')}`;
    const known = this.derived_keys.get(name);
    if (known !== undefined) return known;
    // Node makes one of plain bytes for each payload, which takes twice as long as the encryption.
    const key = createSecretKey(Buffer.from(hkdfSync('sha256', secret, salt, 'Temporal payload', 32)));
    this.derived_keys.set(name, key);
    return key;
  }
}

/**
 * Encrypts every payload for its workflow, and passes no other payloads to workers (rules 24.8).
 *
 * A rejected payload gets the encoding REFUSED_PAYLOAD: the workflow rejects or ignores the message, and continues. An
 * error here would fail the workflow task, which Temporal repeats for ever. All other readers of such a payload throw,
 * as they do not know the encoding.
 */
export class EncryptingCodec extends PayloadCipher implements PayloadCodec {
  encode(payloads: Payload[], context?: Context): Promise<Payload[]> {
    return Promise.resolve(payloads.map((payload) => this.encrypt(payload, context?.workflowId)));
  }

  /** Without a context, as in the codec server, the workflow id is not compared. */
  decode(payloads: Payload[], context?: Context): Promise<Payload[]> {
    return Promise.resolve(payloads.map((payload) => this.decodeOne(payload, context)));
  }

  private decodeOne(encrypted: Payload, context: Context | undefined): Payload {
    // Payloads of activities are written by workers only; a worker that lacks a key must fail.
    const is_message = context?.type !== 'activity';
    try {
      const { payload, workflow_id, operator } = this.decrypt(encrypted);
      if (operator !== undefined && is_message) {
        return marked(OPERATOR_PAYLOAD, { operator, value: JSON.parse(text(payload.data)) as unknown });
      }
      const expected = context?.workflowId;
      if (expected === undefined || (workflow_id !== undefined && isSame(workflow_id, expected))) return payload;
      throw new Error('the payload belongs to another workflow');
    } catch (error) {
      if (!is_message) throw error;
      return marked(REFUSED_PAYLOAD, { reason: (error as Error).message });
    }
  }
}

const marked = (encoding: string, value: object): Payload => ({
  metadata: { encoding: Buffer.from(encoding) },
  data: Buffer.from(JSON.stringify(value)),
});

/** Whether a payload is marked as encrypted. */
export const isEncrypted = ({ metadata }: Payload) => text(metadata?.['encoding']) === ENCODING;

const authenticatedData = (key_id: string, workflow_id: string | undefined) =>
  Buffer.from(JSON.stringify([ENCODING, key_id, workflow_id ?? null]));

/**
 * Whether the payload's workflow is the expected one. All runs of a schedule count as one workflow: its arguments are
 * encrypted before the id gets its time, and each run receives the result of the run before.
 */
const isSame = (workflow_id: string, expected: string) =>
  workflow_id.replace(SCHEDULED, '$1') === expected.replace(SCHEDULED, '$1');

const text = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? []).toString();
