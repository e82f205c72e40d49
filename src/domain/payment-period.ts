import type { CaptureMode } from './amounts';
import { parseDuration } from './duration';

/** How long a transaction may be paid. */
interface PaymentPeriod {
  /** As shown until acceptance: the value sent, else that of the project (rules 7.5). ISO 8601. */
  expiration_period: string;
  /** The time for paying, in milliseconds. */
  period: number;
}

/**
 * How long a transaction may be paid. With capture_mode the period sent counts from acceptance and does not limit the
 * time for paying. `to_pay`: transaction_expiration_period of the project.
 */
export function paymentPeriod(
  {
    expiration_period: sent,
    capture_mode,
  }: { expiration_period?: string | null | undefined; capture_mode?: CaptureMode | null | undefined },
  to_pay: string,
): PaymentPeriod {
  const expiration_period = sent ?? to_pay;
  return { expiration_period, period: parseDuration(capture_mode ? to_pay : expiration_period) };
}
