import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { acceptRequest, type AcceptedRequest } from '../../src/domain/accepted-request';
import { ERRORS, OutcomeUnknown, ServiceError, validationError } from '../../src/errors';
import type { Processor } from '../../src/processor/client';
import { WALLETS, type TestCard, type VaultedCard } from '../../src/processor/wire';
import type { Intake } from '../http/intake';
import { projectSuspended } from '../requests/project-rules';
import { CARD_FIELDS, readAttempt, readCard, readName, fieldErrorOf } from './card-form';
import type { CsrfProtection } from './csrf';
import { localize } from './languages';
import { CREDIT_CARD, isSuspended, type PageMethod, type Payable, type Payables } from './payable';
import { isFromIssuer, type FormResult, type Respond } from './respond';

/** Services of the handlers of one kind of payable. */
export interface PageContext<P extends Payable> {
  payables: Payables<P>;
  processor: Pick<Processor, 'vaultCard' | 'vaultWallet'>;
  /** Milliseconds until a form is answered, with the outcome or without. */
  deadline_ms: number;
  csrf: Pick<CsrfProtection, 'isValid' | 'payer'>;
  intake: Pick<Intake, 'requireOpen'>;
  /** Counts one form submission for a payable. Throws TooManyRequests. */
  limitForms: (payable_id: string) => void;
  testCards: () => Promise<readonly TestCard[] | undefined>;
  respond: Respond;
}

export function pageNotFound(): ServiceError {
  return new ServiceError('NotFound', 'There is no payment at this address.');
}

/**
 * The payable of the path, also where it lacks the transaction of the path (rules 10.19). Throws NotFound; during a
 * restore ServiceUnavailable, as the record may still lack what it had (rules 28.1).
 */
export async function findPayable<P extends Payable>(
  { payables, csrf, intake }: Pick<PageContext<P>, 'payables' | 'csrf' | 'intake'>,
  request: Request,
): Promise<P> {
  const { id, transaction_id } = request.params as { id: string; transaction_id?: string };
  const payer = csrf.payer(request);
  const payable = await payables.find(id, { transaction_id, payer });
  if (payable !== undefined) return payable;
  intake.requireOpen();
  const without_transaction = transaction_id === undefined ? undefined : await payables.find(id, { payer });
  if (without_transaction !== undefined) return without_transaction;
  throw pageNotFound();
}

/**
 * The payable that a form is about. Throws Forbidden for a form that no page of ours sent, TooManyRequests and
 * NotFound.
 */
async function requireForm<P extends Payable>(context: PageContext<P>, request: Request): Promise<P> {
  if (!context.csrf.isValid(request)) {
    throw new ServiceError('Forbidden', 'The form does not come from a page of this service.');
  }
  context.limitForms(String(request.params['id']));
  return await findPayable(context, request);
}

/**
 * Shows the page of a payable, or of one of its transactions, which shows the current attempt (rules 6.5). The issuer
 * sends the customer back here too; the result of the payment is read from the record, never from the address.
 */
export function showPage<P extends Payable>(context: PageContext<P>): RequestHandler {
  const { payables, respond } = context;
  return async (request, response) => {
    const payable = await findPayable(context, request);
    if (!isFromIssuer(request)) return await respond(request, response, payable, 'visit');
    const returned = await payables.returnFromIssuer(payable);
    await respond(request, response, returned, 'issuer_return');
  };
}

/** Handles the card form: the card goes to the processor's vault, and only its token is used from then on. */
export function payByCard<P extends Payable>(context: PageContext<P>): RequestHandler {
  const { processor, testCards } = context;
  return handlePayment(context, {
    methodOf: () => CREDIT_CARD,
    async vault({ body, payable: { project_id, is_test, locales }, request }) {
      const { errors: words } = localize(request, locales).texts;
      const test_numbers = is_test ? (await testCards())?.map(({ number }) => number) : [];
      const read = readCard(body, words, test_numbers);
      if (!('card' in read)) return { field_errors: read.errors };
      const vaulted = await processor.vaultCard({ project_id, is_test, ...read.card });
      if (!vaulted.usable) return { field_errors: fieldErrorOf(vaulted.field, words) };
      const { usable: _, ...card } = vaulted;
      return { card };
    },
  });
}

const walletForm = z.object({ payment_method: z.enum(WALLETS) });

/**
 * Handles the form of a wallet: the processor gives a token of the wallet's card, which is then charged like any card.
 */
export function payByWallet<P extends Payable>(context: PageContext<P>): RequestHandler {
  return handlePayment(context, {
    methodOf: (body) => walletForm.safeParse(body).data?.payment_method,
    async vault({ payable: { project_id, is_test }, payment_method }) {
      return { card: await context.processor.vaultWallet({ project_id, is_test, payment_method }) };
    },
  });
}

/** A form has no Idempotency-Key: ids of what it makes derive from its attempt. */
function acceptForm({ deadline_ms }: Pick<PageContext<Payable>, 'deadline_ms'>, response: Response): AcceptedRequest {
  const received_at = Date.now();
  const request_id = String(response.getHeader('X-Request-Id'));
  return acceptRequest({ request_id, received_at, deadline_at: received_at + deadline_ms });
}

/** Handles the cancel form. A second click, or a late one, shows how the payment ended. */
export function cancel<P extends Payable>(context: PageContext<P>): RequestHandler {
  const { payables, respond } = context;
  return async (request, response) => {
    const form = acceptForm(context, response);
    const payable = await requireForm(context, request);
    const { state } = payable;
    // Nothing can be paid in a suspended project, and everything can be cancelled (rules 21.10).
    if (state.kind === 'ended' && !isSuspended(state)) {
      const error = payable.is_cancelled ? undefined : notCancelled('The payment has ended.');
      return await respond(request, response, payable, 'form', { error });
    }
    if (state.kind === 'waiting' && !state.cancellable) {
      const error = notCancelled('The outcome of the payment is awaited.');
      return await respond(request, response, payable, 'form', { error });
    }
    let error: ServiceError | undefined;
    let is_cancelled = false;
    try {
      is_cancelled = await payables.cancel(payable, form);
    } catch (thrown) {
      // It is being paid or has ended in the meantime; the record shows which.
      if (!(thrown instanceof ServiceError)) throw thrown;
      error = thrown;
    }
    const after = await findPayable(context, request);
    if (is_cancelled || after.is_cancelled) return await respond(request, response, after, 'form');
    const may_repeat =
      after.state.kind === 'ended' ? isSuspended(after.state) && error !== undefined : after.state.cancellable;
    if (!may_repeat) {
      error ??= notCancelled('There is no payment that could be cancelled.');
      return await respond(request, response, after, 'form', { error });
    }
    error ??= new ServiceError('ServiceUnavailable', 'The payment is not cancelled yet.');
    await respond(request, response, after, 'form', { error, status: 503, notice: 'not_cancelled' });
  };
}

const notCancelled = (why: string) => new ServiceError('CanNotCancelTransaction', why);

/** A form that pays the current attempt of its payable, by a method that it offers. */
interface PaymentForm<Method extends PageMethod> {
  request: Request;
  body: unknown;
  payable: Payable;
  payment_method: Method;
}

/** How one of the payment methods is paid. */
interface MethodForm<Method extends PageMethod> {
  /** The method that a form asks for; `undefined` when the form is not ours. */
  methodOf: (body: unknown) => Method | undefined;
  /** Swaps the form's fields for a card of the vault, or returns the wrong fields. Rejects with a ServiceError. */
  vault: (form: PaymentForm<Method>) => Promise<{ card: VaultedCard } | WrongFields>;
}

type WrongFields = Pick<Required<FormResult>, 'field_errors'>;

/**
 * Handles a form that pays, whatever its method (rules 12.4). A form for an attempt that was already made, or for a
 * method that is not offered, charges nothing: it shows the current state, with the reason as JSON for a program.
 * Answers within `deadline_ms`.
 */
function handlePayment<P extends Payable, Method extends PageMethod>(
  context: PageContext<P>,
  { methodOf, vault }: MethodForm<Method>,
): RequestHandler {
  const { payables, respond } = context;

  return async (request, response: Response) => {
    const form = acceptForm(context, response);
    const payable = await requireForm(context, request);
    const body: unknown = request.body;
    const read = readPayment(payable, readAttempt(body), methodOf(body));
    if (read instanceof ServiceError) return await respond(request, response, payable, 'form', { error: read });
    const { attempt } = read;
    let paid: P | WrongFields;
    try {
      const vaulted = await vault({ request, body, payable, payment_method: read.payment_method });
      if ('card' in vaulted) {
        const { wallet: _, ...card } = vaulted.card;
        paid = await payables.pay(payable, { ...read, card }, form);
      } else paid = vaulted;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      // It changed in the meantime, or the payment was not possible: show the record.
      const after = await findPayable(context, request).catch((cause: unknown) => {
        throw error instanceof OutcomeUnknown ? error : cause;
      });
      const may_begin = error instanceof OutcomeUnknown && isSuspended(after.state);
      const result =
        may_begin || isCurrentAttempt(after, attempt)
          ? { ...resultOf(error, after), cardholder_name: readName(body) }
          : { error: alreadyStarted() };
      return await respond(request, response, after, 'form', result);
    }
    if ('field_errors' in paid) {
      const { field_errors } = paid;
      const error = firstOf(field_errors);
      const result = { status: 400, error, field_errors, cardholder_name: readName(body) };
      return await respond(request, response, payable, 'form', result);
    }
    const is_unknown = isSuspended(paid.state) || isCurrentAttempt(paid, attempt);
    await respond(request, response, paid, 'form', is_unknown ? outcomeUnknown() : {});
  };
}

/** The form's attempt and method, when they are the current ones; otherwise why it charges nothing. */
function readPayment<Method extends PageMethod>(
  { state, methods }: Payable,
  attempt: number | undefined,
  payment_method: Method | undefined,
): { attempt: number; payment_method: Method } | ServiceError {
  if (attempt === undefined) return validationError('attempt', 'Not the number that a form of the page holds.');
  if (isSuspended(state)) return projectSuspended();
  if (state.kind !== 'payable' || attempt < state.attempt) return alreadyStarted();
  if (attempt > state.attempt) return validationError('attempt', `The current attempt is ${state.attempt}.`);
  if (payment_method === undefined || !methods.includes(payment_method)) {
    return validationError('payment_method', 'The order does not offer this method.');
  }
  return { attempt, payment_method };
}

/** Whether this attempt can still be made: the record does not show it yet. */
function isCurrentAttempt({ state }: Payable, attempt: number): boolean {
  return state.kind === 'payable' && state.attempt === attempt;
}

function firstOf(errors: WrongFields['field_errors']): ServiceError | undefined {
  const name = CARD_FIELDS.find((one) => errors[one] !== undefined);
  return name && validationError(name, errors[name] ?? '');
}

/** The attempt was made before, by this form or another, or the payable has ended. */
function alreadyStarted(): ServiceError {
  return new ServiceError(
    'TransactionAlreadyStarted',
    'This payment attempt has started already, or the order cannot be paid any more.',
  );
}

/**
 * The attempt was not made by this form, and can be: this form was not sent to the processor, which another submission
 * of the attempt still may be; or a charge was begun from another tab; or another customer is paying at this moment.
 */
function resultOf(error: ServiceError, { state }: Payable): FormResult {
  const charge_began = state.kind === 'payable' && state.charge_began;
  if (error instanceof OutcomeUnknown || charge_began) return outcomeUnknown();
  if (error.error === 'TransactionAlreadyStarted') return { error, waiting_for: 'other_payment' };
  const { status } = ERRORS[error.error];
  return { status: status >= 500 ? status : 503, error, notice: 'not_sent' };
}

/** The charge may have been sent: the page reloads until the outcome is known. */
function outcomeUnknown(): FormResult {
  const text = 'The outcome is not known yet. Sending the same form again does not charge twice.';
  return { status: 503, error: new ServiceError('ServiceUnavailable', text), waiting_for: 'unknown_charge' };
}
