import type { Database } from '../../src/db/query';
import {
  eventsAfter,
  currentPosition,
  projectsWithEvents,
  type EventsAfter,
  type KnownEvents,
} from '../../src/db/webhooks/events';
import type { Logger } from '../../src/log';
import type { WaitPreference } from '../operation';
import { WaitingRequests, type WaitingPlaces } from './waiting-requests';

/** The requests of this process that wait for webhook events of their project (rules 13.19). */
export class EventWaits {
  private readonly waits: WaitingRequests<KnownEvents>;

  constructor(
    private readonly db: Database,
    log: Logger,
    places: WaitingPlaces,
  ) {
    this.waits = new WaitingRequests('webhook events', (known) => projectsWithEvents(db, known), log, places);
  }

  /** The events after a position; if there are none and the request prefers to wait, once there is one. */
  async read(wait: WaitPreference | undefined, given: KnownEvents, limit: number): Promise<EventsAfter> {
    const known = await this.atMostCurrent(given);
    const found = await eventsAfter(this.db, known, limit);
    if (wait === undefined) return found;
    if (found.events.length > 0) {
      wait.apply();
      return found;
    }
    const changed = this.waits.begin(known.project_id, known, wait);
    if (changed === undefined) return found;
    await changed;
    return await eventsAfter(this.db, known, limit);
  }

  /** A position that is later than now was given before the record was restored from a backup: it becomes now. */
  private async atMostCurrent(known: KnownEvents): Promise<KnownEvents> {
    const current = await currentPosition(this.db);
    return BigInt(known.xid) > BigInt(current.xid) ? { ...known, ...current } : known;
  }

  /** Ends all waits, and lets no further one begin. */
  async close(): Promise<void> {
    await this.waits.close();
  }
}
