import { HttpError, ok, type RequestOpts } from '@oazapfts/runtime';
import { fetchWhole } from './connection.js';
import { searchOrders, type Order, type SearchRequest, type SearchResult } from './api.js';

/**
 * All orders that match a query, read page by page; `size` is the page size. Sorted by `created` or `amount`, each
 * order that could be found at the beginning comes once. Throws HttpError.
 */
export async function* findOrders(
  request: Omit<SearchRequest, 'start' | 'search_after'>,
  project: RequestOpts,
): AsyncGenerator<Order, void, undefined> {
  let search_after: string | undefined = '-1';
  while (search_after !== undefined) {
    const page: SearchResult = await ok(searchOrders({ searchRequest: { ...request, search_after } }, project));
    yield* page.orders;
    search_after = page.sort;
  }
}

/**
 * The transaction report of the orders that meet a query: a CSV file as a stream of bytes, as fast as it is read.
 * Throws HttpError; the stream fails when the file could not be sent to its end.
 */
export async function downloadReport(
  request: Pick<SearchRequest, 'query' | 'sort'>,
  { baseUrl = '', headers, fetch: given = fetch, ...options }: RequestOpts,
): Promise<ReadableStream<Uint8Array>> {
  const send = given === fetchWhole ? fetch : given;
  const response = await send(`${baseUrl}/v1/search/orders/?format=csv`, {
    ...options,
    method: 'POST',
    headers: { ...(headers as Record<string, string>), 'Content-Type': 'application/json' },
    body: JSON.stringify(request),
  });
  if (response.ok && response.body !== null) return response.body;
  throw new HttpError(response.status, dataOf(await response.text()), response.headers);
}

/** The error of the service; the text as it is when a proxy has answered instead. */
function dataOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
