import { setHandler, type ApplicationFailure } from '@temporalio/workflow';
import { mayCancel, paymentObstacle, type PaymentObstacle } from '../src/domain/order';
import {
  awaitsOutcome,
  lastTransaction,
  orderFacts,
  paymentExpiresAt,
  transactionOf,
  type OrderRecord,
} from '../src/domain/order-record';
import { ORDER_MOVES, isFinal } from '../src/domain/transitions';
import { ServiceError, tooLate } from '../src/errors';
import { local } from './activities';
import {
  cancelOrder,
  captureOrVoid,
  clockMoved,
  createOrder,
  pollNow,
  processorAnswered,
  recordChanged,
  settleByHand,
  submitPayment,
  type CancelOrderInput,
  type CaptureOrVoidInput,
  type CreateOrderInput,
  type SettleByHandInput,
  type SubmitPaymentInput,
} from './messages';
import { requireSame, setUpdateHandler } from './inputs';
import { SETTLE_BY_HAND, inWords } from './operator-view';
import type { OrderState } from './order-state';
import { notAwaited, refusal } from './refusal';

/** Sets what an order does with its updates and signals. Updates change the order one at a time. */
export function setOrderHandlers(state: OrderState): void {
  const { inTurn } = state;
  setUpdateHandler(
    createOrder,
    async (input) => {
      state.creationRequested = true;
      await inTurn(() => create(state, input));
    },
    {
      refuse: ({ order }) => requireSame('order.id', order.id, state.order_id),
      description: 'Writes the order and, with a card token, charges it.',
    },
  );
  setUpdateHandler(submitPayment, (input) => inTurn(() => pay(state, input)), {
    description: 'Charges one payment attempt of the hosted page.',
  });
  setUpdateHandler(cancelOrder, (input) => inTurn(() => cancel(state, input)), {
    description: 'Cancels an unpaid order, unless the processor says that it was paid.',
  });
  setUpdateHandler(captureOrVoid, (input) => inTurn(() => captureOrVoidReserved(state, input)), {
    refuse: ({ original_order_id }) => requireSame('original_order_id', original_order_id, state.order_id),
    description: 'Sets the amount of a capture or void aside and starts its workflow.',
  });
  setHandler(pollNow, () => inTurn(() => poll(state)), {
    description: 'Asks the processor for the outcome now. Answers what the order waits for then. Always safe.',
  });
  setUpdateHandler(settleByHand, (settlement) => inTurn(() => settle(state, settlement)), {
    description: SETTLE_BY_HAND,
  });
  setHandler(
    processorAnswered,
    () => {
      state.pollRequested = true;
    },
    { description: 'The processor may have an outcome: ask it now.' },
  );
  setHandler(clockMoved, () => state.readClock(), {
    description: 'The sandbox clock of the order was moved.',
  });
  setHandler(
    recordChanged,
    () => {
      state.recordIsStale = true;
    },
    { description: 'The record is ahead of this workflow: read it again.' },
  );
}

async function create(state: OrderState, input: CreateOrderInput): Promise<void> {
  if (state.record !== undefined) return;
  if (state.refused) throw refusal(tooLate());
  if (input.payment_link !== undefined && input.payment_link.clock_offset_ms > 0) {
    const { id: payment_link_id } = input.payment_link;
    await state.clock.refresh(async () => (await local.findPaymentLink({ payment_link_id }))?.clock_offset_ms);
  }
  const request = { ...input, now: state.clock.now() };
  try {
    state.applyRecord(
      input.order.charged_by === 'token' ? await local.createAndCharge(request) : await local.createOrder(request),
    );
  } catch (failure) {
    state.refused = true;
    throw failure;
  }
}

async function pay(state: OrderState, input: SubmitPaymentInput): Promise<void> {
  await state.findRecord();
  state.lateApproval.mayHaveCharged = true;
  const order = await state.expireIfDue();
  const obstacle = paymentObstacle({
    ...orderFacts(order),
    expires_at: paymentExpiresAt(order),
    now: state.clock.now(),
    attempt: input.transaction.attempt,
  });
  // The same form sent again is the payment that it began.
  const { attempt: last_attempt, status } = lastTransaction(order) ?? {};
  if (obstacle === 'already_started' && last_attempt === input.transaction.attempt && status !== 'new') return;
  if (obstacle !== undefined) throw refusal(new ServiceError('TransactionAlreadyStarted', OBSTACLES[obstacle]));
  state.applyRecord(await local.chargeAttempt({ ...input, order, now: state.clock.now() }));
}

const OBSTACLES: Record<PaymentObstacle, string> = {
  already_started: 'This payment attempt has started already.',
  no_attempt_left: 'The order has no payment attempt left.',
  ended: 'The order cannot be paid any more.',
};

async function cancel(state: OrderState, { source, versions }: CancelOrderInput): Promise<void> {
  await state.findRecord();
  const order = await state.expireIfDue();
  if (order.status === 'cancelled') return;
  if (!mayCancel(order.status, lastTransaction(order)?.status)) throw canNotCancel(order);
  const now = state.clock.now();
  state.applyRecord(await local.endUnpaidOrder({ order, ended: 'cancelled', source, versions, now }));
  // The activity asks the processor first, which may have charged the order.
  const after = state.requireRecord();
  if (after.status !== 'cancelled') throw canNotCancel(after);
}

function canNotCancel(order: OrderRecord): ApplicationFailure {
  const why = isFinal(ORDER_MOVES, order.status) ? '' : ' and the outcome of its payment is awaited';
  return refusal(new ServiceError('CanNotCancelTransaction', `The order is ${order.status}${why}.`));
}

async function captureOrVoidReserved(state: OrderState, input: CaptureOrVoidInput): Promise<void> {
  // Temporal may have lost the workflow that held the order: go on from the record.
  await state.findRecord();
  state.requireRecord();
  state.applyRecord(await local.startCaptureOrVoid({ ...input, now: state.clock.now() }));
}

async function poll(state: OrderState): Promise<string> {
  await state.findRecord();
  const last = lastTransaction(state.requireRecord());
  if (last !== undefined) await state.pollCharge(last.id);
  return inWords(state.requireRecord());
}

async function settle(state: OrderState, settlement: SettleByHandInput): Promise<string> {
  const before = await poll(state);
  const order = state.requireRecord();
  const transaction_id = lastTransaction(order)?.id;
  if (transaction_id === undefined || !awaitsOutcome(order)) throw notAwaited(before);
  // The operator may mean an earlier attempt, whose outcome is known.
  if (settlement.transaction_id !== transaction_id) throw notAwaited(before);
  const { order_id, clock } = state;
  const after = await local.settleCharge({ order_id, transaction_id, settlement, now: clock.now() });
  state.applyRecord(after);
  const settled = transactionOf(after, transaction_id);
  if (settled?.settled_by_hand !== true) throw notAwaited(inWords(after));
  // The processor may have approved it: that is given back.
  if (settled.status === 'error') await state.lateApproval.watchAbandoned(after, transaction_id);
  return inWords(after);
}
