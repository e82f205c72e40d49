import type { MerchantRoutes } from '../src/contract/merchant-api';
import type { Database } from '../src/db/query';
import { findStoredOrder, type StoredOrder } from '../src/db/orders/stored-order';
import { findStoredPaymentLink, type StoredPaymentLink } from '../src/db/payment-links';
import type { Actor } from '../src/db/projects/audit-trail';
import type { Project } from '../src/db/projects/projects';
import { findWebhookRecovery, type StoredWebhookRecovery } from '../src/db/webhooks/recoveries';
import type { RetentionDays } from '../src/domain/retention';
import { ServiceError, preconditionFailed } from '../src/errors';
import type { Processor } from '../src/processor/client';
import type { SearchReader } from '../src/search/reader';
import type { WorkflowClients } from '../src/temporal/workflows';
import type { BulkReads } from './large-answers/bulk-reads';
import type { EventWaits } from './requests/event-waits';
import type { OrderWaits } from './requests/order-waits';
import type { Caller, RequestContext, Operation, Operations } from './operation';

/** Services of the operations of the merchants' API. */

/** A merchant's system, by the API key of a project. */
export interface ProjectCaller extends Caller {
  readonly project: Project;
  /** The API key. */
  readonly actor: Actor;
}

export type MerchantContext = RequestContext<ProjectCaller>;
/** Checks the request; a write returns its work, a read its answer. */
export type MerchantOperation<K extends keyof MerchantRoutes> = Operation<MerchantRoutes[K], ProjectCaller>;
export type MerchantOperations = Operations<MerchantRoutes, ProjectCaller>;

/** External services that operations use; made once when the API starts. */
export interface MerchantServices extends Pick<
  WorkflowClients,
  'orders' | 'follow_ups' | 'payment_links' | 'sandbox_clocks'
> {
  db: Database;
  /** For reads of many rows. */
  bulk: BulkReads;
  deliveries: Pick<WorkflowClients['deliveries'], 'start'>;
  webhook_recoveries: Pick<WorkflowClients['webhook_recoveries'], 'start' | 'resume'>;
  receiver_checks: Pick<WorkflowClients['receiver_checks'], 'start'>;
  processor: Processor;
  search: SearchReader;
  order_waits: Pick<OrderWaits, 'read'>;
  event_waits: Pick<EventWaits, 'read'>;
  /** Address at which customers reach the hosted page, without a slash at its end. */
  public_url: string;
  /** Whether webhooks of test projects may go to private addresses. */
  webhook_private_addresses: boolean;
  /** How long what is not part of the record is kept (rules 29.1). */
  retention_days: RetentionDays;
}

/**
 * The order of the path. Throws NotFound, Unauthorized for an order of another project, and PreconditionFailed at a
 * version that If-Match does not allow. A repeat passes: its first run may have made the version, and what is written
 * checks it again.
 */
export async function requireRequestedOrder(
  { db }: Pick<MerchantServices, 'db'>,
  context: PathContext,
  order_id: string,
): Promise<StoredOrder> {
  return requireUnchanged(context, await findStoredOrder(db, order_id), 'The order does not exist.');
}

/** The payment link of the path. Throws as requireRequestedOrder does. */
export async function requireRequestedPaymentLink(
  { db }: Pick<MerchantServices, 'db'>,
  context: PathContext,
  payment_link_id: string,
): Promise<StoredPaymentLink> {
  const link = await findStoredPaymentLink(db, payment_link_id);
  return requireUnchanged(context, link, 'The payment link does not exist.');
}

/** The recovery of webhooks of the path. Throws NotFound, and Unauthorized for one of another project. */
export async function requireRequestedRecovery(
  { db }: Pick<MerchantServices, 'db'>,
  { caller }: Pick<MerchantContext, 'caller'>,
  recovery_id: string,
): Promise<StoredWebhookRecovery> {
  return requireOfProject(caller, await findWebhookRecovery(db, recovery_id), 'The recovery does not exist.');
}

/** What was found, when it is of the caller's project. Throws NotFound with the text `missing`, and Unauthorized. */
export function requireOfProject<Found extends { project_id: string | null }>(
  { project }: MerchantContext['caller'],
  found: Found | undefined,
  missing: string,
): Found {
  if (found === undefined) throw new ServiceError('NotFound', missing);
  if (found.project_id !== project.id) throw new ServiceError('Unauthorized', 'The API key is of another project.');
  return found;
}

type PathContext = Pick<MerchantContext, 'caller' | 'request'>;

/** As requireOfProject, in the version that the request expects. Throws PreconditionFailed too. */
function requireUnchanged<Stored extends { project_id: string; version: number }>(
  { caller, request }: PathContext,
  found: Stored | undefined,
  missing: string,
): Stored {
  const view = requireOfProject(caller, found, missing);
  if (!request.is_repeat && request.versions?.includes(view.version) === false) throw preconditionFailed();
  return view;
}
