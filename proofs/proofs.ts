import { alerts } from './alerts';
import { api } from './api';
import { crashPoints } from './crash';
import { dashboards } from './dashboards';
import { faults } from './faults';
import { interleavings } from './interleavings';
import { linearizable } from './linearizable';
import { lives } from './lives';
import { mutants } from './mutants';
import { mutation } from './mutation';
import { openOrders } from './open-orders';
import type { Proof } from './proof';
import { restore } from './restore';
import { secretsProof } from './secrets';
import { severalWorkers } from './several-workers';
import { steadyLoad } from './steady-load';
import { temporalLost } from './temporal-lost';
import { upgrade } from './upgrade';

/** All proofs, in the order in which they run. */
export const PROOFS: readonly Proof[] = [
  linearizable,
  crashPoints,
  faults,
  interleavings,
  lives,
  restore,
  temporalLost,
  severalWorkers,
  api,
  secretsProof,
  upgrade,
  openOrders,
  steadyLoad,
  alerts,
  dashboards,
  mutants,
  mutation,
];
