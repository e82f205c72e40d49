import { MANAGE_API, type ManageRoutes } from '../../../src/contract/manage/manage-api';
import type { Route } from '../../../src/contract/routes';
import { requireOperator, type ManageContext, type ManageOperations, type ManageServices } from '../manager';
import { apiKeyOperations } from './api-keys';
import { clientOperations } from './clients';
import { deliveryOperations } from './deliveries';
import { erasureOperations } from './erasures';
import { historyOperations } from './history';
import { incidentOperations } from './incidents';
import { merchantOperations } from './merchants';
import { projectOperations } from './projects';
import { webhookRecoveryOperations } from './webhook-recoveries';

/** Every operation of the bearer-token host; those for operators refuse others before anything else (rules 21.6). */
export function createManageOperations(services: ManageServices): ManageOperations {
  const operations: ManageOperations = {
    ...merchantOperations(services),
    ...projectOperations(services),
    ...apiKeyOperations(services),
    ...clientOperations(services),
    ...deliveryOperations(services),
    ...webhookRecoveryOperations(services),
    ...erasureOperations(services),
    ...incidentOperations(services),
    ...historyOperations(services),
  };
  const guarded = Object.entries(operations).map(([id, operation]) => {
    const route: Route = MANAGE_API.routes[id as keyof ManageRoutes];
    return [id, route.operators_only ? forOperators(operation as AnyOperation) : operation];
  });
  return Object.fromEntries(guarded) as ManageOperations;
}

type AnyOperation = (context: ManageContext, input: unknown) => Promise<unknown>;

function forOperators(operation: AnyOperation): AnyOperation {
  return async (context, input) => {
    requireOperator(context.caller, 'do this');
    return await operation(context, input);
  };
}
