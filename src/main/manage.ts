import { parseConfig } from '../config';
import { createLogger } from '../log';
import { runProcess } from '../processes/process';
import { serveManage } from '../processes/serve-manage';
import { startTracing } from '../tracing/tracing';

const config = parseConfig(process.env);
const log = createLogger({ process: 'manage', level: config.LOG_LEVEL });
startTracing(config, 'manage', log);

/** Serves the bearer-token host until it is stopped. */
runProcess(log, () => serveManage(config, log), { drain_ms: config.DRAIN_MS });
