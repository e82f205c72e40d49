import { CancellationScope, isCancellation, setCurrentDetails } from '@temporalio/workflow';
import {
  LAST_ROUND_AFTER_MS,
  RECEIVER_CHECK_ROUNDS,
  type PlayedCase,
  type ReceiverResult,
} from '../src/domain/receiver-check';
import { checkingReceiver, localActivities } from './activities';
import type { ReceiverCheckInput } from './messages';
import { temporalClock } from './object/clock';

/**
 * Checks the webhook receiver of a test project (rules 27): plays twelve cases against it, round by round, and writes
 * the report. Returns its worst result, or `stopped` when the cases could not be played.
 */
export async function receiverCheck(input: ReceiverCheckInput): Promise<ReceiverResult | 'stopped'> {
  try {
    const played = await playRounds(input);
    setCurrentDetails('Waits for the receiver to retrieve the orders.');
    const result = await checkingReceiver.finishReceiverCheck({ ...input, played, now: temporalClock.now() });
    setCurrentDetails(`Done: ${result}.`);
    return result;
  } catch (error) {
    const reason = isCancellation(error) ? 'It was cancelled.' : 'The service could not play it; try again later.';
    await CancellationScope.nonCancellable(() =>
      localActivities.stopReceiverCheck({ ...input, reason, now: temporalClock.now() }),
    );
    if (isCancellation(error)) throw error;
    setCurrentDetails(`Stopped. ${reason}`);
    return 'stopped';
  }
}

async function playRounds(input: ReceiverCheckInput): Promise<PlayedCase[]> {
  const began = temporalClock.now();
  const played: PlayedCase[] = [];
  for (const round of RECEIVER_CHECK_ROUNDS) {
    if (temporalClock.now() - began > LAST_ROUND_AFTER_MS) break;
    setCurrentDetails(`Plays ${round.join(', ')}.`);
    const now = temporalClock.now();
    played.push(
      ...(await Promise.all(round.map((name) => checkingReceiver.playReceiverCase({ ...input, case: name, now })))),
    );
  }
  return played;
}
