import { parseConfig } from '../config';
import { createLog } from '../log';
import { runProcess } from './process';
import { serveManage } from './serve-manage';

const config = parseConfig(process.env);
const log = createLog({ process: 'manage', level: config.LOG_LEVEL });

/** Serves the bearer-token host until it is stopped. */
runProcess(log, () => serveManage(config, log));
