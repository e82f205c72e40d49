import { atProcessor, type Invariant } from './invariant';

export const oneCharge: Invariant = {
  name: 'one-charge',
  title: 'The processor was asked for at most one charge of a transaction, under one key.',
  violations: atProcessor(`
    select format('transaction %s was charged %s times: %s', transaction_id, count(*),
                  string_agg(operation || ' ' || result || ' ' || amount, ', ' order by sequence)) as violation
    from operations where operation in ('sale', 'authorize')
    group by transaction_id having count(*) > 1`),
};
