import { setCurrentDetails } from '@temporalio/workflow';
import type { SettlementFetch } from '../activities/settlements';
import { settlementsAttention } from '../src/domain/attention';
import { fetching } from './activities';
import { temporalClock } from './object/clock';
import { upsertAttention } from './operator-view';

/**
 * Fetches the processor's settlements (rules 20.19). Started by a schedule, and when the processor notifies. Returns
 * how many transactions were settled, and how many settlements still lack their transaction.
 */
export async function settlements(): Promise<SettlementFetch> {
  setCurrentDetails('Fetches settlements from the processor.');
  const fetch = await fetching.fetchSettlements({ now: temporalClock.now() });
  setCurrentDetails(describeFetch(fetch));
  upsertAttention(settlementsAttention(fetch.waiting_since, temporalClock.now()));
  return fetch;
}

/** The details in the Web UI. */
export function describeFetch({ settled, waiting, waiting_since }: SettlementFetch): string {
  const recorded = `Settled ${settled} transactions.`;
  if (waiting_since === undefined) return recorded;
  const since = new Date(waiting_since).toISOString();
  return `${recorded} ${waiting} settlements wait for their transaction, the oldest since ${since}: see settlement list of the command line`;
}
