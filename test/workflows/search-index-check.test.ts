import { TASK_QUEUE, SEARCH_INDEX_CHECK_WORKFLOW } from '../../workflows/messages';
import { describeCheck } from '../../workflows/search-index-check';
import { queryRows } from '../../src/db/connection';
import { writeOrders } from '../support/rows';
import { setUp } from '../support/set-up';
import { createWorkflowEnvironment } from '../support/temporal';

const EQUAL = { orders: 12, rows: 15, missing: 0, different: 0, unknown: 0, refused: 0 };

test.each<[Partial<typeof EQUAL>, string]>([
  [{}, 'The index has all of them as the record has.'],
  [
    { missing: 3, different: 2, unknown: 1 },
    'Written again: 3 that the index lacked, 2 that it had otherwise, 1 that do not exist.',
  ],
  [
    { refused: 2 },
    'The index has all of them as the record has. The index refuses 2 orders: see the table search_refusals.',
  ],
])('an operator reads what the check found: %j', (found, words) => {
  expect(describeCheck({ ...EQUAL, ...found })).toBe(`Compared 12 orders with 15 rows. ${words}`);
});

describe('the workflow', () => {
  let is_away = true;
  const world = setUp(() => {
    const index = {
      async documents() {
        if (is_away) throw new Error('away');
        return [];
      },
      async *orderIds() {},
      count: async () => 0,
    };
    return createWorkflowEnvironment({ services: { index } });
  });

  it('waits while the index is away, and has what the index lacks written again', async () => {
    const { db } = world.database;
    const [order_id] = await writeOrders(db, [{}]);
    await queryRows(db, 'delete from search_outbox', {});
    const handle = await world.env.client.workflow.start(SEARCH_INDEX_CHECK_WORKFLOW, {
      workflowId: 'search-index-check',
      taskQueue: TASK_QUEUE,
    });
    await world.env.sleep('1 hour');
    is_away = false;
    expect(await handle.result()).toEqual({ ...EQUAL, orders: 1, rows: 1, missing: 1 });
    expect(await queryRows(db, 'select order_id from search_outbox', {})).toEqual([{ order_id }]);
  });
});
