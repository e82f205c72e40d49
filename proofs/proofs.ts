import { api } from './api';
import { mutants } from './mutants';
import { mutation } from './mutation';
import type { Proof } from './proof';
import { secrets } from './secrets';
import { upgrade } from './upgrade';

/** All proofs, in the order in which they run. */
export const PROOFS: readonly Proof[] = [api, secrets, upgrade, mutants, mutation];
