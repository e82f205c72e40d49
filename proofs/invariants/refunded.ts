import { inRecord, type Invariant } from './invariant';

export const refunded: Invariant = {
  name: 'refunded',
  title: 'The refunded amount is that of the completed refund orders, at most what was captured.',
  violations: inRecord(`
    select format('transaction %s: captured %s, refunded %s, by its orders %s',
                  t.id, t.captured_amount, t.refunded_amount, m.refunded) as violation
    from transactions t, lateral (
      select coalesce(sum(f.amount), 0) as refunded
      from transactions f join orders o on o.id = f.order_id
      where f.original_transaction_id = t.id and o.kind = 'refund' and o.status = 'completed'
    ) m
    where t.original_transaction_id is null
      and (m.refunded <> t.refunded_amount or m.refunded > t.captured_amount)`),
};
