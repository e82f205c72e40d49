import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { connectTemporal } from '../../../src/temporal/connect';
import { countStarts } from '../../../src/temporal/starts';
import { setUp } from '../../support/set-up';
import { stack } from '../../support/stack';

const client = setUp(
  () => {
    const { temporal_address: address, temporal_namespace: namespace } = stack();
    return connectTemporal({ address, namespace, payload_keys: undefined, log: pino({ enabled: false }) });
  },
  ({ connection }) => connection.close(),
);

/** No worker polls this queue. */
const start = (workflowId: string) => ({ workflowId, taskQueue: `queue-${workflowId}`, args: [] });

it.each([
  [
    'start',
    (workflowId: string) =>
      client.workflow.start('any', { ...start(workflowId), workflowIdConflictPolicy: 'USE_EXISTING' }),
  ],
  ['signal with start', (id: string) => client.workflow.signalWithStart('any', { ...start(id), signal: 'any' })],
])('%s counts a workflow that it has started, and none that was running', async (_name, call) => {
  const id = randomUUID();
  const begin = async () => void (await call(id));
  expect([await countStarts(begin), await countStarts(begin)]).toEqual([1, 0]);
  await client.workflow.getHandle(id).terminate();
});
