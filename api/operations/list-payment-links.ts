import { listPaymentLinkViews } from '../../src/db/payment-links';
import { listOf } from '../large-answers/list';
import type { MerchantOperation, Services } from '../merchant';
import { presentPaymentLink } from '../present/payment-link';

/** The payment links of the project that were created in a period, newest first (rules 5.8). */
export const listPaymentLinks = (
  services: Pick<Services, 'bulk' | 'public_url'>,
): MerchantOperation<'listPaymentLinks'> =>
  listOf(services, listPaymentLinkViews, (link) => presentPaymentLink(link, services.public_url));
