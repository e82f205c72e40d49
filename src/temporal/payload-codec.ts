import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Payload, PayloadCodec, SerializationContext } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { LRUCache } from 'lru-cache';
import { parseKeys } from '../secrets';

const ENCODING = 'binary/encrypted';
const KEY_ID = 'encryption-key-id';
const WORKFLOW_ID = 'encryption-workflow-id';
const SALT_BYTES = 16;
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** AES-GCM with random IVs allows 2^32 payloads for one key. */
const PAYLOADS_PER_KEY = 2 ** 31;
/** Each process that wrote a payload has used at least one. */
const DERIVED_KEYS_CACHED = 1_000;
/** The suffix that a schedule appends to the workflow id of its action. */
const SCHEDULED_AT = /-\d{4}-\d{2}-\d{2}T[\d:.]+Z$/;

type Context = Pick<SerializationContext, 'workflowId'>;

/** A key that encrypts, derived from a configured one. */
interface DerivedKey {
  salt: Buffer;
  key: Buffer;
  /** Payloads encrypted with it. */
  payloads: number;
}

/**
 * Encrypts everything Temporal keeps (AES-256-GCM): a second safeguard behind the rule that no card number gets there.
 * `keys` is `id:base64 of 32 bytes`, with commas; the first encrypts, each decrypts what carries its id. Throws on a
 * bad key.
 *
 * A payload is encrypted with a key derived from the configured one and a random salt, which is part of the payload.
 * Each codec takes a new salt after `payloads_per_key` payloads, so that no key encrypts 2^32. The workflow id is
 * authenticated with the payload: one that was copied into another workflow is refused there (rules 24.4).
 */
export class EncryptingCodec implements PayloadCodec {
  private readonly keys: Map<string, Buffer>;
  private readonly first: string;
  private readonly derived_keys = new LRUCache<string, Buffer>({ max: DERIVED_KEYS_CACHED });
  private encrypting: DerivedKey | undefined;

  constructor(
    keys: string,
    private readonly payloads_per_key = PAYLOADS_PER_KEY,
  ) {
    this.keys = new Map(parseKeys('PAYLOAD_KEYS', keys));
    this.first = [...this.keys.keys()][0]!;
  }

  /** `context`: as the SDK tells it; the Web UI's requests have none. */
  encode(payloads: Payload[], context?: Context): Promise<Payload[]> {
    const workflow_id = context?.workflowId;
    return Promise.resolve(payloads.map((payload) => this.encrypt(payload, workflow_id)));
  }

  /**
   * Rejects what was changed, is encrypted with an unknown key, or belongs to another workflow than that of `context`.
   */
  decode(payloads: Payload[], context?: Context): Promise<Payload[]> {
    return Promise.resolve(
      payloads.map((payload) =>
        text(payload.metadata?.['encoding']) === ENCODING ? this.decrypt(payload, context?.workflowId) : payload,
      ),
    );
  }

  private encrypt(payload: Payload, workflow_id: string | undefined): Payload {
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

  private decrypt({ metadata, data }: Payload, expected_workflow_id: string | undefined): Payload {
    const id = text(metadata?.[KEY_ID]);
    const workflow_id = metadata?.[WORKFLOW_ID] && text(metadata[WORKFLOW_ID]);
    if (workflow_id && expected_workflow_id !== undefined && !isSame(workflow_id, expected_workflow_id)) {
      throw new Error('the payload belongs to another workflow');
    }
    const bytes = Buffer.from(data ?? []);
    const salt = bytes.subarray(0, SALT_BYTES);
    const iv = bytes.subarray(SALT_BYTES, SALT_BYTES + IV_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', this.derive(id, salt), iv);
    decipher.setAAD(authenticatedData(id, workflow_id)).setAuthTag(bytes.subarray(-TAG_BYTES));
    const encrypted = bytes.subarray(SALT_BYTES + IV_BYTES, -TAG_BYTES);
    return temporal.api.common.v1.Payload.decode(Buffer.concat([decipher.update(encrypted), decipher.final()]));
  }

  /** The key for the next payload, which is counted. */
  private encryptingKey(): DerivedKey {
    if (this.encrypting === undefined || this.encrypting.payloads >= this.payloads_per_key) {
      const salt = randomBytes(SALT_BYTES);
      this.encrypting = { salt, key: this.derive(this.first, salt), payloads: 0 };
    }
    this.encrypting.payloads += 1;
    return this.encrypting;
  }

  private derive(id: string, salt: Buffer): Buffer {
    const secret = this.keys.get(id);
    if (secret === undefined) throw new Error('the payload was encrypted with a key that is not in PAYLOAD_KEYS');
    const name = `${id}:${salt.toString('base64')}`;
    const known = this.derived_keys.get(name);
    if (known !== undefined) return known;
    const key = Buffer.from(hkdfSync('sha256', secret, salt, 'Temporal payload', 32));
    this.derived_keys.set(name, key);
    return key;
  }
}

const authenticatedData = (key_id: string, workflow_id: string | undefined) =>
  Buffer.from(JSON.stringify([ENCODING, key_id, workflow_id ?? null]));

/**
 * Whether the payload's workflow is the expected one. All runs of a schedule count as one: its arguments are encrypted
 * before there is a time in the id, and each run is given the result of the run before.
 */
const isSame = (workflow_id: string, expected: string) =>
  workflow_id.replace(SCHEDULED_AT, '') === expected.replace(SCHEDULED_AT, '');

const text = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? []).toString();
