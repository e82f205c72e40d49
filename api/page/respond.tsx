import type { ErrorRequestHandler, Request, Response } from 'express';
import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { idInput } from '../../src/contract/scalars';
import { ERRORS, OutcomeUnknown, type ServiceError } from '../../src/errors';
import type { Logger } from '../../src/log';
import type { TestCard } from '../../src/processor/wire';
import { answerError, answerErrors } from '../http/errors';
import { readAttempt, type FieldErrors } from './card-form';
import type { CsrfProtection } from './csrf';
import { localize, type Texts } from './languages';
import { isSuspended, type Payable, type PaymentState } from './payable';
import { prefill, type Prefilled } from './test-cards';
import { ProblemPage, ResultPage, WaitingPage } from './views/message-pages';
import type { Reload } from './views/layout';
import { PayPage, type FormNotice } from './views/pay-page';

/** The result of a form, where the payable does not show it. */
export interface FormResult {
  /** HTTP status of the page; 200 when absent. */
  status?: number;
  /** Why the form was not carried out: the answer to a program, where a person sees the page. */
  error?: ServiceError | undefined;
  field_errors?: FieldErrors;
  /** A problem that is not the customer's fault. */
  notice?: FormNotice;
  cardholder_name?: string;
  /** Shown instead of the forms: the charge may have been sent, or another customer is paying. */
  waiting_for?: 'unknown_charge' | 'other_payment';
}

/** The kind of request: the page, the customer's return from the issuer, or a form. */
export type PageRequestKind = 'visit' | 'issuer_return' | 'form';

/**
 * Answers a request with the current state of a payable: the forms, a waiting page, the result, or a redirect to the
 * merchant. After a form or a return from the issuer, a customer whose payment has ended is redirected to the merchant,
 * unless the page has to tell of a late approval or waits for one. A program that sent a form gets no page: it is
 * redirected, or gets `result.error` thrown.
 */
export type Respond = (
  request: Request,
  response: Response,
  payable: Payable,
  cause: PageRequestKind,
  result?: FormResult,
) => Promise<void>;

interface Dependencies {
  csrf: CsrfProtection;
  /** Path below which the service is reached, without a slash at its end. */
  base: string;
  testCards: () => Promise<readonly TestCard[] | undefined>;
}

export function createRespond({ csrf, base, testCards }: Dependencies): Respond {
  return async (request, response, payable, cause, result = {}) => {
    const { state } = payable;
    const page = base + payable.path;
    const reloads = reloadsOf(request);
    const return_address = returnAddress(state, base);
    if (cause !== 'visit' && prefersJson(request)) {
      if (result.error !== undefined) throw result.error;
      return response.redirect(303, return_address ?? page);
    }
    // The merchant's page may not know of a late approval, which is told or awaited here (rules 12.12).
    const is_awaited = cause === 'issuer_return' && payable.may_be_approved;
    const mayComeLate = ({ late_approval, payment_page }: Extract<PaymentState, { kind: 'ended' }>) =>
      late_approval !== undefined || (cause === 'visit' && payable.may_be_approved && payment_page === undefined);
    const is_told_here = is_awaited || (state.kind === 'ended' && mayComeLate(state));
    if (return_address !== undefined && !is_told_here && (cause !== 'visit' || reloads !== undefined)) {
      return response.redirect(303, return_address);
    }

    const localization = localize(request, payable.locales);
    const { status = 200, field_errors = {}, notice, cardholder_name } = result;
    // The outcome of the form that this answers is unknown: its attempt.
    const sent = result.waiting_for === 'unknown_charge' ? readAttempt(request.body) : undefined;
    const reload = nextReload(request, page, { sent, is_issuer_return: is_awaited });
    const reload_after_form = sent === undefined && !is_awaited ? page : reload.url;
    const reload_url = cause === 'visit' ? undefined : reload_after_form;
    const sandbox_time = payable.clock_was_advanced ? payable.now : undefined;
    const frame = { payable, page, localization, base, is_test: payable.is_test, sandbox_time, reload_url };
    const token = () => csrf.token(request, response, page);
    // A notice stays long enough to be read, and so do the choices of a customer who came back without an outcome.
    const later = { ...reload, seconds: RELOAD_SECONDS_MAX };
    // A charge that was begun is awaited by every page, not only by the answer to its form (rules 10.8).
    const is_begun = state.kind === 'payable' && state.charge_began && result.field_errors === undefined;
    const unknown_charge = is_begun || mayStillBegin(request, state) ? ('unknown_charge' as const) : undefined;
    const unknown_approval = is_awaited && !isLastReload(request) ? ('outcome' as const) : undefined;
    const waiting_for = result.waiting_for ?? unknown_charge ?? unknown_approval;
    if (waiting_for !== undefined) {
      const cancel_token = is_begun && state.cancellable ? token() : undefined;
      const waiting = { waiting_for, refresh: notice === undefined ? reload : later, cancel_token, notice };
      return sendPage(response, status, <WaitingPage {...frame} {...waiting} />);
    }
    if (state.kind === 'ended') {
      return sendPage(response, status, <ResultPage {...frame} {...{ state, return_address, notice }} />);
    }
    if (state.kind === 'waiting') {
      const { waiting_for, challenge_url } = state;
      // The first time the customer is led to the issuer. One with the page's cookie has been here: the Back button of
      // the issuer's page has to reach the cancel button (rules 12.6).
      const was_here = cause === 'issuer_return' || (cause === 'visit' && csrf.payer(request) !== undefined);
      const is_first = !was_here && reloads === undefined && notice === undefined;
      const is_read = notice !== undefined || (waiting_for === 'issuer' && cause === 'visit');
      const reload_then = is_read ? later : reload;
      const refresh = challenge_url !== undefined && is_first ? { seconds: 0, url: challenge_url } : reload_then;
      const cancel_token = state.cancellable ? token() : undefined;
      return sendPage(
        response,
        status,
        <WaitingPage {...frame} {...{ waiting_for, refresh, challenge_url, cancel_token, notice }} />,
      );
    }

    const test_cards = payable.is_test ? ((await testCards()) ?? []) : [];
    const chosen = test_cards.find(({ name }) => request.method === 'GET' && name === request.query['card']);
    const values: Partial<Prefilled> = {
      ...(cardholder_name !== undefined && { cardholder_name }),
      ...(chosen && prefill(chosen, localization.texts.test_name, payable.now)),
    };
    const form = { state, field_errors, notice, values, test_cards, token: token() };
    sendPage(response, status, <PayPage {...frame} {...form} />);
  };
}

function sendPage(response: Response, status: number, page: VNode): void {
  response
    .status(status)
    .type('html')
    .send(`<!doctype html>${renderToString(page)}`);
}

/** The redirect of a customer whose payment has ended; `undefined`: none. */
function returnAddress(state: PaymentState, base: string): string | undefined {
  if (state.kind !== 'ended') return undefined;
  return state.payment_page === undefined ? state.return_address : base + state.payment_page;
}

/** Whether a request prefers JSON to a page, as programs do. */
function prefersJson(request: Request): boolean {
  return request.accepts(['html', 'json']) === 'json';
}

/** How often a waiting page has loaded itself already; `undefined` when the request is not such a reload. */
function reloadsOf(request: Request): number | undefined {
  const reloads = Number(request.method === 'GET' ? request.query['waited'] : undefined);
  return Number.isInteger(reloads) ? Math.min(Math.max(reloads, 0), 1_000) : undefined;
}

const RELOAD_SECONDS_MAX = 10;

/**
 * Often at first, as most answers come soon; at last every ten seconds. `sent`: the attempt of the form whose outcome
 * the page waits for; each reload hands it to the next one. `is_issuer_return`: the reload asks the processor as well.
 */
function nextReload(
  request: Request,
  page: string,
  { sent = sentAttempt(request), is_issuer_return }: { sent?: number | undefined; is_issuer_return: boolean },
): Reload {
  const reloads = reloadsOf(request) ?? 0;
  const markers = `${sent === undefined ? '' : `&sent=${sent}`}${is_issuer_return ? '&from=issuer' : ''}`;
  return {
    seconds: Math.min(2 + Math.floor(reloads / 5), RELOAD_SECONDS_MAX),
    url: `${page}?waited=${reloads + 1}${markers}`,
  };
}

/** The attempt of the form after whose answer the page loads itself again; `undefined`: none. */
function sentAttempt({ method, query }: Request): number | undefined {
  return method === 'GET' ? readAttempt({ attempt: query['sent'] }) : undefined;
}

/** So many reloads take two minutes. After that an attempt that the record lacks is never made (rules 10.8). */
const RELOADS_MAX = 28;

/** Whether the page has waited for as long as it does without knowing that there is an outcome to wait for. */
function isLastReload(request: Request): boolean {
  return (reloadsOf(request) ?? 0) >= RELOADS_MAX;
}

/** Whether the attempt of a form that was sent is not recorded, or not shown by a suspended project, but may still be. */
function mayStillBegin(request: Request, state: PaymentState): boolean {
  const sent = sentAttempt(request);
  if (sent === undefined || isLastReload(request)) return false;
  return isSuspended(state) || (state.kind === 'payable' && state.attempt === sent);
}

/** Whether the issuer, or a reload after that, sends the customer back to the page. */
export function isFromIssuer({ query }: Request): boolean {
  return query['from'] === 'issuer';
}

/** Browsers get an error page, programs get the API's errors. `base`: path below which the service is reached. */
export function onPageError(log: Logger, base: string): ErrorRequestHandler {
  return answerErrors(log, (error, request, response) => {
    if (prefersJson(request)) return answerError(response, error);
    const { status } = ERRORS[error.error];
    // Of a form: the language of its page.
    const { language } = (request.body ?? {}) as { language?: unknown };
    const localization = localize(request, typeof language === 'string' ? [language] : []);
    const { problems } = localization.texts;
    const problem = status in problems ? (status as keyof Texts['problems']) : status < 500 ? 400 : 503;
    const page = problem === 404 ? undefined : pageOf(request, base);
    // The next load may succeed: one that fails does not end the waiting, nor does a form whose outcome is not known.
    const sent = error instanceof OutcomeUnknown ? readAttempt(request.body) : sentAttempt(request);
    const is_retried = request.method === 'GET' ? status === 429 || status >= 500 : error instanceof OutcomeUnknown;
    const is_issuer_return = request.method === 'GET' && isFromIssuer(request);
    const refresh =
      page !== undefined && is_retried
        ? { ...nextReload(request, page, { sent, is_issuer_return }), seconds: RELOAD_SECONDS_MAX }
        : undefined;
    sendPage(response, status, <ProblemPage {...{ localization, base, problem, page, refresh }} is_test={false} />);
  });
}

/** The page that a request below `/pay` was about; `undefined` when its path holds no id. */
function pageOf({ baseUrl, path }: Request, base: string): string | undefined {
  const id = idInput().safeParse(path.split('/')[1]);
  return id.success ? `${base}${baseUrl}/${id.data}/` : undefined;
}
