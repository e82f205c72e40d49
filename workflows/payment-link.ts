import { allHandlersFinished, condition } from '@temporalio/workflow';
import { isExpired } from '../src/domain/order';
import { isLinkDue, type PaymentLinkSnapshot } from '../src/domain/payment-link';
import { PAYMENT_LINK_MOVES, isFinal } from '../src/domain/transitions';
import { localActivities } from './activities';
import { createPaymentLinkUpdate, endPaymentLinkUpdate, type PaymentLinkInput } from './messages';
import { requireSame, setUpdateHandler } from './inputs';
import { RecordedObject } from './object/recorded-object';
import { showPaymentLink } from './payment-link-details';

type PaymentLinkState = RecordedObject<PaymentLinkSnapshot>;

/**
 * The life of one payment link, from its creation to its final status (rules 19). Its payments are orders, each with a
 * workflow of its own: the SQL that writes or moves such an order also decides about the link and moves it, then the
 * order's workflow signals this one, which reads the record and shows it. The end of the link is a timer or an update.
 * The record may be ahead at any time, so every change is guarded by its SQL. Returns the final status, or `refused`.
 */
export async function paymentLink({ payment_link_id, continued }: PaymentLinkInput): Promise<string> {
  const state: PaymentLinkState = new RecordedObject({
    name: 'payment link',
    find: (must_exist) => localActivities.readPaymentLink({ payment_link_id, must_exist }),
    show: showPaymentLink,
    must_exist: continued ?? false,
  });
  setHandlers(state, payment_link_id);
  await state.waitForCreation();

  while (state.record !== undefined && !isFinal(PAYMENT_LINK_MOVES, state.record.status)) {
    if (state.needsNewRun) {
      // A link is open for months; nothing of its run but its id is needed.
      await state.continueInNewRun<PaymentLinkInput>(() => ({ payment_link_id, continued: true }), { upgrade: true });
    }
    if (state.recordIsStale) await state.refreshRecord();
    else if (isLinkDue(state.record, state.clock.now())) {
      await state.change(() => localActivities.expirePaymentLink({ payment_link_id, now: state.clock.now() }));
    } else await waitForChange(state);
  }

  await condition(allHandlersFinished);
  return state.record?.status ?? 'refused';
}

function setHandlers(state: PaymentLinkState, payment_link_id: string): void {
  const { clock } = state;
  state.setSignalHandlers();
  setUpdateHandler(
    createPaymentLinkUpdate,
    (input) => state.create(() => localActivities.writePaymentLink({ ...input, now: clock.now() })),
    {
      refuse: ({ payment_link }) => requireSame('payment_link.id', payment_link.id, payment_link_id),
      description: 'Writes the payment link.',
    },
  );
  setUpdateHandler(
    endPaymentLinkUpdate,
    async ({ request }) => {
      await state.update(async () => {
        await state.readRecord();
        state.requireRecord();
        const end = { payment_link_id, versions: request.versions, now: clock.now() };
        state.applyRecord(await localActivities.writePaymentLinkEnd(end));
      });
    },
    { description: 'Ends the link for its merchant, unless a payment is in progress or it is paid.' },
  );
}

/** Waits for a change of the record or the end of the link; with a payment in progress, also beyond that end. */
async function waitForChange(state: PaymentLinkState): Promise<void> {
  const { version, expires_at } = state.requireRecord();
  const hasChanged = () => state.hasChangedSince(version);
  if (isExpired(expires_at, state.clock.now())) return await condition(hasChanged);
  await state.waits.until({ at: expires_at, summary: 'until the payment link expires' }, hasChanged);
}
