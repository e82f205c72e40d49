import { Context } from '@temporalio/activity';
import { recordAttention } from '../src/db/recovery/attentions';
import { RECORD_LOST } from '../src/domain/attention';
import { auditPart } from './audit';
import { eraseNext } from './erasure';
import { withFailures } from './failure';
import * as followUp from './follow-up';
import * as incident from './incident';
import * as order from './order';
import * as paymentLink from './payment-link';
import * as receiverCheck from './receiver-check';
import * as sandboxClock from './sandbox-clock';
import { checkIndex } from './search-index';
import type { ActivityServices } from './services';
import * as setOutcome from './manual-outcome';
import { fetchSettlements } from './settlements';
import * as webhookDelivery from './webhook-delivery';
import { readWebhookRecovery, recoverWebhooks } from './webhook-recovery';

/**
 * Every function that these files export is an activity. It takes the worker's services and its input, and is safe to
 * repeat.
 */
const ACTIVITIES = {
  ...order,
  ...followUp,
  ...setOutcome,
  ...paymentLink,
  ...webhookDelivery,
  ...sandboxClock,
  ...incident,
  readWebhookRecovery,
  recoverWebhooks,
  eraseNext,
  ...receiverCheck,
};

/** The local activities that call the processor and wait for its answer. */
export const PROCESSOR_CALLS = [
  'createAndCharge',
  'chargeAttempt',
  'endUnpaidOrder',
  'pollDeclined',
  'executeFollowUp',
  'verifyManualOutcome',
] as const satisfies (keyof typeof ACTIVITIES)[];

/** Started by schedules: every error is retried, including a refusal of the processor or the search server. */
const SCHEDULED = { checkIndex, fetchSettlements, auditPart };

/** The activities of a worker, with its services. */
export function createActivities(services: ActivityServices): Activities {
  const onRecordLost = () => {
    const { workflowId: id } = Context.current().info.workflowExecution!;
    return recordAttention(services.db, { kind: 'workflow', id }, RECORD_LOST);
  };
  return { ...withFailures(withServices(ACTIVITIES, services), onRecordLost), ...withServices(SCHEDULED, services) };
}

/** The activities as workflows see them. */
export type Activities = WithServices<typeof ACTIVITIES> & WithServices<typeof SCHEDULED>;

type WithServices<Functions> = {
  [Name in keyof Functions]: Functions[Name] extends (services: never, ...input: infer Input) => infer Result
    ? (...input: Input) => Result
    : never;
};

function withServices<Functions extends Record<string, (services: ActivityServices, input: never) => Promise<unknown>>>(
  functions: Functions,
  services: ActivityServices,
): WithServices<Functions> {
  return Object.fromEntries(
    Object.entries(functions).map(([name, run]) => [name, (input: never) => run(services, input)]),
  ) as WithServices<Functions>;
}
