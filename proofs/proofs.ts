import { faults } from './faults';
import { linearizable } from './linearizable';
import type { Proof } from './proof';

/** All proofs, in the order in which they run. */
export const PROOFS: readonly Proof[] = [linearizable, faults];
