import { indexDifferences } from '../../test/support/record-differences';
import type { Invariant } from './invariant';

export const indexEqualsRecord: Invariant = {
  name: 'index',
  title: 'The search index equals the record, row by row.',
  eventual: true,
  // Throws while changes still wait for the index.
  violations: ({ stack }) => indexDifferences(stack).catch((error: unknown) => [String(error)]),
};
