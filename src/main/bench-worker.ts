import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseConfig } from '../config';
import { createLogger } from '../log';
import { buildWorkflowBundle } from '../temporal/workflow-bundle';
import { runProcess } from '../processes/process';
import { runWorker } from '../processes/run-worker';
import { causeFields } from '../tracing/cause';
import { startTracing } from '../tracing/tracing';

const config = parseConfig(process.env);
const log = createLogger({ process: 'worker', level: config.LOG_LEVEL, fields: causeFields });
startTracing(config, 'worker', log);

/** The worker as it is, with the floor's workflow in its bundle. */
runProcess(log, async () => {
  const { code } = await buildWorkflowBundle(require.resolve('../bench/workflows'));
  const bundle_path = path.join(config.DATA_DIR, 'bench-bundle.js');
  writeFileSync(bundle_path, code);
  return await runWorker(config, log, bundle_path);
});
