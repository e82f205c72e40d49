import { acceptRequest } from '../../../src/domain/accepted-request';
import { NOW } from '../../support/domain';

const arrived = { request_id: 'r', received_at: NOW - 8_000, deadline_at: NOW };

test('rules 10.5: work may begin until some time before the deadline, so that it is still answered', () => {
  const request = acceptRequest(arrived);
  expect(request).toMatchObject({ request_id: 'r', has_idempotency_key: false, is_repeat: false, deadline_at: NOW });
  expect(NOW - request.begin_before!).toBeGreaterThanOrEqual(1_000);
});

test('rules 10.5: with an Idempotency-Key work may begin at any time, as a repeat gets the result', () => {
  const request = acceptRequest({ ...arrived, has_idempotency_key: true, versions: [3] });
  expect(request).toMatchObject({ has_idempotency_key: true, first_received_at: NOW - 8_000, versions: [3] });
  expect(request.begin_before).toBeUndefined();
});
