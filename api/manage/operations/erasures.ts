import { v7 as uuidv7 } from 'uuid';
import type { ErasureAnswer } from '../../../src/contract/manage/erasure';
import { findErasure, insertErasure, listErasures, type StoredErasure } from '../../../src/db/retention/erasures';
import { ERASURE_FIELDS, type ErasureField } from '../../../src/domain/retention';
import { findStoredOrder } from '../../../src/db/orders/stored-order';
import { findStoredProject } from '../../../src/db/projects/projects';
import { ServiceError } from '../../../src/errors';
import { tellWorkflow } from '../../requests/tell-workflow';
import { formatTimestamp, presentPage } from '../../present/format';
import { requireOwn, type ManageOperations, type ManageServices } from '../manager';
import { audited, changeOf } from '../../requests/audited';
import { authorOf } from '../../requests/author';
import { ownProject } from './projects';

/** Erasures of the personal data of customers (rules 29.3). */
export function erasureOperations(services: Pick<ManageServices, 'db' | 'erasures'>) {
  const { db, erasures } = services;

  return {
    eraseCustomer: async (context, { body: { project_id, ...named } }) => {
      ownProject(context.caller, await findStoredProject(db, project_id));
      const field = ERASURE_FIELDS.find((name) => named[name] !== undefined)!;
      const value = field === 'order_id' ? await paymentOrderOf(named.order_id!) : named[field]!;
      const id = uuidv7();
      let subject = '';
      return {
        ...audited(services, authorOf(context), async (trx, now) => {
          const erasure = await insertErasure(trx, { id, project_id, field, value }, now);
          ({ subject } = erasure);
          const answer = presentErasure(erasure);
          return { answer, change: changeOf('erasure.start', erasure, { after: answer }) };
        }),
        async afterCommit() {
          await tellWorkflow(context.log, 'recovery will start the erasure', (deadline_at) =>
            erasures.start({ erasure_id: id, project_id, subject }, deadline_at),
          );
        },
      };

      /** Follow-up orders are erased with their payment order. */
      async function paymentOrderOf(order_id: string): Promise<string> {
        const order = await findStoredOrder(db, order_id);
        if (order?.project_id !== project_id) throw new ServiceError('NotFound', 'The order does not exist.');
        return order.related_order_id ?? order.id;
      }
    },

    listErasures: async ({ caller: { merchant_id } }, { query: { project_id, ...page } }) =>
      presentPage(await listErasures(db, { merchant_id, project_id }, page), presentErasure),

    getErasure: async ({ caller }, { params: { erasure_id } }) => {
      const erasure = await findErasure(db, erasure_id);
      return presentErasure(requireOwn(caller, erasure, erasure?.merchant_id, 'erasure'));
    },
  } satisfies Partial<ManageOperations>;
}

function presentErasure({ id, project_id, subject, orders, created, completed }: StoredErasure): ErasureAnswer {
  const [named_by, value] = subject.split(':') as [ErasureField, string];
  return {
    id,
    project_id,
    status: completed === null ? 'running' : 'completed',
    named_by,
    ...(named_by === 'order_id' && { order_id: value }),
    orders,
    created: formatTimestamp(created),
    ...(completed !== null && { completed: formatTimestamp(completed) }),
  };
}
