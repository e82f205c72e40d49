import type { Settings } from 'meilisearch';
import { FIELDS, SEARCH_FIELD_NAMES, SORT_FIELDS, type Field } from '../domain/query/fields';

/** The index that answers searches. */
export const INDEX = 'orders';
/**
 * How the names begin of indexes that a rebuild fills before they change places with INDEX. Each rebuild has an index of
 * its own: a process that was paused before the swap finds its index removed, not that of the next rebuild.
 */
export const REBUILT_INDEX = 'orders_rebuilt';

/**
 * Time limit of the index for sorting one search, in milliseconds; longer than any client waits. Finding the rows has
 * no limit.
 */
export const CUTOFF_MS = 3_000;

const isCompared = ({ type }: Field) => type === 'integer' || type === 'decimal' || type === 'instant';
const COMPARED = SEARCH_FIELD_NAMES.filter((name) => isCompared(FIELDS[name]));

const filterable = (attributePatterns: readonly string[], comparison: boolean) => ({
  attributePatterns: [...attributePatterns],
  features: { facetSearch: false, filter: { equality: true, comparison } },
});

/**
 * Settings of the index. It filters and sorts and ranks nothing, so that a thousand changed rows are found after some
 * tenths of a second, not after six; each field that is filtered by costs a part of that time, and one that is compared
 * costs more.
 */
export const SETTINGS = {
  rankingRules: ['sort'],
  searchableAttributes: [],
  facetSearch: false,
  prefixSearch: 'disabled',
  typoTolerance: { enabled: false },
  proximityPrecision: 'byAttribute',
  // An answer that is cut off is unsorted without saying so, and a cursor would skip rows: the reader refuses it.
  searchCutoffMs: CUTOFF_MS,
  // It limits the total that is reported; how far a merchant may page is decided elsewhere.
  pagination: { maxTotalHits: 100_000_000 },
  filterableAttributes: [
    filterable([...COMPARED, 'order_sequence', 'row_sequence'], true),
    filterable([...SEARCH_FIELD_NAMES.filter((name) => !COMPARED.includes(name)), 'words', 'lead'], false),
  ],
  // Only the fields that answers need: decoding a whole document takes twice as long as finding it.
  displayedAttributes: ['pk', 'order_sequence', 'row_sequence', ...SORT_FIELDS],
  sortableAttributes: [...SORT_FIELDS, 'order_sequence', 'row_sequence'],
} satisfies Settings;
