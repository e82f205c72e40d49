import type { OrderView } from '../../../src/db/order-view';
import { isWallet } from '../methods';
import type { Reader } from '../reader';
import type { CustomerStep } from '../step';
import { WALLET_NAMES, brandName } from '../languages';
import { SignIcon, type Sign } from './icons';
import { Layout, type Frame } from './layout';

const SIGNS: Record<Extract<CustomerStep, { kind: 'ended' }>['as'], { sign: Sign; tone: string }> = {
  completed: { sign: 'check', tone: 'sign good' },
  cancelled: { sign: 'cross', tone: 'sign' },
  expired: { sign: 'clock', tone: 'sign' },
  error: { sign: 'cross', tone: 'sign bad' },
};

interface ResultPageProps extends Frame {
  order: OrderView;
  step: Extract<CustomerStep, { kind: 'ended' }>;
  /** The merchant's address, where there is one. */
  back: string | undefined;
}

/** How the order ended, for customers who stay here or come back. */
export function ResultPage(props: ResultPageProps) {
  const { order, step, back, reader } = props;
  const { texts } = reader;
  const { heading, detail } = texts.ended[step.as];
  const { sign, tone } = SIGNS[step.as];
  const declined = step.as === 'error' && step.setback?.declined;
  return (
    <Layout {...props} title={heading}>
      <div class="sheet message">
        <span class={tone}>
          <SignIcon sign={sign} />
        </span>
        <h1>{heading}</h1>
        <p class="lead">
          {declined && `${texts.last_declined} `}
          {detail(order.merchant_name)}
        </p>
        <Receipt order={order} reader={reader} />
        {back === undefined ? (
          <p class="muted">{texts.may_close}</p>
        ) : (
          <a class="button" href={back}>
            {texts.back_to(order.merchant_name)}
          </a>
        )}
      </div>
    </Layout>
  );
}

/** The facts of an order, for reading and printing. */
export function Receipt({ order, reader }: { order: OrderView; reader: Reader }) {
  const { texts } = reader;
  const rows: [string, string | undefined][] = [
    [texts.amount, reader.amount(order)],
    [texts.merchant, order.merchant_name],
    [texts.reference, order.merchant_order_id ?? undefined],
    [texts.method, methodOf(order, reader)],
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

function methodOf({ transactions }: OrderView, { texts }: Reader): string | undefined {
  const paid = transactions.find(({ status }) => status === 'accepted');
  const pan = paid?.payment_method_details?.['truncated_pan'];
  if (paid === undefined || typeof pan !== 'string') return undefined;
  const card = texts.card_ending(brandName(paid.payment_method_brand ?? ''), pan.slice(-4));
  return isWallet(paid.payment_method) ? texts.wallet_card(WALLET_NAMES[paid.payment_method], card) : card;
}
