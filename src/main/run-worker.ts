import { NativeConnection, Runtime, Worker, makeTelemetryFilterString, type LogLevel, type LogMetadata, type Logger as SdkLogger } from '@temporalio/worker';
import { createActivities } from '../../activities';
import { Caretaker } from '../../activities/caretaker';
import { TASK_QUEUE } from '../../workflows/messages';
import { required, type Config } from '../config';
import { connect } from '../db/connection';
import type { Logger } from '../log';
import { createProcessor } from '../processor/client';
import { connectTemporal, dataConverter } from '../temporal/connect';
import { postWebhook } from '../webhook/post';
import type { Started } from './process';
import { publicUrl } from './public-url';

/** Opens what the worker needs and polls. `bundle_path`: the workflows it runs, bundled. */
export async function runWorker(config: Config, log: Logger, bundle_path: string): Promise<Started> {
  const address = required(config, 'TEMPORAL_ADDRESS');
  Runtime.install({
    shutdownSignals: [],
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }), forward: {} } },
    logger: loggerFor(log),
  });
  const db = connect(required(config, 'POSTGRES_URL'));
  const processor = createProcessor({ url: required(config, 'PROCESSOR_URL'), key: config.PROCESSOR_KEY, timeout_ms: config.PROCESSOR_TIMEOUT_MS, log });
  const client = connectTemporal({ address, namespace: config.TEMPORAL_NAMESPACE, payload_keys: config.PAYLOAD_KEYS });
  const connection = await NativeConnection.connect({ address });
  const worker = await Worker.create({
    connection,
    namespace: config.TEMPORAL_NAMESPACE,
    taskQueue: TASK_QUEUE,
    workflowBundle: { codePath: bundle_path },
    dataConverter: dataConverter(config.PAYLOAD_KEYS),
    activities: createActivities({
      db,
      processor,
      client,
      postWebhook,
      webhook_private_addresses: config.WEBHOOK_PRIVATE_ADDRESSES,
      public_url: publicUrl(config),
      log,
    }),
    maxConcurrentWorkflowTaskExecutions: 40,
    maxCachedWorkflows: 1_000,
    // A worker that was killed still owns its workflows' queues: after this long another takes them.
    stickyQueueScheduleToStartTimeout: '5 seconds',
    shutdownGraceTime: '5 seconds',
  });
  const running = worker.run();
  const caretaker = new Caretaker({ db, client, log });
  caretaker.start();
  // A worker that fails for good ends the process: the supervisor starts another.
  running.catch(() => process.exit(1));
  log.info({ task_queue: TASK_QUEUE }, 'worker runs');
  return {
    async close() {
      await caretaker.stop();
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await running;
      await client.connection.close();
      await connection.close();
      await processor.close();
      await db.destroy();
    },
  };
}

const LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/** The SDK's lines in our log. It tells the start and end of every workflow and activity: what nobody reads costs nothing. */
function loggerFor(log: Logger): SdkLogger {
  const write = (level: LogLevel) => (message: string, meta?: LogMetadata) => {
    if (log.isLevelEnabled(LEVELS[level])) log[LEVELS[level]]({ ...meta }, message);
  };
  return {
    log: (level, message, meta) => write(level)(message, meta),
    trace: write('TRACE'),
    debug: write('DEBUG'),
    info: write('INFO'),
    warn: write('WARN'),
    error: write('ERROR'),
  };
}
