import type { StoredPaymentLink } from '../db/payment-links';
import type { AcceptedRequest } from '../domain/accepted-request';
import { formatAmount } from '../domain/currency';
import { asMarkdown } from '../domain/shown-text';
import { ServiceError } from '../errors';
import {
  createPaymentLinkUpdate,
  createUpdateId,
  endPaymentLinkUpdate,
  type CreatePaymentLinkInput,
} from '../../workflows/messages';
import type { TemporalAccess } from './call';
import { KINDS, type StartedLink } from './kinds';
import { RecordedWorkflows } from './object-workflows';

/** Workflows of payment links. */
export class PaymentLinkWorkflows extends RecordedWorkflows<StartedLink, StoredPaymentLink> {
  constructor(temporal: TemporalAccess) {
    super(temporal, KINDS.payment_link);
  }

  /** Creates a link. A repeat joins the creation under way, or gets its result. */
  async create(input: CreatePaymentLinkInput): Promise<StoredPaymentLink> {
    const { payment_link: link, request } = input;
    const amount = formatAmount(link.amount, link.currency, 'en');
    return await this.createObject(link.id, request, {
      object: link,
      update: { definition: createPaymentLinkUpdate, updateId: createUpdateId(request), args: [input] },
      staticSummary: `Payment link, ${amount}, ${asMarkdown(link.merchant_order_id)}`,
    });
  }

  /**
   * The link of an earlier creation with the same Idempotency-Key: joins the creation that is under way. `undefined`
   * when there is neither.
   */
  async joinCreation(id: string, request: AcceptedRequest): Promise<StoredPaymentLink | undefined> {
    return (await this.join(id, request))?.view;
  }

  /**
   * Ends a link for its merchant. Throws Conflict while a payment is in progress and once it is paid,
   * PreconditionFailed. `updateId`: the same for each repeat of the request.
   */
  async end(id: string, request: AcceptedRequest, updateId?: string): Promise<StoredPaymentLink> {
    const { view: link, was_closed } = await this.change(id, request, {
      definition: endPaymentLinkUpdate,
      args: [{ request }],
      ...(updateId !== undefined && { updateId }),
    });
    if (!was_closed || link.status === 'expired') return link;
    throw new ServiceError('Conflict', 'The payment link is paid.');
  }
}
