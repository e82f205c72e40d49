import { deliveryWorkflowId, followUpStart, orderWorkflowId, paymentUpdateId } from '../../workflows/messages';
import * as workflows from '../../workflows';
import {
  DELIVERY_WORKFLOW,
  FOLLOW_UP_WORKFLOW,
  ORDER_STATUS,
  ORDER_WORKFLOW,
  PROJECT_ID,
  RELATED_ORDER_ID,
} from '../../workflows/messages';

test('ids are derived: the same order, delivery and attempt always have the same', () => {
  expect([orderWorkflowId('o'), deliveryWorkflowId({ order_id: 'o', n: 2 }), paymentUpdateId(3)]).toEqual([
    'order:o',
    'webhook:o:2',
    'pay:3',
  ]);
});

test('the names that callers start workflows by are those the worker has', () => {
  expect(Object.keys(workflows).toSorted()).toEqual([ORDER_WORKFLOW, DELIVERY_WORKFLOW, FOLLOW_UP_WORKFLOW].toSorted());
});

test('a follow-up order is found by its payment, and says what it is, with nothing that is the merchant’s or the customer’s', () => {
  const { workflowId, typedSearchAttributes, staticSummary } = followUpStart({
    id: 'f',
    project_id: 'p',
    kind: 'refund',
    requested_by: 'merchant',
    original_order_id: 'o',
    original_transaction_id: 't',
    merchant_order_id: 'Ada 7',
    description: 'For Ada Lovelace',
    extra: { email: 'ada@example.com' },
  });
  expect(workflowId).toBe('order:f');
  expect(typedSearchAttributes).toEqual([
    { key: ORDER_STATUS, value: 'new' },
    { key: PROJECT_ID, value: 'p' },
    { key: RELATED_ORDER_ID, value: 'o' },
  ]);
  expect(staticSummary).toBe('refund of order:o');
});
