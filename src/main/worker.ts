import { workflowBundlePath } from '../temporal/workflow-bundle';
import { prepareProcess, runProcess } from '../processes/process';
import { runWorker } from '../processes/run-worker';
import { causeFields } from '../tracing/cause';

const { config, log } = prepareProcess(process.env, 'worker', causeFields);

/** Runs workflows and activities until it is stopped. */
runProcess(log, async () => runWorker(config, log, await workflowBundlePath()));
