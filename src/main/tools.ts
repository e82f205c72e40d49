import { parseConfig } from '../config';
import { explain } from '../stack/failure';
import { displayPath } from '../stack/files';
import { createProgress } from '../stack/progress';
import { meilisearchTool } from '../stack/servers/meilisearch';
import { temporalTool } from '../stack/servers/temporal';
import { clusterTools } from '../stack/servers/temporal-cluster';
import { timeSkippingTool } from '../stack/servers/time-skipping';
import { findTool } from '../stack/tools/find-tool';

/** Finds or makes every server's program without starting any: for an image, a CI cache, or before going offline. */
async function main(): Promise<void> {
  const config = parseConfig(process.env);
  const progress = createProgress();
  const tools = [
    temporalTool(config.TEMPORAL_CLI_PATH),
    ...(config.TEMPORAL === 'cluster' ? Object.values(clusterTools) : []),
    meilisearchTool(config.MEILISEARCH_PATH),
    timeSkippingTool(config.TEMPORAL_TEST_SERVER_PATH),
  ];
  const { signal } = new AbortController();
  try {
    for (const tool of tools) {
      progress.say(tool.title, displayPath(await findTool(tool, { tools_dir: config.TOOLS_DIR, progress, signal })));
    }
  } catch (error) {
    process.stdout.write(`tools: ${explain(error, displayPath(config.TOOLS_DIR))}\n`);
    process.exitCode = 1;
  }
}

void main();
