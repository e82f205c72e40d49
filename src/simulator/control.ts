import { Router } from 'express';
import { z } from 'zod';
import type { SimulatorContext } from './context';
import { faultFactsSchema, faultSchema } from './faults';
import { presentLedgerEntry } from './ledger';
import { parse, Refusal } from './refusal';

const chargebackSchema = z.object({
  transaction_id: z.uuid(),
  operation: z.enum(['chargeback', 'chargeback_reversal']).default('chargeback'),
  /** Minor units; absent: all that was charged. */
  amount: z.int().min(1).optional(),
});
const dueSchema = z.object({ transaction_id: z.uuid().optional() });
const settlementsSchema = z.object({ order_id: z.uuid().optional() });
const notificationSchema = z.object({ idempotency_key: z.string().min(1) });

/**
 * Control API for tests and operators, with the control key; a real processor has none.
 *
 * - `POST/GET/DELETE /control/faults/` injected faults (Fault); DELETE ends those about the facts of its query, or
 *   all
 * - `POST /control/due/`              what waits for its time happens now: late outcomes, chargebacks
 * - `POST /control/chargebacks/`      a chargeback, or its reversal, of any charge
 * - `POST /control/settlements/`      settles now, not at the end of the day: one order, or all
 * - `POST /control/notifications/`    tells again how an operation stands
 */
export function control({ store, faults, doDue, wake }: SimulatorContext): Router {
  const router = Router();

  router.post('/faults/', (req, res) => {
    faults.add(parse(faultSchema, req.body));
    res.status(201).json(faults.list());
  });
  router.get('/faults/', (_req, res) => void res.json(faults.list()));
  router.delete('/faults/', (req, res) => {
    faults.clear(parse(faultFactsSchema, req.query));
    res.json(faults.list());
  });

  router.post('/due/', async (req, res) => {
    await store.makeDue(parse(dueSchema, req.body).transaction_id, new Date());
    await doDue();
    wake();
    res.json({});
  });
  router.post('/chargebacks/', async (req, res) => {
    const { transaction_id, operation, amount } = parse(chargebackSchema, req.body);
    const row = await store.chargeBack({ transaction_id, operation, amount }, new Date());
    if (!row) throw new Refusal(404, 'No approved charge of this transaction.', 'transaction_id');
    wake();
    res.status(201).json(presentLedgerEntry(row));
  });
  router.post('/settlements/', async (req, res) => {
    const { order_id } = parse(settlementsSchema, req.body);
    const now = new Date();
    const settled = await store.settle({ before: new Date(now.getTime() + 1), order_id }, now);
    wake();
    res.status(201).json({ settled });
  });
  router.post('/notifications/', async (req, res) => {
    const { idempotency_key } = parse(notificationSchema, req.body);
    if (!(await store.notifications.queue(idempotency_key, new Date()))) {
      throw new Refusal(404, 'No operation has this key.', 'idempotency_key');
    }
    wake();
    res.status(201).json({});
  });
  return router;
}
