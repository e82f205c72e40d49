import { PAYMENT_LINK_ATTEMPTS_MAX } from '../../src/domain/payment-link';
import { inRecord, type Invariant } from './invariant';

export const links: Invariant = {
  name: 'links',
  title: `A payment link has ${PAYMENT_LINK_ATTEMPTS_MAX} orders at most, one open at a time, and is paid by one.`,
  violations: inRecord(`
    select format('payment link %s is %s with %s attempts: %s orders, %s open, %s completed',
                  l.id, l.status, l.attempts, m.orders, m.open, m.completed) as violation
    from payment_links l, lateral (
      select count(*) as orders,
        count(*) filter (where o.status in ('new', 'processing', 'see-transactions')) as open,
        count(*) filter (where o.status = 'completed') as completed,
        count(*) filter (where o.status = 'completed' and o.id = l.completed_order_id) as named
      from orders o where o.related_payment_link_id = l.id
    ) m
    where m.orders > ${PAYMENT_LINK_ATTEMPTS_MAX} or m.orders <> l.attempts or m.open > 1 or m.completed > 1
      or m.named <> m.completed or (m.completed = 1) <> (l.status = 'completed')
      or (m.open = 1) <> (l.status = 'processing')`),
};
