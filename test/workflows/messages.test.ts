import * as workflows from '../../workflows';
import * as messages from '../../workflows/messages';

const { deliveryWorkflowId, orderWorkflowId } = messages;

test('rules 11.7: ids are derived: the same order and delivery always have the same', () => {
  expect([orderWorkflowId('o'), deliveryWorkflowId({ order_id: 'o', n: 2 })]).toEqual(['order:o', 'webhook:o:2']);
});

test('the names that callers start workflows by are those the worker has', () => {
  const names = Object.entries(messages).flatMap(([constant, name]) => (constant.endsWith('_WORKFLOW') ? [name] : []));
  expect(names.length).toBeGreaterThan(3);
  expect(new Set<unknown>(Object.keys(workflows))).toEqual(new Set<unknown>(names));
});
