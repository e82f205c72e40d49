import {
  FOLLOW_UP_WORKFLOW,
  type ORDER_WORKFLOW,
  PAYMENT_LINK_WORKFLOW,
  createOrderUpdate,
  objectIdOf,
  orderWorkflowId,
  type CreateOrderInput,
} from '../../../workflows/messages';
import { findStoredOrder } from '../../db/orders/stored-order';
import { findStoredPaymentLink } from '../../db/payment-links';
import { ORDER_MOVES, PAYMENT_LINK_MOVES, isFinal } from '../../domain/transitions';
import type { ReportedOperation } from '../../processor/wire';
import { sentInputs, type SeenWorkflow } from '../../temporal/sent-inputs';
import { isNeededByLater, restoreFollowUp, restoreInitiated, type SentToFollowUp } from './follow-up';
import { restoreOrder } from './order';
import { restorePaymentLink } from './payment-link';
import type { Missing, Restoration } from './restoration';
import { inputIn } from './sent-to-order';

/** What the record lacks after a restore, as the histories of the workflows and the processor say (rules 28.3). */

type Type = typeof PAYMENT_LINK_WORKFLOW | typeof ORDER_WORKFLOW | typeof FOLLOW_UP_WORKFLOW;

/** The object of a workflow, if the record lacks it or has it in a state that is not final. */
export async function missingOf(
  restoration: Restoration,
  type: Type,
  workflow: SeenWorkflow,
): Promise<Missing | undefined> {
  const { db, client } = restoration;
  const object = workflow.workflow_id;
  const id = objectIdOf(object);
  if (type === PAYMENT_LINK_WORKFLOW) {
    const link = await findStoredPaymentLink(db, id);
    if (link !== undefined && isFinal(PAYMENT_LINK_MOVES, link.status)) return undefined;
    const sent = await sentInputs(client, object);
    const write = () => restorePaymentLink(restoration, id, workflow, sent);
    return { object, in_turn_with: id, is_needed_by_later: true, write };
  }
  const stored = await findStoredOrder(db, id);
  if (stored !== undefined && isFinal(ORDER_MOVES, stored.status)) return undefined;
  const sent = await sentInputs(client, object);
  if (type === FOLLOW_UP_WORKFLOW) {
    const follow_up = sent as SentToFollowUp;
    const write = () => restoreFollowUp(restoration, id, workflow, follow_up);
    const is_needed_by_later = isNeededByLater(restoration, id, follow_up);
    return { object, in_turn_with: follow_up.start.original_order_id, is_needed_by_later, write };
  }
  const creation = inputIn<CreateOrderInput>(sent.updates, createOrderUpdate.name);
  const write = () => restoreOrder(restoration, id, workflow, sent);
  // Attempts of a link: one that had failed and is left for a person was no obstacle for the next payer.
  return { object, in_turn_with: creation?.payment_link?.id ?? id, is_needed_by_later: false, write };
}

/** An operation that the processor has initiated, as an object that the record may lack. */
export function missingInitiated(restoration: Restoration, operation: ReportedOperation): Missing {
  const { order_id } = operation;
  const write = () => restoreInitiated(restoration, operation);
  return { object: orderWorkflowId(order_id), in_turn_with: order_id, is_needed_by_later: true, write };
}
