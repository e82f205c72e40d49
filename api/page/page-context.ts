import type { Request } from 'express';
import type { Database } from '../../src/db/connection';
import type { OrderView } from '../../src/db/order-view';
import type { Logger } from '../../src/log';
import type { Processor } from '../../src/processor/client';
import type { TestCard } from '../../src/processor/wire';
import type { Orders } from '../../src/temporal/orders';
import type { ProcessorNotifications } from '../../src/temporal/processor-notifications';
import type { Show } from './show';

/** External services and settings that the page uses. */
export interface PageServices {
  db: Database;
  orders: Orders;
  processor_notifications: Pick<ProcessorNotifications, 'customerReturned'>;
  processor: Processor;
  /** Address at which customers reach the pages, without a slash at its end. */
  public_url: string;
  /** Signs the forms; the same on every api process. */
  page_secret: string;
  /** Milliseconds until a form is answered, with the outcome or without. */
  deadline_ms: number;
  log: Logger;
}

/** What the page's handlers share. */
export interface PageContext {
  services: PageServices;
  /** The order of the path. Throws NotFound. */
  orderOf: (request: Request) => Promise<OrderView>;
  /** Throws Forbidden for a form that no page of ours sent. */
  requireOurForm: (request: Request) => void;
  show: Show;
  testCards: () => Promise<readonly TestCard[]>;
}
