import type { Knex } from 'knex';

/**
 * Authorizations and follow-up orders. Confirmed amounts only grow; requested but unanswered amounts have columns of their own, so
 * that no money is requested twice. The CHECKs are the last word: no race can capture, void or refund more than there is
 * (rules 9.6).
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Whether the acquirer has registered the project for loading other accounts.
    alter table projects add column account_funding boolean not null default false;

    alter table orders
      drop constraint orders_kind_check,
      add constraint orders_kind_check check (kind in ('payment', 'capture', 'void', 'refund', 'chargeback', 'reversal')),
      -- Who asked for a follow-up order.
      add column requested_by text check (requested_by in ('merchant', 'processor', 'service')),
      -- A chargeback beyond what was captured: an operator looks at it.
      add column attention text;
    update orders set requested_by = 'service' where kind <> 'payment';
    alter table orders add check ((kind = 'payment') = (requested_by is null));

    alter table transactions
      drop constraint transactions_transaction_type_check,
      add constraint transactions_transaction_type_check check (transaction_type in ('authorization', 'aft', 'capture', 'void', 'refund', 'chargeback', 'reversal')),
      add column capture_mode text check (capture_mode in ('manual', 'delayed')),
      -- From acceptance to the end of the capture window, and that end once it is accepted.
      add column capture_period text,
      add column capture_ends_at timestamptz,
      -- The transaction whose money a follow-up order moves.
      add column original_transaction_id uuid references transactions,
      -- Account funding: where the money goes, as the processor's vault names it.
      add column receiver_account_token text,
      add column voided_amount bigint not null default 0 check (voided_amount >= 0),
      add column refunded_amount bigint not null default 0 check (refunded_amount >= 0),
      add column charged_back_amount bigint not null default 0 check (charged_back_amount >= 0),
      add column won_back_amount bigint not null default 0 check (won_back_amount >= 0),
      add column capture_pending_amount bigint not null default 0 check (capture_pending_amount >= 0),
      add column void_pending_amount bigint not null default 0 check (void_pending_amount >= 0),
      add column refund_pending_amount bigint not null default 0 check (refund_pending_amount >= 0),
      add check (captured_amount + voided_amount + capture_pending_amount + void_pending_amount <= amount),
      add check (refunded_amount + refund_pending_amount <= captured_amount),
      add check (capture_mode is not null or voided_amount + capture_pending_amount + void_pending_amount = 0),
      add check (capture_mode is null or (capture_period is not null and (status not in ('accepted') or capture_ends_at is not null)));

    -- What recovery looks for: orders, capture windows and webhooks whose workflow may be lost.
    create index orders_open on orders (modified) where status in ('new', 'processing', 'see-transactions');
    create index orders_due on orders (expires_at) where status in ('new', 'processing', 'see-transactions');
    create index transactions_windows on transactions (capture_ends_at) where capture_mode is not null and status = 'accepted' and captured_amount + voided_amount < amount;
    create index orders_follow_ups_open on orders (modified) where kind <> 'payment' and status in ('new', 'processing', 'see-transactions');
    create index webhook_deliveries_open on webhook_deliveries (created) where status = 'new';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop index orders_open, orders_due, orders_follow_ups_open, transactions_windows, webhook_deliveries_open;
    alter table transactions
      drop column capture_mode, drop column capture_period, drop column capture_ends_at, drop column original_transaction_id,
      drop column receiver_account_token, drop column voided_amount, drop column refunded_amount, drop column charged_back_amount,
      drop column won_back_amount, drop column capture_pending_amount, drop column void_pending_amount, drop column refund_pending_amount,
      drop constraint transactions_transaction_type_check,
      add constraint transactions_transaction_type_check check (transaction_type in ('reversal'));
    alter table orders
      drop column requested_by, drop column attention,
      drop constraint orders_kind_check,
      add constraint orders_kind_check check (kind in ('payment', 'reversal'));
    alter table projects drop column account_funding;
  `);
}
