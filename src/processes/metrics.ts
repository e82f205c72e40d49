import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../config';
import type { Logger } from '../log';
import type { MetricsProcess } from '../metrics/catalogue';
import { readProcess } from '../metrics/process-gauges';
import { startRecording } from '../metrics/recorder';
import { serveMetrics, type MetricsServer } from '../metrics/server';
import { repositoryRoot } from '../stack/files';

/**
 * Records the metrics of this process and answers scrapes where a port is configured (rules 24.14). Called first: it
 * needs no other server. `more`: metrics of another source.
 */
export async function startMetrics(
  { METRICS_HOST: host, METRICS_PORT: port }: Pick<Config, 'METRICS_HOST' | 'METRICS_PORT'>,
  log: Logger,
  process: MetricsProcess,
  more?: () => Promise<string>,
): Promise<MetricsServer | undefined> {
  if (port === undefined) return undefined;
  startRecording(process);
  readProcess(process, versionOfService());
  const server = await serveMetrics({ host, port }, more);
  log.info({ metrics_url: `${server.url}/metrics` }, 'metrics are answered');
  return server;
}

function versionOfService(): string {
  const text = readFileSync(path.join(repositoryRoot(), 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
