import type { Database } from '../src/db/connection';
import type { Processor } from '../src/processor/client';
import type { FollowUps } from './follow-ups';
import type { Orders } from './orders';

/** What use cases reach the world with; made once by the api's main. */
export interface Services {
  db: Database;
  orders: Orders;
  follow_ups: FollowUps;
  processor: Processor;
  /** Address customers reach the hosted page at, without a slash at its end. */
  public_url: string;
  /** Whether webhooks of test projects may go to private addresses. */
  webhook_private_addresses: boolean;
}
