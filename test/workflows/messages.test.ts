import { deliveryWorkflowId, orderWorkflowId, paymentUpdateId } from '../../workflows/messages';
import * as workflows from '../../workflows';
import { DELIVERY_WORKFLOW, FOLLOW_UP_WORKFLOW, ORDER_WORKFLOW, PAYMENT_LINK_WORKFLOW } from '../../workflows/messages';

test('ids are derived: the same order, delivery and attempt always have the same', () => {
  expect([orderWorkflowId('o'), deliveryWorkflowId({ order_id: 'o', n: 2 }), paymentUpdateId(3)]).toEqual([
    'order:o',
    'webhook:o:2',
    'pay:3',
  ]);
});

test('the names that callers start workflows by are those the worker has', () => {
  expect(Object.keys(workflows).toSorted()).toEqual(
    [ORDER_WORKFLOW, DELIVERY_WORKFLOW, FOLLOW_UP_WORKFLOW, PAYMENT_LINK_WORKFLOW].toSorted(),
  );
});
