import { describeRecovery } from '../../workflows/webhook-recovery';

test.each([
  [{ status: 'running' }, '**Running.** 130 webhooks sent, 121 of them delivered; 1870 to send.'],
  [{ status: 'paused', paused_by: 'request' }, '**Paused.** 130 webhooks sent, 121 of them delivered; 1870 to send.'],
  [
    { status: 'paused', paused_by: 'failures' },
    '**Paused: 5 in a row failed.** 130 webhooks sent, 121 of them delivered; 1870 to send.',
  ],
] as const)('the details in the Web UI: %j', (over, text) => {
  const progress = { remaining: 1_870, sent: 130, delivered: 121, clock_offset_ms: 0 } as const;
  expect(describeRecovery({ ...progress, ...over })).toBe(text);
});
