import type { TestCard } from '../../../src/processor/wire';
import { CARD_FIELDS, type FieldErrors } from '../card-form';
import type { Texts } from '../languages';
import { CREDIT_CARD, isWallet, type AttemptFailure, type Payable, type PaymentState } from '../payable';
import { grouped, type Prefilled } from '../test-cards';
import { CancelForm, CardForm, WalletForms } from './forms';
import { ClockIcon, SchemeMarks } from './icons';
import { Layout, type Frame } from './layout';

/** Why a form was not carried out. */
export type FormNotice = 'not_sent' | 'not_cancelled';

interface PayPageProps extends Frame {
  payable: Payable;
  state: Extract<PaymentState, { kind: 'payable' }>;
  /** Address of the page. */
  page: string;
  token: string;
  field_errors: FieldErrors;
  notice: FormNotice | undefined;
  values: Partial<Prefilled>;
  test_cards: readonly TestCard[];
}

/** The amount, the payee, the deadline, and the payment forms. */
export function PayPage(props: PayPageProps) {
  const { payable, state, page, token, field_errors, values, test_cards, localization } = props;
  const { texts } = localization;
  const { methods, merchant_name: merchant } = payable;
  const amount = localization.amount(payable);
  const title = texts.pay_title(merchant, amount);
  const { attempt } = state;
  const wallets = methods.filter(isWallet);
  const by_card = methods.includes(CREDIT_CARD);
  // A test card was chosen: earlier errors are over.
  const notice = values.number === undefined ? noticeOf(texts, props) : undefined;
  return (
    <Layout {...props} title={notice ? notice.title(title) : title}>
      <div class="sheet checkout">
        <Summary {...props} amount={amount} />
        <section class="work" aria-label={texts.ways_to_pay}>
          {notice && <NoticeBox {...notice} />}
          {wallets.length > 0 && (
            <>
              <div class="heading">
                <h2>{texts.wallet_heading}</h2>
              </div>
              <WalletForms {...{ localization, wallets, page, token, attempt }} />
            </>
          )}
          {by_card && (
            <>
              <div class="heading">
                <h2>{texts.card_heading}</h2>
                <SchemeMarks />
              </div>
              <CardForm {...{ localization, page, token, attempt, values, amount, merchant }} errors={field_errors} />
            </>
          )}
          {methods.length === 0 && (
            <>
              <div class="heading">
                <h2>{texts.no_method}</h2>
              </div>
              <p>{texts.no_method_detail(merchant)}</p>
            </>
          )}
          {state.cancellable && (
            <div class="cancel">
              <CancelForm localization={localization} page={page} token={token} />
            </div>
          )}
        </section>
      </div>
      {by_card && test_cards.length > 0 && <TestCards texts={texts} cards={test_cards} page={page} />}
    </Layout>
  );
}

/** Amounts of this many characters use a smaller font, so that they stay on one line. */
const LONG_AMOUNT = 12;

function Summary({ payable, state, page, localization, amount }: PayPageProps & { amount: string }) {
  const { texts } = localization;
  const { merchant_name: merchant, description, merchant_order_id } = payable;
  return (
    <div class="panel">
      <p class="payee">
        <span class="mark" aria-hidden="true">
          {Array.from(merchant)[0]?.toUpperCase()}
        </span>
        {merchant}
      </p>
      <h1 class="sum">
        <span class="label">{texts.to_pay}</span>
        <span class={amount.length > LONG_AMOUNT ? 'amount long' : 'amount'}>{amount}</span>
      </h1>
      {(description !== null || merchant_order_id !== null) && (
        <div class="about">
          {description !== null && <p>{description}</p>}
          {merchant_order_id !== null && (
            <dl>
              <dt>{texts.reference}</dt>
              <dd>{merchant_order_id}</dd>
            </dl>
          )}
        </div>
      )}
      <p class="timer">
        <ClockIcon />
        <span>
          <span data-left-label={texts.time_left}>{texts.pay_before}</span>{' '}
          <time
            role="timer"
            datetime={new Date(state.expires_at).toISOString()}
            data-milliseconds-left={state.expires_at - payable.now}
            data-page={`${page}?waited=1`}
          >
            {localization.instant(state.expires_at)}
          </time>
        </span>
      </p>
    </div>
  );
}

/** The failure of the last attempt, shown above the forms. */
interface Notice {
  heading: string;
  details: readonly string[];
  /** Become links to their fields. */
  errors: FieldErrors;
  /** The page's title, which begins with the result. */
  title: (of_page: string) => string;
}

/** The notice to show: an error of this form takes precedence over the failure of the previous attempt. */
function noticeOf(texts: Texts, { payable, field_errors, notice, state }: PayPageProps): Notice | undefined {
  const { last_failure, late_approval, attempts_left } = state;
  const { merchant_name } = payable;
  const earlier = late_approval === undefined ? [] : [texts.earlier_approval[late_approval](merchant_name)];
  const title = texts.error_title;
  if (Object.keys(field_errors).length > 0) {
    return { heading: texts.check_fields, details: earlier, errors: field_errors, title };
  }
  const errors = {};
  if (notice) return { heading: texts[notice], details: [texts[`${notice}_detail`], ...earlier], errors, title };
  const left = texts.attempts_left(attempts_left);
  const open = payable.may_be_approved ? texts.may_be_approved : undefined;
  if (!last_failure) {
    if (late_approval !== undefined) {
      const { heading, detail } = texts.ended[late_approval];
      return { heading, details: [detail(merchant_name), left], errors, title };
    }
    return open === undefined ? undefined : { heading: texts.unknown_charge, details: [open, left], errors, title };
  }
  switch (last_failure.reason) {
    case 'declined': {
      const details = [open ?? declinedDetail(texts, last_failure), left, ...earlier];
      return { heading: texts.declined, details, errors, title: texts.declined_title };
    }
    case 'cancelled': {
      const { heading, detail } = texts.ended.cancelled;
      return { heading, details: [open ?? detail(), left, ...earlier], errors, title };
    }
    case 'not_confirmed':
    case 'failed':
      return {
        heading: texts[last_failure.reason],
        details: [open ?? texts.failed_detail, left, ...earlier],
        errors,
        title,
      };
  }
}

function declinedDetail(texts: Texts, { payment_method, response_code = '' }: AttemptFailure): string {
  // With a wallet the customer typed nothing that could be checked.
  const by_code: Readonly<Record<string, string>> = texts.declined_by_code;
  return isWallet(payment_method) ? texts.wallet_declined_detail : (by_code[response_code] ?? texts.declined_detail);
}

/** A notice above the forms, or on a waiting page: read out and focused first. */
export function NoticeBox({ heading, details, errors }: Omit<Notice, 'title'>) {
  const wrong = CARD_FIELDS.filter((name) => errors[name] !== undefined);
  return (
    <div class="notice" role="alert" tabindex={-1} autofocus>
      <h2>{heading}</h2>
      {details.map((detail) => (
        <p key={detail}>{detail}</p>
      ))}
      {wrong.length > 0 && (
        <ul>
          {wrong.map((name) => (
            <li key={name}>
              <a href={`#${name}`}>{errors[name]}</a>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

interface TestCardsProps {
  texts: Texts;
  cards: readonly TestCard[];
  page: string;
}

/**
 * The table of test cards: a form whose buttons load the page with that card filled in. Explicit roles, because the
 * rows are blocks on a phone and browsers would forget that it is a table. The cards' texts come from the processor, in
 * English.
 */
function TestCards({ texts, cards, page }: TestCardsProps) {
  return (
    <section class="sheet cards" aria-labelledby="cards-heading">
      <h2 id="cards-heading">{texts.cards_heading}</h2>
      <form method="get" action={page}>
        <table role="table">
          <caption>{texts.cards_detail}</caption>
          <thead role="rowgroup">
            <tr role="row">
              <th role="columnheader" scope="col">
                {texts.cards_card}
              </th>
              <th role="columnheader" scope="col">
                {texts.cards_number}
              </th>
              <th role="columnheader" scope="col">
                {texts.cards_meaning}
              </th>
              <td role="cell" />
            </tr>
          </thead>
          <tbody role="rowgroup">
            {cards.map(({ name, number, title, meaning }) => (
              <tr role="row" key={name}>
                <th role="rowheader" scope="row" lang="en">
                  {title}
                </th>
                <td role="cell" class="digits">
                  {grouped(number)}
                </td>
                <td role="cell" class="meaning" lang="en">
                  {meaning}
                </td>
                <td role="cell">
                  <button
                    class="button small"
                    type="submit"
                    name="card"
                    value={name}
                    aria-label={texts.cards_use_named(title)}
                  >
                    {texts.cards_use}
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </form>
    </section>
  );
}
