import { prepareProcess, runProcess } from '../processes/process';
import { serveApi } from '../processes/serve-api';

const { config, log } = prepareProcess(process.env, 'api');

/** Serves REST, the hosted page and the documentation until it is stopped. */
runProcess(log, () => serveApi(config, log), { drain_ms: config.DRAIN_MS });
