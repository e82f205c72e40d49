import { v7 as uuidv7 } from 'uuid';
import type { ActivityServices } from '../../activities/services';
import { NO_FIGURES } from '../../src/db/audit/audit-progress';
import { AUDIT_WORKFLOW, TASK_QUEUE } from '../../workflows/messages';
import { describeAudit } from '../../workflows/audit';
import { createWorkflowEnvironment, type WorkflowEnvironment } from '../support/temporal';

test.each([
  [
    { orders: 3 },
    'Compared 3 orders with the processor; 0 change at the moment and are compared again. Opened 0 incidents, closed 0.',
  ],
  [
    { orders: 3, in_flight: 1, opened: 2, closed: 1, index_differences: 4 },
    'Compared 3 orders with the processor; 1 change at the moment and are compared again. Opened 2 incidents, closed 1. Wrote 4 orders to the search index again.',
  ],
])('an operator reads what the audit found: %j', (found, words) => {
  expect(describeAudit({ ...NO_FIGURES, ...found })).toBe(words);
});

describe('the workflow', () => {
  let world: WorkflowEnvironment;
  let failures = 2;
  beforeAll(async () => {
    const processor = {
      async operations() {
        if (failures-- > 0) throw new Error('away');
        return [];
      },
      totals: async () => [],
      settlements: async () => [],
    } as unknown as ActivityServices['processor'];
    world = await createWorkflowEnvironment({ services: { processor } });
  });
  afterAll(() => world.close());

  it('waits while the processor is away, and ends with what it has compared', async () => {
    const workflowId = `audit-${uuidv7()}`;
    const handle = await world.env.client.workflow.start(AUDIT_WORKFLOW, { workflowId, taskQueue: TASK_QUEUE });
    expect(await handle.result()).toEqual(NO_FIGURES);
    expect(failures).toBeLessThan(0);
  });
});
