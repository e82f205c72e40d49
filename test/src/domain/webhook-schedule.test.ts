import { WEBHOOK_ATTEMPTS_MAX, WEBHOOK_RETRY_AFTER_MS, webhookTimeLimit } from '../../../src/domain/webhook-schedule';

test('rule: 4 seconds on the first attempt, 10 on every retry, every 2 minutes, ten attempts', () => {
  expect(Array.from({ length: WEBHOOK_ATTEMPTS_MAX }, (_, i) => webhookTimeLimit(i + 1))).toEqual([
    4_000,
    ...Array<number>(9).fill(10_000),
  ]);
  expect(WEBHOOK_RETRY_AFTER_MS).toBe(120_000);
});
