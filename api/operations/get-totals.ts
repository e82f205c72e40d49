import { dayTotals } from '../../src/db/orders/day-totals';
import { DAY_MS, nearestRecordable } from '../../src/domain/period';
import type { MerchantOperation, MerchantServices } from '../merchant';

const yesterday = () => new Date(Date.now() - DAY_MS).toISOString().slice(0, 10);

/**
 * The control totals of a day, which are the sums of the transaction report; without a day of yesterday (rules 26.9).
 */
export const getTotals =
  ({ bulk }: Pick<MerchantServices, 'bulk'>): MerchantOperation<'getTotals'> =>
  async ({ caller: { project }, signal }, { query: { day = yesterday() } }) => {
    const since = Date.parse(`${day}T00:00:00Z`);
    const period = {
      project_id: project.id,
      since: nearestRecordable(since),
      until: nearestRecordable(since + DAY_MS),
    };
    return { day, totals: await bulk.read(project.id, (trx) => dayTotals(trx, period), signal) };
  };
