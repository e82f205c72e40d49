import pino from 'pino';
import type { ManageContext, ManageServices } from '../../api/manage/manager';
import { deliveryOperations } from '../../api/manage/operations/deliveries';
import { carryOut, type Write } from '../../api/operation';
import type { DeliveryAnswer } from '../../src/contract/delivery';
import type { Database } from '../../src/db/connection';
import { updateDelivery } from '../../src/db/webhooks/deliveries';
import { moveOrder } from '../../src/db/orders/move-order';
import type { DeliveryId } from '../../src/domain/delivery';
import { NOW, aRequest, aStoredOrder } from './builders';
import { PROJECT } from './database';

/** A webhook in the record that no workflow delivers. */
export async function aDelivery(
  db: Database,
  project_id: string = PROJECT.id,
): Promise<{ order_id: string; n: number }> {
  const order = await aStoredOrder(db, { project_id, webhook_url: 'https://shop.example/hook' });
  await moveOrder(db, order, { ended: 'cancelled' }, { source: 'merchant', now: NOW });
  return { order_id: order.id, n: 1 };
}

/** Pauses a webhook that is due at NOW, in the record alone. */
export async function pauseDelivery(db: Database, delivery: DeliveryId): Promise<void> {
  await db.transaction((trx) => updateDelivery(trx, delivery, { status: 'paused', next_attempt_at: NOW }));
}

/** What an operator asks for at the command line, carried out with these services. */
export async function requestOfOperator(
  services: Pick<ManageServices, 'db' | 'deliveries'>,
  { order_id, n }: DeliveryId,
  operation: 'deliverNow' | 'pauseDelivery' | 'resumeDelivery',
): Promise<DeliveryAnswer> {
  const context = {
    caller: { id: 'tester', log: {}, actor: { kind: 'command_line', id: 'tester' }, role: 'operator' },
    request: aRequest(),
    log: pino({ level: 'silent' }),
  } as unknown as ManageContext;
  const run = deliveryOperations(services)[operation];
  return await carryOut((await run(context, { params: { id: `${order_id}-${n}` } })) as Write<DeliveryAnswer>);
}

/** A Temporal that does not answer: no workflow learns of anything. */
export const UNREACHABLE: ManageServices['deliveries'] = {
  start: () => Promise.reject(new Error('unavailable')),
  resume: () => Promise.reject(new Error('unavailable')),
};
