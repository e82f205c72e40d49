import type { Database } from '../src/db/connection';
import type { Processor } from '../src/processor/client';
import type { FollowUps } from '../src/temporal/follow-ups';
import type { Orders } from '../src/temporal/orders';

/** External services that operations use; made once when the API starts. */
export interface Services {
  db: Database;
  orders: Orders;
  follow_ups: FollowUps;
  processor: Processor;
  /** Address at which customers reach the hosted page, without a slash at its end. */
  public_url: string;
  /** Whether webhooks of test projects may go to private addresses. */
  webhook_private_addresses: boolean;
}
