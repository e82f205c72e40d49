import {
  parseConfig,
  processorSecret,
  requireSetting,
  simulatorDatabase,
  simulatorPagePort,
  valuesOf,
  type Config,
} from '../config';
import { createLogger } from '../log';
import { startSimulator } from '../simulator/server';
import { runProcess } from '../processes/process';

const config = parseConfig(process.env);
const log = createLogger({ process: 'simulator', level: config.LOG_LEVEL });

/** The processor simulator until it is stopped. */
runProcess(log, async () => {
  const simulator = await startSimulator({
    host: config.SIMULATOR_HOST,
    port: config.SIMULATOR_PORT,
    names: config.PROCESSOR_URL === undefined ? [] : [new URL(config.PROCESSOR_URL).hostname],
    page_host: config.SIMULATOR_PAGE_HOST,
    page_port: simulatorPagePort(config),
    postgres_url: config.SIMULATOR_POSTGRES_URL ?? simulatorDatabase(requireSetting(config, 'POSTGRES_URL')),
    connections_max: config.POSTGRES_CONNECTIONS_MAX,
    key: processorSecret(config, 'PROCESSOR_KEY'),
    control_key: requireSetting(config, 'SIMULATOR_CONTROL_KEY'),
    public_url: config.SIMULATOR_PUBLIC_URL,
    notification_url: notificationUrl(config),
    notification_secret: valuesOf(processorSecret(config, 'PROCESSOR_NOTIFICATION_SECRET'))[0]!,
    log,
  });
  log.info({ url: simulator.url, page_url: simulator.page_url }, 'listening');
  return simulator;
});

function notificationUrl({ PROCESSOR_NOTIFICATION_URL, PUBLIC_URL }: Config): string | undefined {
  if (PROCESSOR_NOTIFICATION_URL !== undefined) return PROCESSOR_NOTIFICATION_URL;
  return PUBLIC_URL === undefined ? undefined : `${PUBLIC_URL.replace(/\/+$/, '')}/processor/notifications/`;
}
