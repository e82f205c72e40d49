import type { ApplicationFailure } from '@temporalio/workflow';
import { mayCancel, paymentObstacle, type PaymentObstacle } from '../src/domain/order';
import { lastTransaction, orderFacts, paymentExpiresAt, type OrderSnapshot } from '../src/domain/order-snapshot';
import { ORDER_MOVES, isFinal } from '../src/domain/transitions';
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
  await state.readRecord();
  const order = await state.expireIfDue();
  const obstacle = paymentObstacle({
    ...orderFacts(order),
    expires_at: paymentExpiresAt(order),
    now: state.clock.now(),
    attempt: input.transaction.attempt,
  });
  // A repeated form submission joins the payment that the first one began.
  const { attempt: last_attempt, status } = lastTransaction(order) ?? {};
  if (obstacle === 'already_started' && last_attempt === input.transaction.attempt && status !== 'new') return;
  if (obstacle !== undefined) throw refusal(new ServiceError('TransactionAlreadyStarted', OBSTACLES[obstacle]));
  state.applyRecord(await localActivities.chargeAttempt({ ...input, order, now: state.clock.now() }));
}

const OBSTACLES: Record<PaymentObstacle, string> = {
  already_started: 'This payment attempt has started already.',
  no_attempt_left: 'The order has no payment attempt left.',
  ended: 'The order cannot be paid any more.',
};

async function cancel(state: OrderState, { source, request }: CancelOrderInput): Promise<void> {
  await state.readRecord();
  const order = await state.expireIfDue();
  if (order.status === 'cancelled') return;
  if (!mayCancel(order.status, lastTransaction(order)?.status)) throw canNotCancel(order);
  const now = state.clock.now();
  state.applyRecord(
    await localActivities.endUnpaidOrder({ order, ended: 'cancelled', source, versions: request.versions, now }),
  );
  // The activity polls the processor first, which may have charged the order.
  const after = state.requireRecord();
  if (after.status !== 'cancelled') throw canNotCancel(after);
}

function canNotCancel(order: OrderSnapshot): ApplicationFailure {
  const why = isFinal(ORDER_MOVES, order.status) ? '' : ' and the outcome of its payment is awaited';
  return refusal(new ServiceError('CanNotCancelTransaction', `The order is ${order.status}${why}.`));
}

async function captureOrVoidReserved(state: OrderState, input: CaptureOrVoidInput): Promise<void> {
  // Temporal may have lost the earlier workflow: continue from the record.
  await state.readRecord();
  state.requireRecord();
  state.applyRecord(await localActivities.startCaptureOrVoid({ ...input, now: state.clock.now() }));
}
