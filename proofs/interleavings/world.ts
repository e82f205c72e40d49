import { parseConfig } from '../../src/config';
import { createProgress } from '../../src/stack/progress';
import { timeSkippingTool } from '../../src/stack/servers/time-skipping';
import { findTool } from '../../src/stack/tools/find-tool';
import { createWorkflowClients, type WorkflowClients } from '../../src/temporal/workflows';
import { createTemplate } from '../../test/support/database';
import { startReceiver, type Receiver } from '../../test/support/servers';
import { DATA_DIR_OF_RUN, OwnStack, stack } from '../../test/support/stack';
import { createWorkflowEnvironment, type WorkflowEnvironment } from '../../test/support/temporal';

/** What the lives of a proof are lived in: the time-skipping server, a worker, a database, the simulator. */
export interface LifeWorld extends WorkflowEnvironment {
  clients: WorkflowClients;
  receiver: Receiver;
  /** Ends everything, its stack included. */
  discard(): Promise<void>;
}

/** A worker that keeps one workflow in memory: it makes nearly every task by replaying the whole history. Without any, the time-skipping server loses updates. */
const SMALLEST_CACHE = { maxCachedWorkflows: 1 };

export async function createLifeWorld(): Promise<LifeWorld> {
  const own = new OwnStack('lives');
  const receiver = await startReceiver();
  // Every fourth webhook is refused, and sent again after two minutes of workflow time.
  receiver.answer((response, n) => void response.writeHead(n % 4 === 0 ? 503 : 200).end());
  const leave = async () => {
    await own.discard();
    await receiver.close();
  };
  try {
    await own.start();
    process.env[DATA_DIR_OF_RUN] = own.data_dir;
    const { TOOLS_DIR: tools_dir, TEMPORAL_TEST_SERVER_PATH } = parseConfig(process.env);
    const tool = timeSkippingTool(TEMPORAL_TEST_SERVER_PATH);
    const [program] = await Promise.all([
      findTool(tool, { tools_dir, progress: createProgress(), signal: new AbortController().signal }),
      createTemplate(stack().postgres_url),
    ]);
    process.env['TEMPORAL_TEST_SERVER_PATH'] = program;
    const world = await createWorkflowEnvironment({ worker: SMALLEST_CACHE, webhook_url: receiver.url });
    return {
      ...world,
      clients: createWorkflowClients({ client: world.env.client, db: world.database.db }),
      receiver,
      async discard() {
        await world.close();
        await leave();
      },
    };
  } catch (error) {
    await leave();
    throw error;
  }
}
