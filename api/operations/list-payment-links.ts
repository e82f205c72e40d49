import { listPaymentLinkViews } from '../../src/db/payment-links';
import { listPeriod } from '../../src/domain/period';
import { validationError } from '../../src/errors';
import { clock } from '../clock';
import type { MerchantOperation, Services } from '../merchant';
import { presentPaymentLink } from '../present-payment-link';
import { LIST_ORDERS_MAX } from './list-orders';

/**
 * The payment links of the project that were created in a period, newest first. Throws a ValidationError that names the
 * parameter.
 */
export const listPaymentLinks =
  ({ db, public_url }: Pick<Services, 'db' | 'public_url'>): MerchantOperation<'listPaymentLinks'> =>
  async ({ caller: { project } }, { query }) => {
    const period = listPeriod({ ...query, now: clock.now() });
    if ('problem' in period) throw validationError(period.parameter, period.problem);
    const links = await listPaymentLinkViews(db, project.id, period, LIST_ORDERS_MAX);
    return links.map((link) => presentPaymentLink(link, public_url));
  };
