import { mayCancel, paymentObstacle, canNotCancel, type PaymentObstacle } from '../src/domain/order';
import { latestAttempt, orderFacts, paymentExpiresAt, type OrderSnapshot } from '../src/domain/order-snapshot';
import { ServiceError } from '../src/errors';
import { localActivities } from './activities';
import {
  cancelOrderUpdate,
  captureOrVoidUpdate,
  createOrderUpdate,
  submitPaymentUpdate,
  type CancelOrderInput,
  type CaptureOrVoidInput,
  type CreateOrderInput,
  type SubmitPaymentInput,
} from './messages';
import { requireSame, setUpdateHandler } from './inputs';
import type { OrderState } from './order-state';
import { refusal } from './refusal';

/** Sets the handlers of an order's updates and signals. Updates change the order one at a time. */
export function setOrderHandlers(state: OrderState): void {
  state.setSignalHandlers();
  state.outcome.setHandlers();
  setUpdateHandler(createOrderUpdate, (input) => state.create(() => create(state, input)), {
    refuse: ({ order }) => requireSame('order.id', order.id, state.order_id),
    description: 'Writes the order and, with a card token, charges it.',
  });
  setUpdateHandler(submitPaymentUpdate, (input) => state.update(() => pay(state, input)), {
    description: 'Charges one payment attempt of the hosted page.',
  });
  setUpdateHandler(cancelOrderUpdate, (input) => state.update(() => cancel(state, input)), {
    description: 'Cancels an unpaid order, unless the processor says that it was paid.',
  });
  setUpdateHandler(captureOrVoidUpdate, (input) => state.update(() => captureOrVoidReserved(state, input)), {
    refuse: ({ original_order_id }) => requireSame('original_order_id', original_order_id, state.order_id),
    description: 'Sets the amount of a capture or void aside and starts its workflow.',
  });
}

async function create({ clock }: OrderState, input: CreateOrderInput): Promise<OrderSnapshot> {
  const request = { ...input, now: clock.now() };
  return input.order.charged_by === 'token'
    ? await localActivities.createAndCharge(request)
    : await localActivities.writeOrder(request);
}

async function pay(state: OrderState, input: SubmitPaymentInput): Promise<void> {
  const { attempt } = input.transaction;
  const obstacle = await obstacleTo(state, (order) => {
    const facts = { ...orderFacts(order), expires_at: paymentExpiresAt(order), now: state.clock.now() };
    const found = paymentObstacle({ ...facts, attempt });
    // A repeated form submission joins the payment that the first one began.
    return found === 'already_started' && hasBegun(order, attempt) ? undefined : found;
  });
  if (obstacle !== undefined) throw refusal(new ServiceError('TransactionAlreadyStarted', OBSTACLES[obstacle]));
  const order = state.requireRecord();
  if (hasBegun(order, attempt)) return;
  state.applyRecord(await localActivities.chargeAttempt({ ...input, order, now: state.clock.now() }));
}

/** Whether the last attempt of an order is this one, and has begun. */
function hasBegun(order: OrderSnapshot, attempt: number): boolean {
  const last = latestAttempt(order);
  return last?.attempt === attempt && last.status !== 'new';
}

/**
 * What refuses an update of the order; undefined: nothing. A refusal is decided again by the record as it is now: it may
 * have changes of which the workflow knows nothing, as their requests were lost with Temporal's memory.
 */
async function obstacleTo<Obstacle>(
  state: OrderState,
  find: (order: OrderSnapshot) => Obstacle | undefined,
): Promise<Obstacle | undefined> {
  await state.readRecord();
  const obstacle = find(await state.expireIfDue());
  if (obstacle === undefined) return undefined;
  state.requestReading();
  await state.readRecord();
  return find(await state.expireIfDue());
}

const OBSTACLES: Record<PaymentObstacle, string> = {
  already_started: 'This payment attempt has started already.',
  no_attempt_left: 'The order has no payment attempt left.',
  ended: 'The order cannot be paid any more.',
};

async function cancel(state: OrderState, { source, request }: CancelOrderInput): Promise<void> {
  const obstacle = await obstacleTo(state, (order) =>
    order.status === 'cancelled' || mayCancel(order.status, latestAttempt(order)?.status)
      ? undefined
      : refusal(canNotCancel(order.status)),
  );
  if (obstacle !== undefined) throw obstacle;
  const order = state.requireRecord();
  if (order.status === 'cancelled') return;
  const now = state.clock.now();
  state.applyRecord(
    await localActivities.endUnpaidOrder({ order, ended: 'cancelled', source, versions: request.versions, now }),
  );
  // The activity polls the processor first, which may have charged the order, or not answer.
  const after = state.requireRecord();
  if (after.status === 'cancelled') return;
  throw mayCancel(after.status, latestAttempt(after)?.status) ? notCancelledYet() : refusal(canNotCancel(after.status));
}

/** Nothing is decided: the cancellation may be sent again (rules 10.10). */
const notCancelledYet = () =>
  refusal(
    new ServiceError(
      'ServiceUnavailable',
      'The order is not cancelled yet: the processor does not say whether it is paid.',
    ),
  );

async function captureOrVoidReserved(state: OrderState, input: CaptureOrVoidInput): Promise<void> {
  // Temporal may have lost the earlier workflow: continue from the record.
  await state.readRecord();
  state.requireRecord();
  state.applyRecord(await localActivities.startCaptureOrVoid({ ...input, now: state.clock.now() }));
}
