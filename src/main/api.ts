import { parseConfig } from '../config';
import { createLogger } from '../log';
import { runProcess } from '../processes/process';
import { serveApi } from '../processes/serve-api';
import { startTracing } from '../tracing/tracing';

const config = parseConfig(process.env);
const log = createLogger({ process: 'api', level: config.LOG_LEVEL });
startTracing(config, 'api', log);

/** Serves REST, the hosted page and the documentation until it is stopped. */
runProcess(log, () => serveApi(config, log), { drain_ms: config.DRAIN_MS });
