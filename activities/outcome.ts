import type { MoveDetails } from '../src/db/move-order';
import { outcomeOf } from '../src/domain/transaction';
import type { TransactionStatus } from '../src/domain/transitions';
import type { OperationOutcome } from '../src/processor/client';

/** The status that follows from the processor's answer, and what is written with it. `now` in epoch milliseconds. */
export function moveOf(answer: OperationOutcome, now: number): { to: TransactionStatus; details: MoveDetails } {
  const { to, ...event } = outcomeOf(answer);
  if (answer === 'unknown') return { to, details: { ...event, source: 'service', now } };
  const { occurred, response_code, response_code_description, challenge_url, three_ds } = answer;
  const known = {
    response_code,
    response_code_description,
    challenge_url,
    received_3ds_result: three_ds?.result,
    liability_shift: three_ds?.liability_shift,
  };
  return { to, details: { ...event, source: 'processor', now, occurred, transaction: known } };
}
