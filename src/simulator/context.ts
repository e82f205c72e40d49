import type { Logger } from '../log';
import type { Faults } from './faults';
import type { Store } from './store';

/** The services of the simulator's routes. */
export interface SimulatorContext {
  readonly store: Store;
  readonly faults: Faults;
  readonly log: Logger;
  /** Address without trailing slash at which a customer's browser reaches the simulator. */
  readonly public_url: string;
  /** Executes due late outcomes and chargebacks, but not their notifications. */
  readonly doDue: () => Promise<void>;
  /** Starts a round now instead of at the next interval. */
  readonly wake: () => void;
}
