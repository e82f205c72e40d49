import {
  createPaymentLinkUpdate,
  endPaymentLinkUpdate,
  type CreateOrderInput,
  type CreatePaymentLinkInput,
} from '../../../workflows/messages';
import { endPeriod } from '../../db/backups/restores';
import { findStoredPaymentLink } from '../../db/payment-links';
import type { AcceptedRequest } from '../../domain/accepted-request';
import { PAYMENT_LINK_MOVES, isFinal } from '../../domain/transitions';
import type { SeenWorkflow, SentInputs } from '../../temporal/sent-inputs';
import { again, deadline, endRun, untilDone, type Restoration } from './restoration';
import { doneIn } from './sent-to-order';

/** Creates a lost payment link again, and ends later one that had ended. Returns whether the record was changed. */
export async function restorePaymentLink(
  restoration: Restoration,
  id: string,
  workflow: SeenWorkflow,
  { updates, result }: SentInputs,
): Promise<boolean> {
  const { db, workflows, ends } = restoration;
  const link = await findStoredPaymentLink(db, id);
  if (link !== undefined) await workflows.payment_links.resume(link, deadline());
  const creation = doneIn<CreatePaymentLinkInput>(updates, createPaymentLinkUpdate.name);
  const end = doneIn<{ request: AcceptedRequest }>(updates, endPaymentLinkUpdate.name);
  if (link === undefined) {
    if (creation === undefined) return false;
    await endRun(restoration, workflow);
    await workflows.payment_links.create({ ...creation, request: again(creation.request) });
  }
  if (end !== undefined || result === 'expired') {
    const write = async () => {
      if (end !== undefined) await workflows.payment_links.end(id, again(end.request));
      else await expirePaymentLink(restoration, id);
      return link !== undefined;
    };
    ends.push({ object: workflow.workflow_id, in_turn_with: id, is_needed_by_later: true, write });
  }
  return link === undefined;
}

async function expirePaymentLink({ db, workflows }: Restoration, id: string): Promise<void> {
  const link = (await findStoredPaymentLink(db, id))!;
  if (isFinal(PAYMENT_LINK_MOVES, link.status)) return;
  await endPeriod(db, 'payment_links', id, new Date());
  await workflows.payment_links.resume(link, deadline());
  await untilDone(new Error('It does not expire.'), async () =>
    isFinal(PAYMENT_LINK_MOVES, (await findStoredPaymentLink(db, id))!.status),
  );
}

/** The link of an order as it is now: it ends later than before the restore, and its clock may be another one. */
export async function currentLink(
  { db }: Restoration,
  link: CreateOrderInput['payment_link'],
): Promise<CreateOrderInput['payment_link']> {
  const stored = link && (await findStoredPaymentLink(db, link.id));
  if (stored === undefined) return link;
  const { id, expires_at, clock_offset_ms } = stored;
  return { id, expires_at: Date.parse(expires_at), clock_offset_ms };
}
