import { WithStartWorkflowOperation } from '@temporalio/client';
import type { UpdateDefinition } from '@temporalio/common';
import { findPaymentLinkView, type PaymentLinkView } from '../db/payment-links';
import { formatAmount } from '../domain/currency';
import { asMarkdown } from '../domain/shown-text';
import { PAYMENT_LINK_MOVES, isFinal } from '../domain/transitions';
import { ServiceError } from '../errors';
import {
  CREATE_UPDATE_ID,
  createUpdateId,
  PAYMENT_LINK_STATUS,
  PAYMENT_LINK_WORKFLOW,
  PROJECT_ID,
  TASK_QUEUE,
  clockMoved,
  createPaymentLink,
  endPaymentLink,
  linkPaymentUpdateId,
  payThroughLink,
  paymentLinkWorkflowId,
  recordChanged,
  type CreatePaymentLinkInput,
  type PayThroughLinkInput,
  type PaymentLinkInput,
  type PaymentLinkWorkflow,
} from '../../workflows/messages';
import {
  callThenRead,
  isWorkflowClosed,
  joinCreation,
  retryUnderNewUpdateId,
  signalOrStart,
  unlessClosed,
  updateOrRestart,
  type TemporalAccess,
} from './call';

/** A payment link whose workflow is started. */
interface StartedLink {
  id: string;
  project_id: string;
}

/** Start options of a link's workflow; operators find it by its search attributes. */
function linkStart({ id, project_id }: StartedLink) {
  return {
    workflowId: paymentLinkWorkflowId(id),
    taskQueue: TASK_QUEUE,
    args: [{ payment_link_id: id }] as [PaymentLinkInput],
    typedSearchAttributes: [
      { key: PAYMENT_LINK_STATUS, value: 'new' },
      { key: PROJECT_ID, value: project_id },
    ],
    staticSummary: `Payment link of project ${project_id}`,
  };
}

/**
 * Workflows of payment links. Methods with a deadline (epoch milliseconds) return the link as stored afterwards; they
 * throw the workflow's refusal as a ServiceError, and ServiceUnavailable when there was no answer in time and nothing
 * is stored.
 */
export class PaymentLinks {
  constructor(private readonly temporal: TemporalAccess) {}

  /** Creates a link. A repeat joins the creation under way, or gets its result. */
  async create(input: CreatePaymentLinkInput, deadline_at: number): Promise<PaymentLinkView> {
    const { payment_link: link, not_after, request_id } = input;
    // Only a request with an Idempotency-Key may still run after its sender got a 503.
    const may_run_late = not_after === undefined;
    const amount = formatAmount(link.amount, link.currency, 'en');
    const startWorkflowOperation = () =>
      new WithStartWorkflowOperation<PaymentLinkWorkflow>(PAYMENT_LINK_WORKFLOW, {
        ...linkStart(link),
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        staticSummary: `Payment link, ${amount}, ${asMarkdown(link.merchant_order_id)}`,
      });
    const request = { ...this.request(link.id, deadline_at), may_run_late, request_id, is_recorded: false };
    const create = (updateId: string) =>
      callThenRead(this.temporal, request, async () => {
        await this.temporal.client.workflow.executeUpdateWithStart(createPaymentLink, {
          startWorkflowOperation: startWorkflowOperation(),
          updateId,
          args: [input],
        });
      });
    return may_run_late
      ? await retryUnderNewUpdateId(CREATE_UPDATE_ID, deadline_at, create)
      : await create(createUpdateId(request_id));
  }

  /**
   * The link of an earlier creation with the same Idempotency-Key: joins the creation that is under way. `undefined` when
   * none is and there is no link.
   */
  async joinCreation(id: string, deadline_at: number): Promise<PaymentLinkView | undefined> {
    return (await joinCreation(this.temporal, this.request(id, deadline_at), paymentLinkWorkflowId(id)))?.view;
  }

  /**
   * Pays one attempt, which makes an order. A second call with the same order is the same payment. Throws
   * TransactionAlreadyStarted while the link takes no attempt.
   */
  async pay(payment_link_id: string, input: PayThroughLinkInput): Promise<PaymentLinkView> {
    const { deadline_at, request_id } = input;
    return await callThenRead(this.temporal, { ...this.request(payment_link_id, deadline_at), request_id }, () =>
      this.update(payment_link_id, payThroughLink, { updateId: linkPaymentUpdateId(input), args: [input] }),
    );
  }

  /**
   * Ends a link for its merchant. Throws Conflict while a payment is in progress and once it is paid,
   * PreconditionFailed.
   */
  async end(
    payment_link_id: string,
    options: { versions?: number[] | undefined },
    deadline_at: number,
  ): Promise<PaymentLinkView> {
    let closed = false;
    const link = await callThenRead(this.temporal, this.request(payment_link_id, deadline_at), async () => {
      try {
        await this.update(payment_link_id, endPaymentLink, { args: [options] });
      } catch (error) {
        if (!isWorkflowClosed(error)) throw error;
        closed = true;
      }
    });
    if (!closed || link.status === 'expired') return link;
    throw new ServiceError('Conflict', 'The payment link is paid.');
  }

  /** The link's record is ahead of its workflow, which reads it; a closed workflow need not know. */
  async recordChanged(payment_link_id: string): Promise<void> {
    const handle = this.temporal.client.workflow.getHandle(paymentLinkWorkflowId(payment_link_id));
    await unlessClosed(() => handle.signal(recordChanged));
  }

  /** The link's workflow reads the record and goes on from there; one that is closed or lost starts again. */
  async resume(link: StartedLink): Promise<void> {
    await this.temporal.client.workflow.signalWithStart<PaymentLinkWorkflow>(
      PAYMENT_LINK_WORKFLOW,
      signalOrStart(linkStart(link), recordChanged),
    );
  }

  /** The link's clock was moved. A workflow that is closed or lost starts again from the record. */
  async moveClock(link: StartedLink): Promise<void> {
    await this.temporal.client.workflow.signalWithStart<PaymentLinkWorkflow>(
      PAYMENT_LINK_WORKFLOW,
      signalOrStart(linkStart(link), clockMoved),
    );
  }

  private request(payment_link_id: string, deadline_at: number) {
    const read = () => findPaymentLinkView(this.temporal.db, payment_link_id);
    return { subject: `Payment link ${payment_link_id}`, read, deadline_at, is_recorded: true };
  }

  /** Updates a link's workflow. If Temporal lost the workflow of an open link, it starts again from the record. */
  private async update<Input>(
    payment_link_id: string,
    definition: UpdateDefinition<void, [Input]>,
    options: { updateId?: string; args: [Input] },
  ): Promise<void> {
    const { client, db } = this.temporal;
    await updateOrRestart(client, paymentLinkWorkflowId(payment_link_id), { definition, options }, async () => {
      const link = await findPaymentLinkView(db, payment_link_id);
      if (link === undefined || isFinal(PAYMENT_LINK_MOVES, link.status)) return undefined;
      return new WithStartWorkflowOperation<PaymentLinkWorkflow>(PAYMENT_LINK_WORKFLOW, {
        ...linkStart(link),
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      });
    });
  }
}
