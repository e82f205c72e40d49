import { listPaymentLinkViews, type PaymentLinkView } from '../../src/db/payment-links';
import { listOf } from '../list';
import type { MerchantOperation, Services } from '../merchant';
import { presentPaymentLink } from '../present-payment-link';

/** The payment links of the project that were created in a period, newest first (rules 5.8). */
export const listPaymentLinks = ({
  db,
  public_url,
}: Pick<Services, 'db' | 'public_url'>): MerchantOperation<'listPaymentLinks'> =>
  listOf<PaymentLinkView>(
    (project_id, page) => listPaymentLinkViews(db, project_id, page),
    (link) => presentPaymentLink(link, public_url),
  );
