import type { OrderView } from '../../../src/db/order-view';
import type { TestCard } from '../../../src/processor/wire';
import type { FieldErrors } from '../card-form';
import { CREDIT_CARD, isWallet, type PageMethod } from '../methods';
import type { CustomerStep, Setback } from '../step';
import type { Texts } from '../languages';
import type { Prefilled } from '../test-cards';
import { CancelForm } from './cancel-form';
import { CardForm } from './card-form';
import { ClockIcon, SchemeMarks } from './icons';
import { Layout, type Frame } from './layout';
import { Notice, type NoticeProps } from './notice';
import { TestCards } from './test-cards';
import { WalletForms } from './wallet-forms';

/** A problem that is not the customer's fault. */
export type Trouble = 'try_again' | 'not_cancelled';

/** What the page shows; `now` in epoch milliseconds. */
export interface PayPageProps extends Frame {
  order: OrderView;
  step: Extract<CustomerStep, { kind: 'pay' }>;
  /** Address of the order's page. */
  page: string;
  token: string;
  /** What the order can be paid with here. */
  methods: readonly PageMethod[];
  now: number;
  errors?: FieldErrors;
  trouble?: Trouble | undefined;
  values?: Partial<Prefilled>;
  test_cards: readonly TestCard[];
}

/** What is to be paid, to whom and until when, and the forms to pay it with. */
export function PayPage(props: PayPageProps) {
  const { order, step, page, token, methods, errors = {}, trouble, values = {}, test_cards, reader } = props;
  const { texts } = reader;
  const amount = reader.amount(order);
  const merchant = order.merchant_name;
  const title = texts.pay_title(merchant, amount);
  const { attempt } = step;
  const wallets = methods.filter(isWallet);
  const by_card = methods.includes(CREDIT_CARD);
  // A test card was chosen: earlier errors are over.
  const told =
    values.number === undefined
      ? toldFirst(texts, { errors, trouble, setback: step.setback, attempts_left: step.attempts_left })
      : undefined;
  return (
    <Layout {...props} title={told ? told.title(title) : title}>
      <div class="sheet checkout">
        <Summary {...props} amount={amount} />
        <section class="work" aria-label={texts.ways_to_pay}>
          {told && <Notice {...told.notice} />}
          {wallets.length > 0 && (
            <>
              <div class="heading">
                <h2>{texts.wallet_heading}</h2>
              </div>
              <WalletForms {...{ texts, wallets, page, token, attempt }} />
            </>
          )}
          {by_card && (
            <>
              <div class="heading">
                <h2>{texts.card_heading}</h2>
                <SchemeMarks />
              </div>
              <CardForm {...{ reader, action: page, token, attempt, errors, values, amount, merchant }} />
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
          <div class="cancel">
            <CancelForm texts={texts} page={page} token={token} />
          </div>
        </section>
      </div>
      {by_card && test_cards.length > 0 && <TestCards reader={reader} cards={test_cards} action={page} />}
    </Layout>
  );
}

function Summary({ order, step, page, reader, amount, now }: PayPageProps & { amount: string }) {
  const { texts } = reader;
  const merchant = order.merchant_name;
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
        <span class="amount">{amount}</span>
      </h1>
      {(order.description !== null || order.merchant_order_id !== null) && (
        <div class="about">
          {order.description !== null && <p>{order.description}</p>}
          {order.merchant_order_id !== null && (
            <dl>
              <dt>{texts.reference}</dt>
              <dd>{order.merchant_order_id}</dd>
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
            datetime={new Date(step.expires_at).toISOString()}
            data-milliseconds-left={step.expires_at - now}
            data-days={texts.days}
            data-page={page}
          >
            {reader.instant(step.expires_at)}
          </time>
        </span>
      </p>
    </div>
  );
}

interface Situation {
  errors: FieldErrors;
  trouble: Trouble | undefined;
  setback: Setback | undefined;
  attempts_left: number;
}

interface Told {
  notice: NoticeProps;
  /** The page's title, which says first what happened. */
  title: (of_page: string) => string;
}

/** The one notice to show: what is wrong with this form comes before the previous attempt's failure. */
function toldFirst(texts: Texts, { errors, trouble, setback, attempts_left }: Situation): Told | undefined {
  const title = texts.error_title;
  if (Object.keys(errors).length > 0) return { notice: { heading: texts.check_fields, errors }, title };
  if (trouble) return { notice: { heading: texts[trouble], details: [texts[`${trouble}_detail`]] }, title };
  if (!setback) return undefined;
  const details = [detailOf(texts, setback), texts.attempts_left(attempts_left)];
  return setback.declined
    ? { notice: { heading: texts.declined, details }, title: texts.declined_title }
    : { notice: { heading: texts.failed, details }, title };
}

function detailOf(texts: Texts, { declined, payment_method, response_code = '' }: Setback): string {
  if (!declined) return texts.failed_detail;
  // With a wallet the customer typed nothing that could be checked.
  const by_code: Readonly<Record<string, string>> = texts.declined_by_code;
  return isWallet(payment_method) ? texts.wallet_declined_detail : (by_code[response_code] ?? texts.declined_detail);
}
