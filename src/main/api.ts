import { parseConfig } from '../config';
import { createLogger } from '../log';
import { runProcess } from '../processes/process';
import { serveApi } from '../processes/serve-api';

const config = parseConfig(process.env);
const log = createLogger({ process: 'api', level: config.LOG_LEVEL });

/** Serves REST, the hosted page and the documentation until it is stopped. */
runProcess(log, () => serveApi(config, log));
