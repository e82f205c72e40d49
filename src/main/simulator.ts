import { parseConfig, required, type Config } from '../config';
import { createLog } from '../log';
import { startSimulator } from '../simulator/server';

/** The process of the processor simulator: listens until SIGTERM, SIGINT, or until the process that started it is gone. */
async function main(): Promise<void> {
  const config = parseConfig(process.env);
  const log = createLog({ process: 'simulator', level: config.LOG_LEVEL });
  const simulator = await startSimulator({
    host: config.SIMULATOR_HOST,
    port: config.SIMULATOR_PORT,
    postgres_url: config.SIMULATOR_POSTGRES_URL ?? besides(required(config, 'POSTGRES_URL')),
    key: config.PROCESSOR_KEY,
    public_url: config.SIMULATOR_PUBLIC_URL,
    notification_url: notificationUrl(config),
    notification_secret: config.PROCESSOR_NOTIFICATION_SECRET,
    log,
  });

  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    simulator.close().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'did not stop in order');
        process.exit(1);
      },
    );
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  process.once('disconnect', stop);

  log.info({ url: simulator.url }, 'simulator listens');
  process.send?.({ ready: true });
}

/** The database `simulator` on the service's server: beside the service's own, never in it. */
function besides(postgres_url: string): string {
  const url = new URL(postgres_url);
  url.pathname = '/simulator';
  return url.href;
}

function notificationUrl(config: Config): string | undefined {
  if (config.PROCESSOR_NOTIFICATION_URL !== undefined) return config.PROCESSOR_NOTIFICATION_URL;
  return config.PUBLIC_URL === undefined ? undefined : `${config.PUBLIC_URL.replace(/\/+$/, '')}/processor/notifications/`;
}

main().catch((error: unknown) => {
  // Node's error about several addresses that were tried has no text of its own.
  const [first] = error instanceof AggregateError ? (error.errors as unknown[]) : [error];
  process.stderr.write(`simulator: ${first instanceof Error ? first.message : String(first)}\n`);
  process.exit(1);
});
