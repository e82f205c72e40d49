import { CLOCK_OFFSET, LINK_CLOCK_OFFSET } from '../../src/db/sandbox-clocks/sandbox-clocks';
import { inRecord, type Invariant } from './invariant';

/** An instant that passed more than a minute ago, by a clock that is so many milliseconds ahead. */
const isOverdue = (at: string, offset_ms: string) =>
  `${at} + interval '60 seconds' < now() + ${offset_ms} * interval '1 millisecond'`;

export const ends: Invariant = {
  name: 'ends',
  title: 'No order, link or authorization is open a minute after its end, unless an outcome is unknown.',
  eventual: true,
  violations: inRecord(`
    select format('order %s is %s, its end was %s', o.id, o.status, o.expires_at) as violation
    from orders o
    where o.kind = 'payment' and o.status in ('new', 'processing', 'see-transactions')
      and ${isOverdue('o.expires_at', CLOCK_OFFSET)}
      and not exists (select 1 from transactions t where t.order_id = o.id and t.status = 'processing')
    union all
    select format('transaction %s is %s, its end was %s', t.id, t.status, t.expires_at)
    from transactions t join orders o on o.id = t.order_id
    where t.original_transaction_id is null and t.status in ('new', 'pending')
      and ${isOverdue('t.expires_at', CLOCK_OFFSET)}
    union all
    select format('payment link %s is %s, its end was %s', l.id, l.status, l.expires_at)
    from payment_links l
    where l.status in ('new', 'processing', 'all_unsuccessful') and ${isOverdue('l.expires_at', LINK_CLOCK_OFFSET)}
      and not exists (
        select 1 from orders o join transactions t on t.order_id = o.id
        where o.related_payment_link_id = l.id and t.status = 'processing')
    union all
    select format('authorization %s holds %s, its window ended %s',
                  t.id, t.amount - t.captured_amount - t.voided_amount, t.capture_ends_at)
    from transactions t join orders o on o.id = t.order_id
    where t.capture_mode is not null and t.status = 'accepted' and t.captured_amount + t.voided_amount < t.amount
      and ${isOverdue('t.capture_ends_at', CLOCK_OFFSET)}
      -- A refused release has an operator's attention (rules 8.10).
      and t.capture_pending_amount + t.void_pending_amount = 0 and o.attention is null`),
};
