import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { temporal } from '@temporalio/proto';

const ENCODING = 'binary/encrypted';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts everything Temporal keeps (AES-256-GCM): a second safeguard behind the rule that no card number gets there. `keys` is
 * `id:base64 of 32 bytes`, with commas; the first encrypts, each decrypts what carries its id. Throws on a bad key.
 */
export class EncryptingCodec implements PayloadCodec {
  private readonly keys: Map<string, Buffer>;
  private readonly first: string;

  constructor(keys: string) {
    this.keys = new Map(
      keys.split(',').map((entry) => {
        const [id = '', secret = ''] = entry.trim().split(':');
        const key = Buffer.from(secret, 'base64');
        if (id === '' || key.length !== 32) throw new Error('PAYLOAD_KEYS: each entry is id:base64 of 32 bytes');
        return [id, key];
      }),
    );
    this.first = [...this.keys.keys()][0]!;
  }

  encode(payloads: Payload[]): Promise<Payload[]> {
    const key = this.keys.get(this.first)!;
    return Promise.resolve(
      payloads.map((payload) => {
        const iv = randomBytes(IV_BYTES);
        const cipher = createCipheriv('aes-256-gcm', key, iv);
        const plain = temporal.api.common.v1.Payload.encode(payload).finish();
        const data = Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
        return { metadata: { encoding: Buffer.from(ENCODING), 'encryption-key-id': Buffer.from(this.first) }, data };
      }),
    );
  }

  decode(payloads: Payload[]): Promise<Payload[]> {
    return Promise.resolve(
      payloads.map((payload) => (text(payload.metadata?.['encoding']) === ENCODING ? this.decrypt(payload) : payload)),
    );
  }

  private decrypt(payload: Payload): Payload {
    const key = this.keys.get(text(payload.metadata?.['encryption-key-id']));
    if (key === undefined) throw new Error('the payload was encrypted with a key that is not in PAYLOAD_KEYS');
    const data = Buffer.from(payload.data ?? []);
    const decipher = createDecipheriv('aes-256-gcm', key, data.subarray(0, IV_BYTES));
    decipher.setAuthTag(data.subarray(-TAG_BYTES));
    const plain = Buffer.concat([decipher.update(data.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
    return temporal.api.common.v1.Payload.decode(plain);
  }
}

const text = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? []).toString();
