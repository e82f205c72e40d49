import type { DeliveryAnswer } from '../../src/contract/delivery';
import type { Database } from '../../src/db/query';
import { findStoredDelivery, insertRedelivery, type StoredDelivery } from '../../src/db/webhooks/stored-deliveries';
import type { DeliveryKey } from '../../src/domain/delivery';
import type { WorkflowClients } from '../../src/temporal/workflows';
import { currentTimeOf } from '../../src/time';
import type { Write } from '../operation';
import { presentDelivery } from '../present/delivery';
import { audited, changeOf } from './audited';
import type { ChangeAuthor } from './author';
import { tellWorkflow } from './tell-workflow';

/** The services of a redelivery, of either host. */
interface RedeliverServices {
  db: Database;
  deliveries: Pick<WorkflowClients['deliveries'], 'start'>;
}

/**
 * Sends the event of a delivery once more (rules 13.13). The new delivery, its entry in the audit trail and the answer
 * are written at once; then its workflow is started. Where that fails recovery starts it.
 */
export function redeliver(
  { db, deliveries }: RedeliverServices,
  first: StoredDelivery,
  by: ChangeAuthor,
): Write<DeliveryAnswer> {
  let made: DeliveryKey | undefined;
  return {
    ...audited({ db }, by, async (trx) => {
      made = await insertRedelivery(trx, first, { now: new Date(currentTimeOf(first)), request_id: by.request_id });
      const answer = presentDelivery((await findStoredDelivery(trx, made))!);
      const { merchant_id } = first;
      return { answer, change: changeOf('webhook.redeliver', { id: answer.id, merchant_id }, { after: answer }) };
    }),
    async afterCommit() {
      if (made === undefined) return;
      const delivery = { ...first, ...made };
      await tellWorkflow(by.log, 'recovery will start the redelivery', (deadline_at) =>
        deliveries.start(delivery, deadline_at),
      );
    },
  };
}
