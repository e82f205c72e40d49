import { setTimeout as sleep } from 'node:timers/promises';
import { createReceiverCheck, getReceiverCheck, ok, type ReceiverCheck } from '../client';
import { RECEIVER_CHECK_LOST_AFTER_MS } from '../domain/receiver-check';
import { CommandError, call, mayAnswerLater, type Place } from './place';

/** From one look at a running check to the next, in milliseconds. */
const LOOK_AGAIN_MS = 500;

/**
 * Checks the webhook receiver at an address, by default that of the project (rules 27), and waits for the report.
 * Throws CommandError when the service refuses, could not play it, or has lost it.
 */
export async function checkReceiver(place: Place, webhook_url: string | undefined): Promise<ReceiverCheck> {
  const receiverCheckRequest = webhook_url === undefined ? {} : { webhook_url };
  let check = await call(place, (options) => ok(createReceiverCheck({ receiverCheckRequest }, options)));
  const lost_at = performance.now() + RECEIVER_CHECK_LOST_AFTER_MS;
  while (check.status === 'running') {
    if (performance.now() > lost_at) throw new CommandError(`The check ${check.id} does not end; start it again.`);
    await sleep(LOOK_AGAIN_MS);
    check = await look(place, check);
  }
  if (check.status === 'stopped') throw new CommandError(`The check was stopped: ${check.reason}`);
  return check;
}

/** The check as it is now; as it was, while the service does not answer. */
async function look(place: Place, known: ReceiverCheck): Promise<ReceiverCheck> {
  try {
    return await call(place, (options) => ok(getReceiverCheck({ checkId: known.id }, options)));
  } catch (error) {
    if (error instanceof CommandError && mayAnswerLater(error.cause)) return known;
    throw error;
  }
}

/** The report: a line for each case, and below it how to mend what is wrong. */
export const shownReport = ({ cases }: ReceiverCheck): string[] =>
  cases.flatMap(({ case: name, result, text, mend }) => [
    `${result.padEnd(10)}  ${name.padEnd(16)}  ${text}`,
    ...(mend === undefined ? [] : [`${' '.repeat(30)}${mend}`]),
  ]);
