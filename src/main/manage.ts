import { prepareProcess, runProcess } from '../processes/process';
import { serveManage } from '../processes/serve-manage';

const { config, log } = prepareProcess(process.env, 'manage');

/** Serves the bearer-token host until it is stopped. */
runProcess(log, () => serveManage(config, log), { drain_ms: config.DRAIN_MS });
