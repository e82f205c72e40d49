import { WALLET_NAMES, brandName, type Localization, type Texts } from '../languages';
import { isWallet, type PageOutcome, type Payable, type PaymentState } from '../payable';
import { CancelForm } from './forms';
import { SignIcon, type Sign } from './icons';
import { Layout, type Frame, type Reload } from './layout';
import { NoticeBox, type FormNotice } from './pay-page';

/** Also awaited: the outcome of a charge that may have been sent. */
type WaitingFor = Extract<PaymentState, { kind: 'waiting' }>['waiting_for'] | 'unknown_charge';

interface WaitingPageProps extends Frame {
  payable: Payable;
  /** Address of the page. */
  page: string;
  waiting_for: WaitingFor;
  /** Where the issuer waits for the customer. */
  challenge_url?: string | undefined;
  refresh: Reload;
  /** Token of the cancel form, where cancelling is possible. */
  cancel_token?: string | undefined;
  notice?: FormNotice | undefined;
}

const WAITING_TEXTS = {
  outcome: ['waiting', 'waiting_detail'],
  issuer: ['issuer', 'issuer_detail'],
  other_payment: ['other_payment', 'other_payment_detail'],
  unknown_charge: ['unknown_charge', 'unknown_charge_detail'],
} as const;

/** Shown until the outcome is known: the page loads itself again, without any script. */
export function WaitingPage(props: WaitingPageProps) {
  const { payable, page, waiting_for, refresh, challenge_url, cancel_token, notice, localization } = props;
  const { texts } = localization;
  const [heading, detail] = WAITING_TEXTS[waiting_for];
  return (
    <Layout {...props} title={texts[heading]}>
      <div class="sheet message">
        {notice && <NoticeBox heading={texts[notice]} details={[texts[`${notice}_detail`]]} errors={{}} />}
        <span class="sign waiting" aria-hidden="true">
          <span class="spinner" />
        </span>
        <h1>{texts[heading]}</h1>
        <p class="lead" role="status">
          {texts[detail]}
        </p>
        <Receipt payable={payable} localization={localization} />
        <a class="button" href={challenge_url ?? refresh.url}>
          {challenge_url === undefined ? texts.check_now : texts.to_issuer}
        </a>
        {cancel_token !== undefined && <CancelForm localization={localization} page={page} token={cancel_token} />}
      </div>
    </Layout>
  );
}

const SIGNS: Record<PageOutcome, { sign: Sign; tone: string }> = {
  completed: { sign: 'check', tone: 'sign good' },
  cancelled: { sign: 'cross', tone: 'sign' },
  expired: { sign: 'clock', tone: 'sign' },
  error: { sign: 'cross', tone: 'sign bad' },
  given_back: { sign: 'cross', tone: 'sign' },
  not_given_back: { sign: 'cross', tone: 'sign bad' },
  attempt_failed: { sign: 'cross', tone: 'sign bad' },
  already_paid: { sign: 'check', tone: 'sign good' },
  link_expired: { sign: 'clock', tone: 'sign' },
  no_attempts_left: { sign: 'cross', tone: 'sign' },
  ended_by_merchant: { sign: 'cross', tone: 'sign' },
  suspended: { sign: 'cross', tone: 'sign' },
};

interface ResultPageProps extends Frame {
  payable: Payable;
  state: Extract<PaymentState, { kind: 'ended' }>;
  /** Where the customer can go next. */
  return_address: string | undefined;
  notice?: FormNotice | undefined;
}

/** How the payment ended, for customers who stay here or come back. */
export function ResultPage(props: ResultPageProps) {
  const { payable, state, return_address, notice, localization } = props;
  const { texts } = localization;
  const { outcome, last_failure, late_approval, payment_page } = state;
  const claims_no_charge = outcome === 'attempt_failed' || outcome === 'suspended';
  const named = claims_no_charge ? (late_approval ?? outcome) : outcome;
  const { heading, detail } = texts.ended[named];
  const { sign, tone } = SIGNS[outcome];
  const declined = (outcome === 'error' || outcome === 'no_attempts_left') && last_failure?.reason === 'declined';
  return (
    <Layout {...props} title={heading}>
      <div class="sheet message">
        {notice && <NoticeBox heading={texts[notice]} details={[texts[`${notice}_detail`]]} errors={{}} />}
        <span class={tone}>
          <SignIcon sign={sign} />
        </span>
        <h1>{heading}</h1>
        <p class="lead">
          {declined && `${texts.last_declined} `}
          {payable.may_be_approved && late_approval === undefined
            ? texts.may_be_approved
            : detail(payable.merchant_name)}
        </p>
        {late_approval !== undefined && named !== late_approval && (
          <p class="lead">{texts.earlier_approval[late_approval](payable.merchant_name)}</p>
        )}
        <Receipt payable={payable} localization={localization} />
        {return_address === undefined ? (
          <p class="muted">{texts.may_close}</p>
        ) : (
          <a class="button" href={return_address}>
            {payment_page === undefined ? texts.back_to(payable.merchant_name) : texts.open_again}
          </a>
        )}
      </div>
    </Layout>
  );
}

/** The facts of a payment, for reading and printing. */
function Receipt({ payable, localization }: { payable: Payable; localization: Localization }) {
  const { texts } = localization;
  const rows: [string, string | undefined][] = [
    [texts.amount, localization.amount(payable)],
    [texts.merchant, payable.merchant_name],
    [texts.reference, payable.merchant_order_id ?? undefined],
    [texts.method, paidWith(payable, texts)],
  ];
  return (
    <dl class="receipt">
      {rows.map(([name, value]) =>
        value === undefined ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

function paidWith({ paid_with }: Payable, texts: Texts): string | undefined {
  if (paid_with === undefined) return undefined;
  const { payment_method, brand, last_digits } = paid_with;
  const card = texts.card_ending(brandName(brand), last_digits);
  return isWallet(payment_method) ? texts.wallet_card(WALLET_NAMES[payment_method], card) : card;
}

interface ProblemPageProps extends Frame {
  problem: keyof Texts['problems'];
  /** Address of the page that the request was about. */
  page: string | undefined;
  /** Where loading it again may succeed. */
  refresh: Reload | undefined;
}

/** The error in the request, in words for a customer. */
export function ProblemPage(props: ProblemPageProps) {
  const { problem, page, refresh, localization } = props;
  const { texts } = localization;
  const { heading, detail } = texts.problems[problem];
  return (
    <Layout {...props} title={heading}>
      <div class="sheet message">
        <span class="sign bad">
          <SignIcon sign="cross" />
        </span>
        <h1>{heading}</h1>
        <p class="lead">{detail}</p>
        {page !== undefined && (
          <a class="button" href={refresh?.url ?? page}>
            {texts.open_again}
          </a>
        )}
      </div>
    </Layout>
  );
}
