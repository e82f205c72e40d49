import type { ConnectionOptions } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { TEMPORAL_CREDENTIALS, type Config } from '../config';

/** How clients and workers prove who they are, and check the server. */
export type Credentials = Pick<ConnectionOptions, 'tls'> & { apiKey?: string };

/**
 * The credentials for TEMPORAL_ADDRESS, from variables with Temporal's standard names; without any, the connection is
 * plain text. Configuration files in the user's home are ignored. Throws when a file cannot be read, or when only one
 * of client certificate and key is set.
 */
export function credentialsOf(config: Pick<Config, (typeof TEMPORAL_CREDENTIALS)[number]>): Credentials {
  const { TEMPORAL_TLS_CLIENT_CERT_PATH: certificate, TEMPORAL_TLS_CLIENT_KEY_PATH: key } = config;
  if ((certificate === undefined) !== (key === undefined)) {
    throw new Error(
      'Set both TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH, or neither: mTLS needs both.',
    );
  }
  const variables = Object.fromEntries(
    TEMPORAL_CREDENTIALS.flatMap((name) => {
      const value = config[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const { tls, apiKey } = loadClientConnectConfig({ disableFile: true, overrideEnvVars: variables }).connectionOptions;
  return { ...(tls !== undefined && { tls }), ...(typeof apiKey === 'string' && { apiKey }) };
}
