import { describePaymentLink } from '../../workflows/payment-link-details';

const link = {
  id: 'l',
  project_id: 'p',
  status: 'all_unsuccessful' as const,
  version: 2,
  attempts: 1,
  expires_at: Date.UTC(2026, 2, 1),
  clock_offset_ms: 0,
  order_ids: ['o1'],
};

test('an operator reads the status, what is awaited until when, and finds the orders', () => {
  expect(describePaymentLink(link, 'payments')).toBe(
    [
      '**all_unsuccessful**: 1 of 25 attempts failed; the link can be tried again until 2026-03-01T00:00:00Z.',
      'Expires, unless it is paid, at 2026-03-01T00:00:00.000Z.',
      '- attempt 1: [order:o1](/namespaces/payments/workflows/order:o1)',
    ].join('\n\n'),
  );
  expect(describePaymentLink({ ...link, status: 'processing' }, 'payments')).toContain('Waits for the outcome');
  expect(describePaymentLink({ ...link, status: 'completed', completed_order_id: 'o1' }, 'payments')).toContain(
    'Nothing is awaited',
  );
});
