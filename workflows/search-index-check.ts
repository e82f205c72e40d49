import { setCurrentDetails } from '@temporalio/workflow';
import type { SearchIndexCheck } from '../activities/search-index';
import { indexAttention } from '../src/domain/attention';
import { checking } from './activities';
import { upsertAttention } from './operator-view';

/**
 * Compares the search index with the record (rules 20.18). Started by a schedule, once a day. Returns the differences
 * that it found.
 */
export async function searchIndexCheck(): Promise<SearchIndexCheck> {
  setCurrentDetails('Compares the search index with the record. The pending activity shows how many orders are done.');
  const check = await checking.checkIndex();
  setCurrentDetails(describeCheck(check));
  upsertAttention(indexAttention(check.refused));
  return check;
}

/** The details in the Web UI. */
export function describeCheck({ orders, rows, missing, different, unknown, refused }: SearchIndexCheck): string {
  const wrong = missing + different + unknown;
  return [
    `Compared ${orders} orders with ${rows} rows.`,
    wrong === 0
      ? 'The index has all of them as the record has.'
      : `Written again: ${missing} that the index lacked, ${different} that it had otherwise, ${unknown} that do not exist.`,
    ...(refused === 0 ? [] : [`The index refuses ${refused} orders: see the table search_refusals.`]),
  ].join(' ');
}
