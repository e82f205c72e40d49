import { parseConfig } from '../config';
import { createLogger } from '../log';
import { workflowBundlePath } from '../temporal/workflow-bundle';
import { runProcess } from '../processes/process';
import { runWorker } from '../processes/run-worker';
import { causeFields } from '../tracing/cause';
import { startTracing } from '../tracing/tracing';

const config = parseConfig(process.env);
const log = createLogger({ process: 'worker', level: config.LOG_LEVEL, fields: causeFields });
startTracing(config, 'worker', log);

/** Runs workflows and activities until it is stopped. */
runProcess(log, async () => runWorker(config, log, await workflowBundlePath()));
