import { listStoredPaymentLinks } from '../../src/db/payment-links';
import { listOperation } from '../large-answers/list';
import type { MerchantOperation, MerchantServices } from '../merchant';
import { presentPaymentLink } from '../present/payment-link';

/** The payment links of the project that were created in a period, newest first (rules 5.8). */
export const listPaymentLinks = (
  services: Pick<MerchantServices, 'bulk' | 'public_url'>,
): MerchantOperation<'listPaymentLinks'> =>
  listOperation(services, listStoredPaymentLinks, (link) => presentPaymentLink(link, services.public_url));
