import path from 'node:path';
import { parseConfig } from '../config';
import { createLog } from '../log';
import { workflowBundlePath } from '../temporal/workflow-bundle';
import { runProcess } from './process';
import { runWorker } from './run-worker';

const config = parseConfig(process.env);
const log = createLog({ process: 'worker', level: config.LOG_LEVEL });

/** Runs workflows and activities until it is stopped. */
runProcess(log, async () => runWorker(config, log, await workflowBundlePath(path.join(__dirname, '../..'))));
