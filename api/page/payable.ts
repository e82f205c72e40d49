import type { AcceptedRequest } from '../../src/domain/accepted-request';
import { WALLETS, type VaultedCard, type Wallet } from '../../src/processor/wire';

/** The payment method of the card form. */
export const CREDIT_CARD = 'credit-card';

/** Every payment method of a page, in display order: one-click methods first. */
const PAGE_METHODS = [...WALLETS, CREDIT_CARD] as const;
export type PageMethod = (typeof PAGE_METHODS)[number];

/** Whether a method is one of the wallets. */
export function isWallet(method: string): method is Wallet {
  return WALLETS.some((wallet) => wallet === method);
}

/** The methods that a page offers: those the merchant wants and the project has active. */
export function pageMethods(wanted: readonly string[], active: readonly string[]): PageMethod[] {
  return PAGE_METHODS.filter((method) => wanted.includes(method) && active.includes(method));
}

/** How a payment ended, for the result page; the last ones are for payment links. */
export type PageOutcome =
  | 'completed'
  | 'cancelled'
  | 'expired'
  | 'error'
  | LateApproval
  /** One attempt through the link failed; another can be made. */
  | 'attempt_failed'
  /** By another customer. */
  | 'already_paid'
  | 'link_expired'
  | 'no_attempts_left'
  | 'ended_by_merchant'
  /** The project is suspended: nothing can be paid until it is active again. */
  | 'suspended';

/** What becomes of a payment that had ended when the issuer approved it. */
export type LateApproval =
  /** The money goes back (rules 10.11). */
  | 'given_back'
  /** The processor refused the reversal (rules 9.11): nothing goes back by itself. */
  | 'not_given_back';

/**
 * Why the last attempt failed: declined by the issuer, cancelled by the customer, or anything else (3-D Secure, the
 * processor).
 */
export interface AttemptFailure {
  /** `not_confirmed`: the customer did not pass 3-D Secure, or cancelled it. */
  reason: 'declined' | 'not_confirmed' | 'cancelled' | 'failed';
  payment_method: string;
  response_code: string | undefined;
}

/** The steps open to the customer. Computed from the record and the time, not stored. */
export type PaymentState =
  | {
      kind: 'payable';
      /** The attempt that the forms of this page pay; a form with another number is out of date. */
      attempt: number;
      attempts_left: number;
      /** `undefined` also when it was approved after its end. */
      last_failure: AttemptFailure | undefined;
      /** Of any attempt of this customer: nobody may be told that nothing was charged. */
      late_approval: LateApproval | undefined;
      cancellable: boolean;
      /** The charge of this attempt was begun, from another tab or by a form that was answered too late. */
      charge_began: boolean;
      /** Epoch milliseconds. */
      expires_at: number;
    }
  | {
      kind: 'waiting';
      /** The outcome of a charge, the customer at the issuer (3-D Secure), or the end of another customer's payment. */
      waiting_for: 'outcome' | 'issuer' | 'other_payment';
      cancellable: boolean;
      /** Where the issuer asks the customer, while it does. */
      challenge_url: string | undefined;
    }
  | {
      kind: 'ended';
      outcome: PageOutcome;
      last_failure: AttemptFailure | undefined;
      late_approval: LateApproval | undefined;
      /** The merchant's address for this outcome; `undefined`: the customer stays on the page. */
      return_address: string | undefined;
      /** Path of the page on which the customer can try again, below the public address. */
      payment_page?: string | undefined;
    };

/** The state of a payable that is blocked because its project is suspended (rules 21.10). */
export function suspendedState(late_approval: LateApproval | undefined): PaymentState {
  return { kind: 'ended', outcome: 'suspended', last_failure: undefined, late_approval, return_address: undefined };
}

/** Whether nothing can be paid because the project is suspended. Such a state does not show which attempts were made. */
export function isSuspended(state: PaymentState): boolean {
  return state.kind === 'ended' && state.outcome === 'suspended';
}

/** An order or payment link on a hosted page: content, payee, methods, deadline and state. */
export interface Payable {
  id: string;
  project_id: string;
  is_test: boolean;
  /** Path of its page below the public address, with a slash at both ends. */
  path: string;
  merchant_name: string;
  /** Minor units. */
  amount: number;
  /** ISO 4217. */
  currency: string;
  description: string | null;
  merchant_order_id: string | null;
  /** The customer's locales as the merchant sent them, first choice first; some may not exist. */
  locales: readonly string[];
  methods: readonly PageMethod[];
  /** Its time when it was loaded, epoch milliseconds. A page takes the time from here alone. */
  now: number;
  /** Its sandbox clock was advanced: the page shows its time. */
  clock_was_advanced: boolean;
  state: PaymentState;
  paid_with: { payment_method: string; brand: string; last_digits: string } | undefined;
  /** It, or the last attempt of this customer, has ended by being cancelled. */
  is_cancelled: boolean;
  /**
   * An attempt of this customer ended less than an hour ago, and the issuer, where the customer was, may still approve it:
   * nobody may be told that nothing was charged (rules 12.12).
   */
  may_be_approved: boolean;
}

/** The record of what a page shows, whether an order or a payment link. */
type Shown = Pick<
  Payable,
  'id' | 'project_id' | 'is_test' | 'merchant_name' | 'amount' | 'currency' | 'description' | 'merchant_order_id'
> & { clock_offset_ms: number };

/**
 * The fields that pages of orders and of payment links have in common. `now`: the object's time, epoch milliseconds.
 */
export function factsOf(shown: Shown, now: number) {
  const { id, project_id, is_test, merchant_name, amount, currency, description, merchant_order_id } = shown;
  return {
    id,
    project_id,
    is_test,
    merchant_name,
    amount,
    currency,
    description,
    merchant_order_id,
    now,
    clock_was_advanced: shown.clock_offset_ms > 0,
  };
}

/** One payment attempt as a form asks for it: the card is in the processor's vault. */
export interface CardPayment {
  attempt: number;
  payment_method: PageMethod;
  /** Its wallet is the payment method. */
  card: Omit<VaultedCard, 'wallet'>;
}

/** The contents of a request besides the payable's id. */
export interface Visit {
  transaction_id?: string | undefined;
  /** The customer's browser, by a digest of its cookie for this page: the same in all of its tabs. */
  payer?: string | undefined;
}

/** Loads and changes the payables of one kind. */
export interface Payables<P extends Payable> {
  /** `undefined`: there is none with this id, or it has no such transaction. */
  readonly find: (id: string, visit: Visit) => Promise<P | undefined>;
  /**
   * Pays one attempt and resolves with the payable as it is afterwards, also when the outcome is not known at the
   * deadline (epoch milliseconds). Rejects with a ServiceError when nothing was charged, with OutcomeUnknown when it
   * may have been. A repeat is the same payment.
   */
  readonly pay: (payable: P, payment: CardPayment, request: AcceptedRequest) => Promise<P>;
  /**
   * Cancels it for the customer, and resolves with whether it is cancelled. Rejects with a ServiceError when it cannot
   * be cancelled any more.
   */
  readonly cancel: (payable: P, request: AcceptedRequest) => Promise<boolean>;
  /**
   * The customer is back from the issuer: asks for the outcome where it is open, and resolves with the payable as it is
   * then.
   */
  readonly returnFromIssuer: (payable: P) => Promise<P>;
}
