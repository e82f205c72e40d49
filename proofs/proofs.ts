import { mutants } from './mutants';
import { mutation } from './mutation';
import type { Proof } from './proof';

/** All proofs, in the order in which they run. */
export const PROOFS: readonly Proof[] = [mutants, mutation];
