import type { Client } from '@temporalio/client';
import type { Database } from '../src/db/connection';
import type { Logger } from '../src/log';
import type { Processor } from '../src/processor/client';
import type { PostWebhook } from '../src/webhook/post';

/** What activities reach the world with; made once by the worker's main. */
export interface Services {
  db: Database;
  processor: Processor;
  client: Client;
  postWebhook: PostWebhook;
  /** Whether webhooks of test projects may go to private and loopback addresses. */
  webhook_private_addresses: boolean;
  /** Address customers reach the hosted page at. */
  public_url: string;
  log: Logger;
}
