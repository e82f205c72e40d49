import { setImmediate } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { SEARCH_INDEX, recordAttention } from '../src/db/recovery/attentions';
import type { Database } from '../src/db/query';
import { reportRows } from '../src/db/search/report-rows';
import {
  addSearchChanges,
  allOrderIds,
  countSearchRefusals,
  existingOrders,
  waitingForSearch,
} from '../src/db/search/search-outbox';
import { indexAttention } from '../src/domain/attention';
import { SUBJECTS, rowOf } from '../src/domain/query/report';
import { documentOf, type Document } from '../src/search/documents';
import type { IndexedOrder, SearchWriter } from '../src/search/writer';
import type { ActivityServices } from './services';

/** Compares the search index with the record. Heartbeats carry the number of orders compared so far. */
export async function checkIndex({ db, index }: ActivityServices): Promise<SearchIndexCheck> {
  const context = Context.current();
  const check = await checkSearchIndex({
    db,
    index,
    onProgress(orders) {
      context.cancellationSignal.throwIfAborted();
      context.heartbeat({ orders });
    },
  });
  await recordAttention(db, SEARCH_INDEX, indexAttention(check.refused));
  return check;
}

/** Orders as the index should have them, in the order of the ids. */
export async function indexedOrders(db: Database, order_ids: readonly string[]): Promise<IndexedOrder[]> {
  const documents = new Map(order_ids.map((order_id) => [order_id, [] as Document[]]));
  const rows = await reportRows(db, order_ids, SUBJECTS);
  for (const [n, row] of rows.entries()) {
    documents.get(row.order_id)?.push(documentOf(rowOf(row), row));
    // Yields: the same process carries out payments.
    if (n % 100 === 99) await setImmediate();
  }
  return [...documents].map(([order_id, of]) => ({ order_id, documents: of }));
}

/** The result of comparing the index with the record. */
export interface SearchIndexCheck {
  /** Orders and rows that were compared. */
  orders: number;
  rows: number;
  /** Orders that the index lacks; that differ from the record; that the record does not have. All are written again. */
  missing: number;
  different: number;
  unknown: number;
  /** Orders that the index refuses. Searches find them once the reason is gone and they change, or after a rebuild. */
  refused: number;
}

interface CheckServices {
  db: Database;
  index: Pick<SearchWriter, 'documents' | 'orderIds' | 'count'>;
  /** Called from time to time with the orders compared so far; throws to stop. */
  onProgress?: (orders: number) => void;
}

/** Orders compared at a time. */
const PAGE = 1_000;

/**
 * Compares the index with the record row by row, and has the indexer write differing orders again. An order that waits
 * for the indexer does not count as different. Repeat-safe.
 */
export async function checkSearchIndex({ db, index, onProgress }: CheckServices): Promise<SearchIndexCheck> {
  const check: SearchIndexCheck = { orders: 0, rows: 0, missing: 0, different: 0, unknown: 0, refused: 0 };
  let found = 0;
  for await (const order_ids of allOrderIds(db, PAGE)) {
    const page = await comparePage(db, index, order_ids);
    check.orders += order_ids.length;
    found += page.found;
    for (const what of ['rows', 'missing', 'different'] as const) check[what] += page[what];
    onProgress?.(check.orders);
  }
  if ((await index.count()) > found) {
    for await (const order_ids of index.orderIds(PAGE * 10)) {
      const there = new Set(await existingOrders(db, order_ids));
      const unknown = [...new Set(order_ids.filter((order_id) => !there.has(order_id)))];
      check.unknown += unknown.length;
      if (unknown.length > 0) await addSearchChanges(db, unknown);
      onProgress?.(check.orders);
    }
  }
  return { ...check, refused: await countSearchRefusals(db) };
}

/** Compares some orders with the index, and has the indexer write differing ones again (checkSearchIndex). */
export async function comparePage(
  db: Database,
  index: Pick<SearchWriter, 'documents'>,
  order_ids: readonly string[],
): Promise<{ rows: number; found: number; missing: number; different: number }> {
  const orders = await indexedOrders(db, order_ids);
  const rows = orders.flatMap(({ documents }) => documents);
  const { differing, found } = await compare(index, orders);
  // Orders may have changed between the two reads: those that do not wait for the indexer are compared again.
  const again = (await notWaiting(db, differing)).map(({ order_id }) => order_id);
  const wrong = await notWaiting(db, (await compare(index, await indexedOrders(db, again))).differing);
  await addSearchChanges(
    db,
    wrong.map(({ order_id }) => order_id),
  );
  return {
    rows: rows.length,
    found,
    missing: wrong.filter(({ is_missing }) => is_missing).length,
    different: wrong.filter(({ is_missing }) => !is_missing).length,
  };
}

/** Leaves out the orders that wait for the indexer. */
async function notWaiting<Order extends { order_id: string }>(
  db: Database,
  orders: readonly Order[],
): Promise<Order[]> {
  // The table has no index by order: skip the read on pages without a difference, which are nearly all.
  if (orders.length === 0) return [];
  const waiting = await waitingForSearch(
    db,
    orders.map(({ order_id }) => order_id),
  );
  return orders.filter(({ order_id }) => !waiting.includes(order_id));
}

/** Orders that differ from the index or are missing there, and how many of their rows it has. */
async function compare(
  index: Pick<SearchWriter, 'documents'>,
  orders: readonly IndexedOrder[],
): Promise<{ differing: { order_id: string; is_missing: boolean }[]; found: number }> {
  const expected = orders.flatMap(({ documents }) => documents);
  const found = new Map((await index.documents(expected.map(({ pk }) => pk))).map((one) => [one.pk, one]));
  const differing = orders.flatMap(({ order_id, documents }) => {
    const there = documents.map(({ pk }) => found.get(pk));
    if (documents.every((document, row) => isSame(document, there[row]))) return [];
    return [{ order_id, is_missing: there.every((one) => one === undefined) }];
  });
  return { differing, found: found.size };
}

function isSame(expected: Document, found: Document | undefined): boolean {
  return found !== undefined && sorted(expected) === sorted(found);
}

const sorted = (document: Document) =>
  JSON.stringify(Object.entries(document).toSorted(([a], [b]) => (a < b ? -1 : 1)));
