import { WEBHOOK_ATTEMPTS_MAX } from '../../src/domain/delivery';
import { CLOCK_OFFSET } from '../../src/db/sandbox-clocks/sandbox-clocks';
import { inRecord, type Invariant } from './invariant';

export const deliveries: Invariant = {
  name: 'deliveries',
  title: 'Every delivery was attempted by its schedule: at once, two minutes after each failure, ten times at most.',
  eventual: true,
  violations: inRecord(`
    with attempted as (
      select d.order_id, d.n, d.status, d.next_attempt_at, d.created, count(a.attempt) as attempts,
        coalesce(max(a.attempt), 0) as last_attempt,
        bool_or(a.attempt = l.attempt and a.failure is null) as is_received,
        count(*) filter (where a.failure is null and a.attempt < l.attempt) as sent_after_receipt,
        count(*) filter (where a.started < b.started + (b.duration_ms + 120000) * interval '1 millisecond') as early
      from webhook_deliveries d
        left join lateral (
          select max(attempt) as attempt from webhook_attempts where order_id = d.order_id and n = d.n
        ) l on true
        left join webhook_attempts a on a.order_id = d.order_id and a.n = d.n
        left join webhook_attempts b on b.order_id = a.order_id and b.n = a.n and b.attempt = a.attempt - 1
      group by d.order_id, d.n
    )
    select format('webhook %s-%s is %s after %s attempts (%s)', d.order_id, d.n, d.status, d.attempts, w.what) as violation
    from attempted d join orders o on o.id = d.order_id, lateral (values
      (d.attempts <> d.last_attempt, 'an attempt is missing'),
      (d.sent_after_receipt > 0, 'sent again after it was received'),
      (d.status = 'delivered' and d.is_received is not true, 'not received'),
      (d.status <> 'delivered' and d.is_received is true, 'received'),
      (d.status = 'failed' and d.attempts <> ${WEBHOOK_ATTEMPTS_MAX}, 'given up early'),
      (d.status = 'new' and d.attempts >= ${WEBHOOK_ATTEMPTS_MAX}, 'attempts left after the last'),
      (d.status = 'new' and d.next_attempt_at + interval '60 seconds' < now() + ${CLOCK_OFFSET} * interval '1 millisecond',
       'overdue since ' || d.next_attempt_at),
      -- An operator may have it delivered at once.
      (d.early > 0 and not exists (select 1 from audit_trail where object_id = d.order_id || '-' || d.n),
       'sent again within two minutes')
    ) w (is_wrong, what)
    where w.is_wrong`),
};
