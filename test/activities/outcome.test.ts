import { moveOf } from '../../activities/outcome';
import type { OperationResult } from '../../src/processor/wire';
import { NOW } from '../support/builders';

const answer = (over: Partial<OperationResult>) =>
  ({
    result: 'approved',
    response_code: '00',
    response_code_description: 'Approved',
    occurred: '2030-01-15T11:59:59Z',
    ...over,
  }) as OperationResult;

test('an approval: accepted by the processor, at its instant', () => {
  const { to, details } = moveOf(answer({ three_ds: { result: 'authenticated', liability_shift: true } }), NOW);
  expect([to, details]).toEqual([
    'accepted',
    {
      source: 'processor',
      now: NOW,
      occurred: '2030-01-15T11:59:59Z',
      result: 'approved',
      transaction: {
        response_code: '00',
        response_code_description: 'Approved',
        challenge_url: undefined,
        received_3ds_result: 'authenticated',
        liability_shift: true,
      },
    },
  ]);
});

test('a decline keeps the issuer’s code for its event', () => {
  expect(moveOf(answer({ result: 'declined', response_code: '05' }), NOW)).toMatchObject({
    to: 'error',
    details: { result: 'declined', authorization_iso_response_code: '05' },
  });
});

test('rules 10.1: no answer is processing, by the service, and nothing is known of it', () => {
  expect(moveOf('unknown', NOW)).toEqual({ to: 'processing', details: { source: 'service', now: NOW } });
});
