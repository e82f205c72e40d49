import { ledgerDifferences } from '../../test/support/record-differences';
import type { Invariant } from './invariant';

export const ledgerInvariant: Invariant = {
  name: 'ledger',
  title: "The record equals the processor's ledger, operation by operation, and nothing is open.",
  eventual: true,
  violations: ({ stack, simulator_postgres_url }) => ledgerDifferences(stack, 0, simulator_postgres_url),
};
