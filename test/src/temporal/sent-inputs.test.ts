import { v7 as uuidv7 } from 'uuid';
import { sentInputs, workflowsSince } from '../../../src/temporal/sent-inputs';
import { FOLLOW_UP_WORKFLOW, TASK_QUEUE, orderWorkflowId } from '../../../workflows/messages';
import { aRequest } from '../../support/domain';
import { Merchant } from '../../support/merchant';
import { setUp } from '../../support/set-up';
import { temporalOf } from '../../support/temporal-client';
import { until } from '../../support/waits';

const temporal = setUp(temporalOf, (client) => client.connection.close());

/** A refund of a declined payment, which is refused. */
async function aRefusedRefund() {
  const order = await new Merchant().paidOrder('do_not_honor');
  const id = uuidv7();
  const input = {
    id,
    kind: 'refund',
    requested_by: 'merchant',
    request: aRequest(),
    project_id: order.project_id,
    original_order_id: order.id,
    original_transaction_id: order.transactions![0]!.id,
    amount: 10,
  };
  const workflowId = orderWorkflowId(id);
  return { input, workflowId, options: { workflowId, taskQueue: TASK_QUEUE, args: [input] } };
}

const runsOf = async (workflowId: string, count: number) =>
  await until(`Temporal lists ${count} runs`, async () => {
    const runs = [];
    for await (const run of temporal.workflow.list({ query: `WorkflowId = '${workflowId}'` })) runs.push(run);
    return runs.length === count && runs.every(({ status }) => status.name !== 'RUNNING');
  });

test('rules 28.3: a follow-up order was refused when every run of it was: not one that was ended before its answer', async () => {
  const began = Date.now() - 60_000;
  const { input, workflowId, options } = await aRefusedRefund();
  const ended = await temporal.workflow.start(FOLLOW_UP_WORKFLOW, { ...options, startDelay: '1 hour' });
  await until('Temporal lists the open run', async () =>
    (await workflowsSince(temporal, [FOLLOW_UP_WORKFLOW], began)).some(
      ({ open_run_id }) => open_run_id === ended.firstExecutionRunId,
    ),
  );
  await ended.terminate('its record was lost');
  await temporal.workflow.execute(FOLLOW_UP_WORKFLOW, options);
  await runsOf(workflowId, 2);
  expect(await sentInputs(temporal, workflowId)).toEqual({
    ...{ start: input, updates: [], is_refused: false },
    result: 'refused',
  });

  const other = await aRefusedRefund();
  for (const _ of [1, 2]) await temporal.workflow.execute(FOLLOW_UP_WORKFLOW, other.options);
  await runsOf(other.workflowId, 2);
  expect(await sentInputs(temporal, other.workflowId)).toMatchObject({ start: other.input, is_refused: true });
});
