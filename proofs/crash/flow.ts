import type { CrashActor } from './actor';

/** Something that a merchant, a customer or an operator does, from the first request to the end. */
export interface Flow {
  name: string;
  /** Statuses of its payment orders and links, then what the processor has done, whatever is killed. */
  ends: string;
  act: (actor: CrashActor) => Promise<unknown>;
  /** How many webhooks in a row the receiver refuses; absent: none. */
  refused_webhooks?: number;
  /** The calls of the indexer are numbered too, so no other flow runs beside it. */
  with_index?: boolean;
}

export const SALE = 'sale approved 1000';
export const AUTHORIZED = 'authorize approved 1000';
export const MANUAL = { capture_mode: 'manual' };
