import { Client, Connection, isGrpcServiceError, type ClientOptions } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import type { Logger } from '../log';
import type { Credentials } from './credentials';
import { isTracing } from '../tracing/tracing';
import { grpcStatusOf } from './grpc-status';
import { isRefused, observeCalls } from './outages';
import { EncryptingCodec } from './payload-codec';
import { observeStarts } from './starts';
import { callTracing } from './trace-calls';

/** The module of the failure converter. Workers load it; the workflow bundle includes it. */
export const FAILURE_CONVERTER = require.resolve('../../workflows/failure-converter');

/**
 * How payloads and failures are written and read. The same for clients and workers. With `undefined` keys nothing is
 * encrypted and every payload accepted: for tests with their own Temporal, and for calls without payloads.
 */
export function dataConverter(payload_keys: string | undefined): DataConverter {
  return {
    failureConverterPath: FAILURE_CONVERTER,
    ...(payload_keys !== undefined && { payloadCodecs: [new EncryptingCodec(payload_keys)] }),
  };
}

export type TemporalClient = Client;

/** Time limit of a ping. Milliseconds. */
const PING_MS = 2_000;

/** No workflow has this id. */
const NO_WORKFLOW = 'ping';

/**
 * Throws unless Temporal answers for the namespace: the readiness probe. Credentials that may use the namespace and not
 * describe it are enough: then it asks for a workflow that does not exist.
 */
export async function pingTemporal(client: Client): Promise<void> {
  const { namespace } = client.options;
  await client.withDeadline(Date.now() + PING_MS, async () => {
    try {
      await client.workflowService.describeNamespace({ namespace });
    } catch (error) {
      if (grpcStatusOf(error) !== 'permission_denied') throw error;
      const execution = { workflowId: NO_WORKFLOW };
      await client.workflowService.describeWorkflowExecution({ namespace, execution }).catch(throwUnlessNotFound);
    }
  });
}

function throwUnlessNotFound(error: unknown): void {
  if (!isGrpcServiceError(error) || isRefused(error) || grpcStatusOf(error) !== 'not_found') throw error;
}

/**
 * Opens the one connection of a process to Temporal; outages are logged. Close it with
 * `client.connection.close()`.
 */
export function connectTemporal(options: {
  address: string;
  namespace: string;
  payload_keys: string | undefined;
  credentials?: Credentials;
  log: Logger;
  /** Throws unless the database works: an update without an answer is then its fault. */
  checkDatabase?: () => Promise<void>;
}): Client {
  const connection = Connection.lazy({
    address: options.address,
    ...options.credentials,
    interceptors: [
      observeStarts,
      observeCalls(options.log, {
        temporal: () => pingTemporal(client),
        ...(options.checkDatabase && { database: options.checkDatabase }),
      }),
    ],
  });
  const client = clientOf({
    connection,
    namespace: options.namespace,
    dataConverter: dataConverter(options.payload_keys),
  });
  return client;
}

/** A client through a connection that is open already. */
export function clientOf(options: Pick<ClientOptions, 'connection' | 'namespace' | 'dataConverter'>): Client {
  const client: Client = new Client({
    ...options,
    ...(isTracing() && { interceptors: { workflow: [callTracing(() => client)] } }),
  });
  return client;
}
