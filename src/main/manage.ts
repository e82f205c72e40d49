import { parseConfig } from '../config';
import { createLogger } from '../log';
import { runProcess } from '../processes/process';
import { serveManage } from '../processes/serve-manage';

const config = parseConfig(process.env);
const log = createLogger({ process: 'manage', level: config.LOG_LEVEL });

/** Serves the bearer-token host until it is stopped. */
runProcess(log, () => serveManage(config, log));
