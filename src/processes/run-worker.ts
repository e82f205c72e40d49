import { NativeConnection } from '@temporalio/worker';
import type { ActivityServices, OperatorWebhook } from '../../activities/services';
import { serveHealth } from '../../api/http/health-server';
import type { Probe } from '../../api/http/health';
import { requireSetting, retentionDays, type Config } from '../config';
import { checkWritable } from '../db/availability';
import type { HttpServer } from '../http-server';
import type { Logger } from '../log';
import { FigureReader } from '../recovery/figures';
import { SearchWriter } from '../search/writer';
import { SecretKeys } from '../secrets';
import { clientOf, dataConverter, pingTemporal, type TemporalClient } from '../temporal/connect';
import { credentialsOf } from '../temporal/credentials';
import { deploymentOf } from '../temporal/deployment';
import { sdkMetrics } from '../temporal/sdk-metrics';
import { installSdkRuntime } from '../temporal/sdk-runtime';
import { WorkerLiveness } from '../temporal/worker-liveness';
import { useWorkflowThreads } from '../temporal/workflow-threads';
import { createWorkflowClients } from '../temporal/workflows';
import { isTracing } from '../tracing/tracing';
import { AttemptLimits } from '../webhook/attempt-limits';
import { postWebhook } from '../webhook/post';
import { tracedAttempts } from '../webhook/trace-attempts';
import { buildOfService } from './build';
import { openDatabase, openProcessor, openTemporal, searchServer, publicUrl } from './connections';
import { Keeper } from './keeper';
import { startMetrics } from './metrics';
import { OwnVersion } from './own-version';
import { announcePayloadKey } from './payload-key-use';
import type { Started } from './process';
import { createWorkers, expectRunning, runUntilStopped } from './task-queue-workers';

/** Opens what the worker needs and polls. `bundle_path`: the workflows it runs, bundled. */
export async function runWorker(config: Config, log: Logger, bundle_path: string): Promise<Started> {
  const build = buildOfService(config);
  const sdk_metrics = await sdkMetrics(build.version);
  const readMetrics = () => sdk_metrics.read();
  const metrics = await startMetrics(config, log, 'worker', readMetrics);
  installSdkRuntime(log, sdk_metrics.options);
  useWorkflowThreads(config.WORKFLOW_CALL_STACKS);
  const db = await openDatabase(config);
  const processor = openProcessor(config, log);
  const client = openTemporal(config, log, db);
  const endKeyUse = await announcePayloadKey(config, db, log);
  const index = new SearchWriter(searchServer(config));
  // The indexer makes them too, once its version is current; checks of the index run before.
  index.makeKeys().catch((err: unknown) => log.debug({ err }, 'the keys of the search index were not made'));
  const polled = await connectForPolls(config);
  const services = activityServices(config, { db, client, processor, index, log }, polled);
  const workers = await createWorkers(config, polled, bundle_path, build, services);
  const runs = runUntilStopped(workers, log);
  const keeper = new Keeper({
    db,
    client,
    workflows: createWorkflowClients({ client, db }),
    index,
    log,
    build,
    is_versioned: config.DEPLOYMENT_VERSIONING !== 'off',
    retention: retentionDays(config),
  });
  const figures = new FigureReader(db, () => keeper.isHolder, log);
  const { dataConverter } = polled;
  const own_version =
    config.DEPLOYMENT_VERSIONING === 'automatic'
      ? new OwnVersion({ db, deployment: deploymentOf(config, client), log, build, bundle_path, dataConverter })
      : undefined;
  // Before the process is ready: without a current version no new workflow begins.
  await own_version?.makeCurrent();
  if (config.WORKER_ROLES.includes('keeper')) {
    await keeper.start();
    if (metrics !== undefined) figures.start();
  }
  const ping = () => pingTemporal(client);
  // A keeper alone polls nothing.
  const liveness = workers.length > 0 ? new WorkerLiveness({ log, readMetrics, pingTemporal: ping }) : undefined;
  liveness?.start();
  const probes: Probe[] = [
    { name: 'worker', required: true, check: () => Promise.resolve(expectRunning(workers)) },
    { name: 'postgres', required: true, check: () => checkWritable(db) },
    { name: 'temporal', required: true, check: ping },
  ];
  const health = await serveWorkerHealth(config, log, probes, () => liveness?.problem());
  log.info({ roles: config.WORKER_ROLES, task_queues: workers.map(({ options }) => options.taskQueue) }, 'worker runs');
  return {
    async close() {
      await health?.close();
      await Promise.all([runs.stop(), figures.stop(), liveness?.stop(), keeper.stop(), own_version?.stop()]);
      await endKeyUse();
      await client.connection.close();
      await polled.connection.close();
      await processor.close();
      await db.destroy();
      await metrics?.close();
    },
  };
}

/** What workers poll with. */
async function connectForPolls(config: Config) {
  const connection = await NativeConnection.connect({
    address: requireSetting(config, 'TEMPORAL_ADDRESS'),
    ...credentialsOf(config),
    // Payloads are encrypted, and do not get smaller.
    grpcCompression: { codec: 'none' },
  });
  return {
    connection,
    namespace: config.TEMPORAL_NAMESPACE,
    dataConverter: dataConverter(requireSetting(config, 'PAYLOAD_KEYS')),
  };
}

/** What activities work with. Calls of theirs to Temporal go through the connection of the worker. */
function activityServices(
  config: Config,
  opened: Pick<ActivityServices, 'db' | 'processor' | 'index' | 'log'> & { client: TemporalClient },
  polled: Parameters<typeof clientOf>[0],
): ActivityServices {
  const { client, ...services } = opened;
  const { db } = services;
  return {
    ...services,
    secrets: new SecretKeys(requireSetting(config, 'SECRET_KEYS')),
    workflows: createWorkflowClients({
      client,
      db,
      worker_client: clientOf(polled),
      // Started eagerly, a workflow begins on the version of this worker.
      starts_eagerly: config.DEPLOYMENT_VERSIONING !== 'operator',
    }),
    postWebhook: isTracing() ? tracedAttempts(postWebhook) : postWebhook,
    attempt_limits: new AttemptLimits(),
    webhook_private_addresses: config.WEBHOOK_PRIVATE_ADDRESSES,
    audit_margin_ms: config.AUDIT_MARGIN_SECONDS * 1_000,
    audit_orders_per_second: config.AUDIT_ORDERS_PER_SECOND,
    operator_webhook: operatorWebhook(config),
    public_url: publicUrl(config),
    log_requests: config.LOG_REQUESTS,
  };
}

/** Where events about incidents go. Throws an Error when the secret that signs them is missing. */
function operatorWebhook(config: Config): OperatorWebhook | undefined {
  const { OPERATOR_WEBHOOK_URL: url } = config;
  return url === undefined ? undefined : { url, secret: requireSetting(config, 'OPERATOR_WEBHOOK_SECRET') };
}

/** Answers health checks where a port is configured (rules 24.6). */
async function serveWorkerHealth(
  config: Config,
  log: Logger,
  probes: Probe[],
  problem: () => string | undefined,
): Promise<HttpServer | undefined> {
  const { WORKER_HEALTH_HOST: host, WORKER_HEALTH_PORT: port } = config;
  if (port === undefined) return undefined;
  const server = await serveHealth(probes, log, { host, port, problem });
  log.info({ health_url: server.url }, 'worker answers health checks');
  return server;
}
