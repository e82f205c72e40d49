import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Config } from '../config';
import type { HttpServer } from '../http-server';
import type { Logger } from '../log';
import type { LabelsOf, MetricsProcess } from '../metrics/catalogue';
import { readProcess } from '../metrics/process-gauges';
import { gauge } from '../metrics/recorder';
import { startRecording } from '../metrics/recording';
import { serveMetrics } from '../metrics/server';
import { versionOfService } from './build';

/**
 * Records the metrics of this process and answers scrapes where a port is configured (rules 24.14). Called first: it
 * needs no other server. `more`: metrics of another source.
 */
export async function startMetrics(
  config: Config,
  log: Logger,
  process: MetricsProcess,
  more?: () => Promise<string>,
): Promise<HttpServer | undefined> {
  const { METRICS_HOST: host, METRICS_PORT: port } = config;
  if (port === undefined) return undefined;
  startRecording(process);
  readProcess(process, versionOfService());
  if (process !== 'worker') observeCertificate('https', config.TLS_CERT_FILE);
  observeCertificate('temporal_client', config.TEMPORAL_TLS_CLIENT_CERT_PATH);
  const server = await serveMetrics({ host, port }, more);
  log.info({ metrics_url: `${server.url}/metrics` }, 'metrics are answered');
  return server;
}

/** Exports when the certificate in a file ends. A file that cannot be read is reported where it is used. */
function observeCertificate(
  certificate: LabelsOf<'payments_certificate_expiry_timestamp_seconds'>['certificate'],
  file: string | undefined,
): void {
  const ends_at = file === undefined ? undefined : endOf(file);
  if (ends_at === undefined) return;
  gauge('payments_certificate_expiry_timestamp_seconds', () => [{ value: ends_at / 1_000, labels: { certificate } }]);
}

/** Epoch milliseconds. */
function endOf(file: string): number | undefined {
  try {
    return Date.parse(new X509Certificate(readFileSync(file)).validTo);
  } catch {
    return undefined;
  }
}
