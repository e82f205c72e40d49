import { paymentPeriod } from '../../../src/domain/payment-period';

const MINUTE = 60_000;

test.each([
  ['a sale', {}, 'PT30M', 30 * MINUTE],
  ['a sale with a period', { expiration_period: 'PT5M' }, 'PT5M', 5 * MINUTE],
  ['manual', { capture_mode: 'manual' }, 'PT30M', 30 * MINUTE],
  [
    'manual with a period, which counts from acceptance',
    { capture_mode: 'manual', expiration_period: 'P3D' },
    'P3D',
    30 * MINUTE,
  ],
  [
    'delayed with a period, which counts from acceptance',
    { capture_mode: 'delayed', expiration_period: 'PT5M' },
    'PT5M',
    30 * MINUTE,
  ],
  ['as the record holds it: a sale', { capture_mode: null, expiration_period: 'PT5M' }, 'PT5M', 5 * MINUTE],
  ['as the record holds it: nothing', { capture_mode: null, expiration_period: null }, 'PT30M', 30 * MINUTE],
] as const)('rules 7.3 and 7.4: %s: %j', (_title, sent, expiration_period, period) => {
  expect(paymentPeriod(sent, 'PT30M')).toEqual({ expiration_period, period });
});
