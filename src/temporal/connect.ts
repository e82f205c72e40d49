import { Client, Connection } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { EncryptingCodec } from './payload-codec';

/** How payloads are written: encrypted where keys are configured. The same for clients and workers. */
export function dataConverter(payload_keys: string | undefined): DataConverter {
  return payload_keys === undefined ? {} : { payloadCodecs: [new EncryptingCodec(payload_keys)] };
}

/** Opens the one connection of a process to Temporal. Close it with `client.connection.close()`. */
export function connectTemporal(options: {
  address: string;
  namespace: string;
  payload_keys: string | undefined;
}): Client {
  const connection = Connection.lazy({ address: options.address });
  return new Client({ connection, namespace: options.namespace, dataConverter: dataConverter(options.payload_keys) });
}
