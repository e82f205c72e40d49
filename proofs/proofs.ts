import { crashPoints } from './crash/index';
import { interleavings } from './interleavings/index';
import type { Proof } from './proof';

/** All proofs, in the order in which they run. */
export const PROOFS: readonly Proof[] = [crashPoints, interleavings];
