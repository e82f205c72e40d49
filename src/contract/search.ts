import { z } from 'zod';
import { SORT_FIELDS } from '../domain/query/fields';
import { QUERY_LIMITS } from '../domain/query/parse';
import { orderSchema } from './order';
import type { Route } from './routes';
import { reference } from './scalars';

/** Orders on one page of search results: default and maximum. */
export const SEARCH_SIZE = { default: 20, max: 1_000 } as const;
/** Bytes of the orders in one answer, about: an order of the largest kind has 200 KiB. */
export const SEARCH_BYTES_MAX = 16 * 1_024 * 1_024;
/** How far `start` and `size` reach. */
export const SEARCH_REACH = 10_000;

/** Search of orders (rules 20). */
export const searchRequestSchema = z.object({
  query: z
    .string()
    .min(1)
    .max(QUERY_LIMITS.characters)
    .meta({ examples: ['status:completed created:[2026-01-01 TO 2026-01-31]'] })
    .describe('The query: `*` for every order, or conditions such as `status:completed amount:[1000 TO *]`.'),
  size: z
    .int()
    .min(1)
    .max(SEARCH_SIZE.max)
    .optional()
    .describe(`Orders on one page; ${SEARCH_SIZE.default} unless it is sent.`),
  start: z
    .int()
    .min(0)
    .optional()
    .describe(`Position of the first order. Pages with start reach the first ${SEARCH_REACH} orders.`),
  sort: reference()
    .optional()
    .meta({ examples: ['created desc'] })
    .describe(
      `One of ${SORT_FIELDS.join(', ')}, with \`asc\` (the default) or \`desc\`. \`created desc\` unless it is sent.`,
    ),
  search_after: z
    .union([reference(), z.int().min(-1).max(-1)])
    .optional()
    .describe(
      'For all pages, however many: `-1` with the first request, then `sort` of the answer before. Query, sort and size stay the same; `start` is not sent.',
    ),
});
export type SearchRequest = z.infer<typeof searchRequestSchema>;

export const searchResultSchema = z.strictObject({
  hits: z.int().min(0).describe('Orders that meet the query, on all pages.'),
  hits_is_estimate: z
    .literal(true)
    .optional()
    .describe(
      '`hits` is more than 50,000 and counts transactions: there are at most so many orders, and more than 10,000.',
    ),
  orders: z.array(orderSchema).describe('The orders of this page, as they are now, with all amounts in minor units.'),
  is_truncated: z
    .literal(true)
    .optional()
    .describe(
      'There are fewer orders than `size` because more would have been over 16 MiB of JSON: `sort` leads to the rest.',
    ),
  sort: z.string().optional().describe('The `search_after` of the next page; absent on the last one.'),
});
export type SearchResult = z.infer<typeof searchResultSchema>;

/** Finding orders. */
export const SEARCH_ROUTES = {
  searchOrders: {
    method: 'post',
    path: '/v1/search/orders/',
    summary: 'Search orders',
    description:
      'The orders that meet a query, found within a second of their last change. Pages with `start` and `size` reach the first 10,000 orders; with `search_after` a sequence of requests gets all of them, each once while nothing moves that it is sorted by.',
    // Strict: a misspelt format must not return a page instead of the report.
    query: z.strictObject({
      format: z
        .literal('csv')
        .optional()
        .describe('`csv` returns the transaction report of all orders found: a row for each transaction.'),
    }),
    body: searchRequestSchema,
    file: 'text/csv',
    stream: true,
    output: searchResultSchema,
    reads_only: true,
  },
} as const satisfies Record<string, Route>;
