import { atProcessor, type Invariant } from './invariant';

export const onePayment: Invariant = {
  name: 'one-payment',
  title: 'The customer paid an order at most once: any further approved charge was given back in full.',
  eventual: true,
  violations: atProcessor(`
    select format('order %s was paid %s times', order_id, count(*)) as violation
    from operations charge
    where operation in ('sale', 'authorize') and result = 'approved' and amount > coalesce((
      select sum(amount) from operations
      where transaction_id = charge.transaction_id and operation = 'reversal' and result = 'approved'), 0)
    group by order_id having count(*) > 1`),
};
