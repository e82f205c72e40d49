import { inRecord, type Invariant } from './invariant';

export const capturedAndVoided: Invariant = {
  name: 'captured-and-voided',
  title:
    'Captured, voided and released amounts are those of the completed orders, together at most what was authorized.',
  violations: inRecord(`
    select format('transaction %s of %s: captured %s and voided %s, by its orders %s and %s',
                  t.id, t.amount, t.captured_amount, t.voided_amount, m.captured, m.voided) as violation
    from transactions t, lateral (
      select coalesce(sum(f.amount) filter (where o.kind = 'capture'), 0) as captured,
             coalesce(sum(f.amount) filter (where o.kind = 'void'), 0) as voided
      from transactions f join orders o on o.id = f.order_id
      where f.original_transaction_id = t.id and o.status = 'completed'
    ) m
    where t.original_transaction_id is null and t.capture_mode is not null
      and (m.captured <> t.captured_amount or m.voided <> t.voided_amount or m.captured + m.voided > t.amount)`),
};
