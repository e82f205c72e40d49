import { api } from './api';
import { crashPoints } from './crash';
import { interleavings } from './interleavings';
import { mutants } from './mutants';
import { mutation } from './mutation';
import type { Proof } from './proof';
import { secrets } from './secrets';
import { upgrade } from './upgrade';

/** All proofs, in the order in which they run. */
export const PROOFS: readonly Proof[] = [crashPoints, interleavings, api, secrets, upgrade, mutants, mutation];
