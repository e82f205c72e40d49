import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { buildWorkflowBundle } from '../temporal/workflow-bundle';
import { prepareProcess, runProcess } from '../processes/process';
import { runWorker } from '../processes/run-worker';
import { causeFields } from '../tracing/cause';

const { config, log } = prepareProcess(process.env, 'worker', causeFields);

/** The worker as it is, with the floor's workflow in its bundle. */
runProcess(log, async () => {
  const { code } = await buildWorkflowBundle(require.resolve('../bench/workflows'));
  const bundle_path = path.join(config.DATA_DIR, 'bench-bundle.js');
  writeFileSync(bundle_path, code);
  return await runWorker(config, log, bundle_path);
});
