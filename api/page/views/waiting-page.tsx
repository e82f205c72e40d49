import type { OrderView } from '../../../src/db/order-view';
import { CancelForm } from './cancel-form';
import { Layout, type Frame } from './layout';
import { Receipt } from './result-page';

/** What is awaited: the issuer's answer, the customer at the issuer, or our own side. */
export type WaitFor = 'outcome' | 'issuer' | 'late';

interface WaitingPageProps extends Frame {
  order: OrderView;
  page: string;
  wait_for: WaitFor;
  /** Where the issuer waits for the customer. */
  challenge_url: string | undefined;
  /** Where the page loads again, and after how many seconds. */
  refresh: { seconds: number; address: string };
  /** Token of the cancel form, where cancelling is possible. */
  token: string | undefined;
}

const WORDS = {
  outcome: ['waiting', 'waiting_detail'],
  issuer: ['issuer', 'issuer_detail'],
  late: ['late', 'late_detail'],
} as const;

/** Shown until the outcome is known: the page loads itself again, without any script. */
export function WaitingPage(props: WaitingPageProps) {
  const { order, page, wait_for, refresh, challenge_url, token, reader } = props;
  const { texts } = reader;
  const [heading, detail] = WORDS[wait_for];
  return (
    <Layout {...props} title={texts[heading]}>
      <div class="sheet message">
        <span class="sign waiting" aria-hidden="true">
          <span class="spinner" />
        </span>
        <h1>{texts[heading]}</h1>
        <p class="lead" role="status">
          {texts[detail]}
        </p>
        <Receipt order={order} reader={reader} />
        <a class="button" href={challenge_url ?? refresh.address}>
          {challenge_url === undefined ? texts.check_now : texts.to_issuer}
        </a>
        {token !== undefined && <CancelForm texts={texts} page={page} token={token} />}
      </div>
    </Layout>
  );
}
