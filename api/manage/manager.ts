import type { ManageRoutes } from '../../src/contract/manage/manage-api';
import type { Actor } from '../../src/db/projects/audit-trail';
import type { Database } from '../../src/db/query';
import type { Role } from '../../src/db/projects/oauth-clients';
import { ServiceError } from '../../src/errors';
import type { SecretKeys } from '../../src/secrets';
import type { WorkflowClients } from '../../src/temporal/workflows';
import type { Caller, RequestContext, Operation, Operations } from '../operation';

/** Services of the operations of the bearer-token host; the command line calls them too. */

/** The caller: a client of the bearer-token host, or a user of the command line, who is an operator. */
export interface Manager extends Caller {
  readonly actor: Actor;
  readonly role: Role;
  /** Of a merchant's client: its merchant. */
  readonly merchant_id?: string | undefined;
}

export type ManageContext = RequestContext<Manager>;
export type ManageOperation<K extends keyof ManageRoutes> = Operation<ManageRoutes[K], Manager>;
export type ManageOperations = Operations<ManageRoutes, Manager>;

/** External services that operations use; made once when the process starts. */
export interface ManageServices {
  db: Database;
  secrets: SecretKeys;
  deliveries: Pick<WorkflowClients['deliveries'], 'start' | 'resume'>;
  webhook_recoveries: Pick<WorkflowClients['webhook_recoveries'], 'start' | 'resume'>;
  erasures: Pick<WorkflowClients['erasures'], 'start'>;
  incidents: Pick<WorkflowClients['incidents'], 'resume'>;
  /** Whether webhooks of test projects may go to private addresses. */
  webhook_private_addresses: boolean;
}

/** Throws Forbidden for a client of a merchant. */
export function requireOperator({ role }: Manager, what: string): void {
  if (role !== 'operator') throw new ServiceError('Forbidden', `Only a client with the role operator may ${what}.`);
}

/**
 * The object of the merchant `owner_id`, if the caller may see it. Throws NotFound if it does not exist, and also if it
 * belongs to another merchant, so that the caller does not learn that it exists (rules 21.6).
 */
export function requireOwn<T extends object>(
  { role, merchant_id }: Manager,
  object: T | undefined,
  owner_id: string | undefined,
  what: string,
): T {
  if (object === undefined || (role !== 'operator' && owner_id !== merchant_id)) {
    throw new ServiceError('NotFound', `The ${what} does not exist.`);
  }
  return object;
}
