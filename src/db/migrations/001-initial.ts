import type { Knex } from 'knex';

/**
 * The record. Amounts are minor units. Instants come from the workflows, never from `now()`.
 *
 * The lists of statuses are frozen here; a test compares the newest list of each table with its table of moves. The
 * CHECKs on amounts are the last word: no race can capture, void or refund more than there is (rules 9.6).
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table merchants (
      id uuid primary key,
      name text not null,
      country text not null check (country ~ '^[A-Z]{2}$'),
      default_currency text not null check (default_currency ~ '^[A-Z]{3}$'),
      created timestamptz not null,
      modified timestamptz not null
    );

    create table projects (
      id uuid primary key,
      merchant_id uuid not null references merchants,
      name text not null,
      is_test boolean not null,
      -- A suspended project takes no new orders, links or payments (rules 21.10). Only an operator activates a project
      -- that an operator suspended.
      status text not null default 'active' check (status in ('active', 'suspended')),
      suspended_by text check (suspended_by in ('operator', 'merchant')),
      payment_methods text[] not null,
      currencies text[] not null,
      -- Whether the acquirer has registered the project for loading other accounts.
      account_funding boolean not null default false,
      -- Validity of an order that names none, of a transaction that names none (for paying), and of an authorization
      -- with capture_mode manual that names none (for capturing).
      expiration_period text not null default 'PT30M',
      transaction_expiration_period text not null default 'PT30M',
      capture_expiration_period text not null default 'P5D',
      webhook_url text,
      -- Encrypted with a key of SECRET_KEYS.
      webhook_secret bytea not null,
      webhook_secret_key_id text not null,
      -- After a roll webhooks also carry a signature of the previous secret, until it expires.
      previous_webhook_secret bytea,
      previous_webhook_secret_key_id text,
      previous_webhook_secret_expires timestamptz,
      -- Ids of objects that are created with an Idempotency-Key derive from the key and this namespace. It is secret:
      -- an order's id opens its hosted page, and keys are often as easy to guess as order numbers.
      id_namespace uuid not null default gen_random_uuid(),
      created timestamptz not null,
      modified timestamptz not null,
      check ((status = 'suspended') = (suspended_by is not null)),
      check ((previous_webhook_secret is null) = (previous_webhook_secret_expires is null)),
      check ((previous_webhook_secret is null) = (previous_webhook_secret_key_id is null)),
      -- For the foreign key of sandbox_clocks.
      unique (id, is_test)
    );

    -- Clocks that merchants have advanced (rules 23.4). An order or payment link uses the clock of its clock_id or id;
    -- without a row, real time. The foreign key and the CHECK on is_test keep live projects in real time whatever the
    -- code does.
    create table sandbox_clocks (
      -- The payment order or payment link that it belongs to.
      id uuid primary key,
      project_id uuid not null,
      is_test boolean not null default true check (is_test),
      -- How far it is ahead. At most 400 days.
      offset_ms bigint not null default 0 check (offset_ms between 0 and 34560000000),
      -- Real time of its last change.
      modified timestamptz not null,
      foreign key (project_id, is_test) references projects (id, is_test)
    );

    -- One row for each advance. Until its end is reached, due actions are being carried out.
    create table sandbox_clock_advances (
      clock_id uuid not null references sandbox_clocks,
      n integer not null,
      -- Derived from the request: a repeat is the same advance.
      request_id text not null,
      from_offset_ms bigint not null,
      to_offset_ms bigint not null,
      -- By the clock, before the advance.
      started timestamptz not null,
      is_finished boolean not null default false,
      primary key (clock_id, n),
      unique (clock_id, request_id),
      check (to_offset_ms > from_offset_ms)
    );

    -- A key is shown once. Its first part names the row; of the rest only a keyed hash is stored. secret_key_id: the
    -- key of SECRET_KEYS that it is hashed with.
    create table api_keys (
      id text primary key,
      project_id uuid not null references projects,
      secret_hash bytea not null,
      secret_key_id text not null,
      created timestamptz not null,
      last_used date,
      -- When it was rolled, and from when it is refused; null: it works until it is rolled or revoked.
      rolled timestamptz,
      expires timestamptz,
      revoked timestamptz,
      check ((rolled is null) = (expires is null))
    );
    create index api_keys_expires on api_keys (expires) where revoked is null;

    -- Who may call the bearer-token host (rules 21). After a roll the previous secret works until previous_expires.
    create table oauth_clients (
      client_id uuid primary key,
      name text not null,
      role text not null check (role in ('operator', 'merchant')),
      merchant_id uuid references merchants,
      secret_hash bytea not null,
      secret_key_id text not null,
      previous_secret_hash bytea,
      previous_secret_key_id text,
      previous_expires timestamptz,
      created timestamptz not null,
      last_used date,
      revoked timestamptz,
      check ((role = 'merchant') = (merchant_id is not null)),
      check ((previous_secret_hash is null) = (previous_expires is null)),
      check ((previous_secret_hash is null) = (previous_secret_key_id is null))
    );

    -- Keys of the tokens of the bearer-token host: one signs, replaced ones verify the tokens that they signed.
    create table signing_keys (
      kid uuid primary key,
      public_key json not null,
      -- Encrypted with a key of SECRET_KEYS.
      private_key bytea not null,
      secret_key_id text not null,
      created timestamptz not null,
      replaced timestamptz
    );
    create unique index signing_keys_present on signing_keys ((true)) where replaced is null;

    -- Every change of merchants, projects, keys, clients and secrets (rules 21.14). Written in the SQL transaction of
    -- the change.
    create table audit_trail (
      n bigint generated always as identity primary key,
      id uuid not null unique,
      at timestamptz not null,
      actor_kind text not null check (actor_kind in ('client', 'api_key', 'command_line', 'temporal')),
      actor_id text not null,
      action text not null,
      object_kind text not null,
      object_id text not null,
      -- The merchant whose object it is; null: of the installation.
      merchant_id uuid,
      before json,
      after json,
      request_id uuid
    );
    create function audit_trail_is_append_only() returns trigger language plpgsql as $$
      begin
        raise exception 'the audit trail is append-only';
      end
    $$;
    create trigger audit_trail_keep before update or delete or truncate on audit_trail
      for each statement execute function audit_trail_is_append_only();
    create index audit_trail_merchant on audit_trail (merchant_id, n);
    create index audit_trail_object on audit_trail (object_id, n);
    create index audit_trail_actor on audit_trail (actor_id, n);
    create index projects_merchant on projects (merchant_id, created, id);
    create index api_keys_project on api_keys (project_id, created, id);

    -- The Idempotency-Keys of projects and clients (rules 11.2). A row is written before its request has any effect,
    -- and is kept as long as the objects created with it. owner_id: the project or client.
    create table idempotency_keys (
      owner_id uuid not null,
      key text not null check (length(key) between 1 and 255),
      -- SHA-256 of the request's method, path and body.
      request_hash bytea not null,
      -- The first answer. Null until it is known. The body of an answer that shows an order or payment link is kept for
      -- some days (rules 11.2); object_id is that order or link.
      status smallint,
      body json,
      object_id uuid,
      -- Version of the object in the answer, where it carries an ETag.
      version int,
      created timestamptz not null,
      primary key (owner_id, key),
      check (status is not null or num_nonnulls(body, object_id, version) = 0),
      check (status is null or num_nonnulls(body, object_id) > 0)
    );
    create index idempotency_keys_object on idempotency_keys (object_id) where object_id is not null and body is not null;
    create index idempotency_keys_answers on idempotency_keys (created) where object_id is not null and body is not null;

    -- Requests without an Idempotency-Key (rules 10.5): the statement that carries one out claims it, or the API
    -- withdraws it before it answers that nothing was stored. Deleted after a day.
    create table request_claims (
      request_id uuid primary key,
      is_withdrawn boolean not null,
      claimed timestamptz not null default clock_timestamp()
    );
    create index request_claims_claimed on request_claims using brin (claimed);

    -- The requests of projects as they were answered, for 30 days (rules 25). Written in batches after the answer,
    -- without foreign keys: a row lock on the project for each would cost more than the row.
    create table logged_requests (
      -- The request id.
      id uuid primary key,
      project_id uuid not null,
      api_key_id text not null,
      received timestamptz not null,
      operation text not null,
      method text not null check (method in ('GET', 'HEAD', 'POST', 'PUT', 'DELETE')),
      path text not null,
      -- Null: the whole answer was not sent.
      status smallint check (status between 200 and 599),
      duration_ms integer not null check (duration_ms >= 0),
      error_type text,
      -- Paths of the wrong fields; only names that the API defines.
      error_fields text[],
      idempotency_key text,
      is_repeat boolean not null,
      order_id uuid,
      transaction_id uuid,
      payment_link_id uuid,
      -- The number of the webhook in the path.
      n integer,
      -- The order or payment link in the answer.
      object_id uuid,
      check ((error_type is null) = (error_fields is null)),
      check (idempotency_key is not null or not is_repeat)
    );
    create index logged_requests_project on logged_requests (project_id, received, id);
    create index logged_requests_errors on logged_requests (project_id, received, id) where error_type is not null;
    create index logged_requests_operation on logged_requests (project_id, operation, received, id);
    create index logged_requests_status on logged_requests (project_id, status, received, id);
    create index logged_requests_order on logged_requests (order_id, received, id) where order_id is not null;
    create index logged_requests_object on logged_requests (object_id, received, id) where object_id <> order_id;

    -- A reusable address of the hosted page: each attempt to pay makes an order (rules 19).
    create table payment_links (
      id uuid primary key,
      project_id uuid not null references projects,
      merchant_order_id text not null,
      amount bigint not null check (amount between 0 and 9007199254740991),
      currency text not null check (currency ~ '^[A-Z]{3}$'),
      description text,
      payment_methods json,
      expiration_period text not null,
      expires_at timestamptz not null,
      return_url text,
      webhook_url text,
      status text not null check (status in ('new', 'processing', 'completed', 'all_unsuccessful', 'expired')),
      ended_by text check (ended_by in ('time', 'merchant')),
      -- Orders made so far, counted in the statement that makes one.
      attempts smallint not null default 0 check (attempts between 0 and 25),
      completed_order_id uuid,
      version integer not null default 0,
      created timestamptz not null,
      modified timestamptz not null,
      completed timestamptz,
      check ((status = 'completed') = (completed_order_id is not null)),
      check ((status = 'completed') = (completed is not null)),
      check ((status = 'expired') = (ended_by is not null)),
      check ((status = 'new') <= (attempts = 0))
    );

    create table orders (
      id uuid primary key,
      project_id uuid not null references projects,
      -- A follow-up order moves money of a payment order: it points to that order and never edits it.
      kind text not null default 'payment'
        check (kind in ('payment', 'capture', 'void', 'refund', 'chargeback', 'reversal')),
      related_order_id uuid references orders,
      -- The payment link whose attempt a payment order is.
      related_payment_link_id uuid references payment_links,
      -- The clock that it uses: that of its payment link, else of its payment order.
      clock_id uuid not null,
      -- Who requested a follow-up order.
      requested_by text check (requested_by in ('merchant', 'processor', 'service')),
      merchant_order_id text,
      description text,
      currency text not null check (currency ~ '^[A-Z]{3}$'),
      amount bigint not null check (amount between 0 and 9007199254740991),
      status text not null
        check (status in ('new', 'processing', 'see-transactions', 'completed', 'cancelled', 'expired', 'error')),
      -- Set when the customer or merchant cancelled an unpaid order, or its time ran out.
      ended text check (ended in ('cancelled', 'expired')),
      -- Who ended it.
      ended_by text check (ended_by in ('customer', 'merchant', 'processor', 'service', 'operator')),
      attempts_max smallint not null check (attempts_max between 1 and 25),
      -- Who starts the charge of a payment order: the service, with the card token in the request, or the customer on
      -- the hosted page.
      charged_by text check (charged_by in ('token', 'customer')),
      -- A follow-up order has neither: it never expires.
      expiration_period text,
      expires_at timestamptz,
      payment_methods json,
      return_url text,
      failure_url text,
      webhook_url text,
      locale text,
      customer json,
      client json,
      extra json,
      order_lines json,
      -- Why an operator has to act.
      attention text,
      -- Every change of the order or its transactions adds one. A move planned from an older version is refused.
      version integer not null default 0,
      -- Numbers the orders roughly by creation. The last sort key of search results.
      sequence bigint generated always as identity,
      created timestamptz not null,
      modified timestamptz not null,
      completed timestamptz,
      check ((completed is not null) = (status = 'completed')),
      check ((ended is null) = (ended_by is null)),
      check ((kind = 'payment') = (related_order_id is null)),
      check ((kind = 'payment') = (requested_by is null)),
      check ((kind = 'payment') = (charged_by is not null)),
      check (kind <> 'payment' or (expiration_period is not null and expires_at is not null))
    );

    create table transactions (
      id uuid primary key,
      order_id uuid not null references orders,
      attempt smallint not null check (attempt >= 1),
      -- On a follow-up order: the transaction whose money it moves.
      original_transaction_id uuid references transactions,
      amount bigint not null check (amount between 0 and 9007199254740991),
      currency text not null,
      payment_method text not null,
      payment_method_brand text,
      payment_method_details json,
      -- Who chose the method of a payment: the merchant with the order, or the customer on the hosted page.
      method_chosen_by text check (method_chosen_by in ('merchant', 'customer')),
      credit_debit text not null check (credit_debit in ('credit', 'debit')),
      transaction_type text
        check (transaction_type in ('authorization', 'aft', 'capture', 'void', 'refund', 'chargeback', 'reversal')),
      -- Null: a sale.
      capture_mode text check (capture_mode in ('manual', 'delayed')),
      -- The capture window: its length, counted from acceptance, and its end, known once the transaction is accepted.
      capture_period text,
      capture_ends_at timestamptz,
      -- Account funding: the account that the money is for, as the processor's vault names it.
      receiver_account_token text,
      expiration_period text,
      expires_at timestamptz,
      status text not null
        check (status in ('new', 'pending', 'processing', 'accepted', 'error', 'cancelled', 'expired')),
      -- On an attempt of the hosted page: written before its charge is sent, so that from then on the processor may know
      -- it. The charge of a card token begins with its order (charged_by).
      charge_began boolean not null default false,
      -- Confirmed amounts only grow. Amounts that were requested from the processor and not answered have columns of
      -- their own, so that no money is requested twice.
      captured_amount bigint not null default 0,
      voided_amount bigint not null default 0 check (voided_amount >= 0),
      refunded_amount bigint not null default 0 check (refunded_amount >= 0),
      charged_back_amount bigint not null default 0 check (charged_back_amount >= 0),
      won_back_amount bigint not null default 0 check (won_back_amount >= 0),
      capture_pending_amount bigint not null default 0 check (capture_pending_amount >= 0),
      void_pending_amount bigint not null default 0 check (void_pending_amount >= 0),
      refund_pending_amount bigint not null default 0 check (refund_pending_amount >= 0),
      response_code text,
      response_code_description text,
      -- 3-D Secure: the issuer's page for the customer, the result, and who is liable for fraud.
      challenge_url text,
      received_3ds_result text check (received_3ds_result in ('authenticated', 'attempted', 'failed')),
      liability_shift boolean,
      -- The number of polls without an outcome, the last poll and the next one.
      polls integer not null default 0,
      polled_at timestamptz,
      poll_at timestamptz,
      -- The amount and currency of the processor's answer, if they are not the transaction's: its outcome is then
      -- unknown until an operator has acted (rules 10.17).
      answered_amount bigint,
      answered_currency text,
      -- The amount that the processor paid out or took back, and its fee, in minor units. Null until the transaction is
      -- settled.
      settlement_currency text,
      settlement_amount bigint,
      fee_currency text,
      fee_amount bigint,
      created timestamptz not null,
      modified timestamptz not null,
      unique (order_id, attempt),
      check ((polls = 0) = (polled_at is null)),
      check ((answered_amount is null) = (answered_currency is null)),
      check ((original_transaction_id is null) = (method_chosen_by is not null)),
      check (not charge_began or original_transaction_id is null),
      check (captured_amount between 0 and amount),
      check (captured_amount = 0 or status = 'accepted'),
      check (captured_amount + voided_amount + capture_pending_amount + void_pending_amount <= amount),
      check (refunded_amount + refund_pending_amount <= captured_amount),
      check (capture_mode is not null or voided_amount + capture_pending_amount + void_pending_amount = 0),
      check (
        capture_mode is null
        or (capture_period is not null and (status <> 'accepted' or capture_ends_at is not null))
      )
    );

    -- One row per move of a transaction.
    create table transaction_events (
      transaction_id uuid not null references transactions,
      n integer not null,
      id uuid not null default gen_random_uuid(),
      event text not null,
      source text not null check (source in ('customer', 'merchant', 'processor', 'service', 'operator')),
      -- Why an operator set the outcome by hand.
      reason text,
      result text check (result in ('approved', 'declined', 'failed')),
      authorization_iso_response_code text,
      occurred timestamptz not null,
      noticed timestamptz not null,
      primary key (transaction_id, n),
      check ((source = 'operator') = (reason is not null))
    );

    -- Requests to send a project's failed webhooks again (rules 13.16). One of a project is open at a time.
    create table webhook_recoveries (
      id uuid primary key,
      project_id uuid not null references projects,
      -- Deliveries that were created or failed in this time.
      since timestamptz not null,
      until timestamptz not null,
      status text not null check (status in ('running', 'paused', 'completed', 'stopped')),
      paused_by text check (paused_by in ('request', 'failures')),
      -- The last delivery that was looked at, in the order of their creation; null before the first.
      position json,
      -- How many were sent, and how many when it was started or resumed: earlier failures do not pause it again.
      sent integer not null default 0,
      resumed_at_sent integer not null default 0,
      request_id uuid not null,
      created timestamptz not null,
      modified timestamptz not null,
      completed timestamptz,
      check ((status = 'paused') = (paused_by is not null)),
      check ((status = 'completed') = (completed is not null))
    );

    -- Written in the same statement as the move it is about, or by request as a further delivery of the same event. n
    -- counts the deliveries of the order.
    create table webhook_deliveries (
      order_id uuid not null references orders,
      n integer not null,
      url text not null,
      status text not null default 'new' check (status in ('new', 'paused', 'delivered', 'failed')),
      -- When it is sent, or sent again, unless it is paused; null once it is final.
      next_attempt_at timestamptz,
      -- The first delivery of the same event.
      redelivery_of integer,
      -- The request that caused it; null after a timer, a poll or a restart.
      request_id uuid,
      -- The recovery that sent it, and its number there.
      recovery_id uuid references webhook_recoveries,
      recovery_n integer,
      created timestamptz not null,
      primary key (order_id, n),
      check ((recovery_id is null) = (recovery_n is null)),
      foreign key (order_id, redelivery_of) references webhook_deliveries,
      check ((next_attempt_at is not null) = (status in ('new', 'paused')))
    );

    create table webhook_attempts (
      order_id uuid not null,
      n integer not null,
      attempt smallint not null check (attempt between 1 and 10),
      -- Milliseconds allowed for connecting, and again for reading.
      time_limit_ms integer not null,
      started timestamptz not null,
      duration_ms integer not null,
      status_code smallint,
      failure text,
      primary key (order_id, n, attempt),
      foreign key (order_id, n) references webhook_deliveries
    );
    create index webhook_attempts_started on webhook_attempts using brin (started);

    -- Changes of the status of orders of test projects, for listeners (rules 13.19), for seven days. Written in the same
    -- statement as the move. xid, the transaction that wrote it, orders the events: an event is read once all older
    -- transactions have ended, so that no event comes before the position of a listener.
    create table webhook_events (
      id bigint generated always as identity primary key,
      xid xid8 not null default pg_current_xact_id(),
      project_id uuid not null references projects,
      order_id uuid not null,
      -- The number of the delivery of the same event; null when there is no address to send it to.
      n integer,
      created timestamptz not null
    );

    -- A transaction that the processor may have approved, or still may, although the record says that it ended unpaid
    -- or was refused: the processor is polled at poll_at, and again until it answers (rules 10.12). Written with the
    -- end, or with evidence that money moved; deleted once the processor has said no, the reversal order is written, or
    -- an operator has to act.
    create table late_approval_watches (
      transaction_id uuid primary key references transactions,
      poll_at timestamptz not null,
      -- The number of polls from poll_at on without an answer.
      polls integer not null default 0,
      began timestamptz not null
    );

    -- Operations that the processor announced: chargebacks and won chargebacks. The processor is polled by their key
    -- until its look-up finds them (rules 10.9).
    create table announced_operations (
      -- The order that records it.
      order_id uuid primary key,
      kind text not null check (kind in ('chargeback', 'reversal')),
      processor_key text not null,
      original_order_id uuid not null references orders,
      original_transaction_id uuid not null references transactions,
      announced timestamptz not null
    );
    create index announced_operations_announced on announced_operations (announced);

    -- Orders whose last change is not in the search index yet. Every change of an order or its transactions raises
    -- the order's version in the same statement, so triggers on orders miss none (rules 20.12).
    create table search_outbox (
      id bigint generated always as identity primary key,
      order_id uuid not null,
      changed timestamptz not null default clock_timestamp()
    ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
    create function search_outbox_add() returns trigger language plpgsql as $$
      begin
        insert into search_outbox (order_id) select id from changed;
        return null;
      end
    $$;
    create trigger search_outbox_insert after insert on orders
      referencing new table as changed for each statement execute function search_outbox_add();
    create trigger search_outbox_update after update on orders
      referencing new table as changed for each statement execute function search_outbox_add();

    -- The last search for orders, and since when searches have come without a long pause. Without recent searches
    -- changes are batched (rules 20.12).
    create table search_use (
      is_only boolean primary key default true check (is_only),
      since timestamptz not null default '-infinity',
      last timestamptz not null default '-infinity'
    );
    insert into search_use default values;

    -- Orders that the search index refused, with its reason. An operator looks at them.
    create table search_refusals (
      order_id uuid primary key references orders,
      reason text not null,
      refused timestamptz not null
    );

    -- At most one row: a rebuild of the search index that was requested, and how many orders it has written.
    create table search_rebuild (
      is_only boolean primary key default true check (is_only),
      requested timestamptz not null,
      orders bigint
    );

    -- The number of the last settlement that was fetched from the processor.
    create table settlement_progress (
      is_only boolean primary key default true check (is_only),
      last_number bigint not null
    );
    insert into settlement_progress (last_number) values (0);

    -- Settlements that are not written to their transaction yet. They stay here while there is no such transaction,
    -- or when it has been settled already; an operator looks at those that stay.
    create table open_settlements (
      number bigint primary key,
      transaction_id uuid not null,
      settlement_currency text not null,
      settlement_amount bigint not null,
      fee_currency text,
      fee_amount bigint,
      fetched timestamptz not null
    );
    create index open_settlements_transaction on open_settlements (transaction_id);

    -- Why an operator has to act on an object, as the search attribute Attention of its workflow says, since when and
    -- until when. By the database's clock, as it is for operators and reconciled with the record (rules 24.19).
    create table attentions (
      id uuid primary key default gen_random_uuid(),
      object_kind text not null check (object_kind in ('order', 'webhook', 'settlements', 'search_index', 'workflow')),
      object_id text not null,
      -- Null: of the installation.
      project_id uuid,
      reason text not null,
      since timestamptz not null default clock_timestamp(),
      until timestamptz,
      check (until >= since)
    );
    create unique index attentions_open on attentions (object_kind, object_id, reason) where until is null;
    create index attentions_since on attentions (since, id);
    create index orders_attention on orders (id) where attention is not null;
    create index transactions_without_answer on transactions (order_id)
      where polls >= 170 or answered_amount is not null;

    -- Restores of the record from a backup (rules 28). While one has not ended, nothing new is accepted.
    create table restores (
      id uuid primary key,
      began timestamptz not null,
      -- What is newer may be missing in the record.
      since timestamptz not null,
      reconciled timestamptz,
      rewritten int not null default 0 check (rewritten >= 0),
      open_items json not null default '[]',
      ended timestamptz,
      check (ended >= began)
    );
    create unique index restores_open on restores ((true)) where ended is null;

    -- At most one row: how far the audit has compared the record with the processor and the search index, and the run
    -- that is under way or was the last (rules 26.2).
    create table audit_progress (
      is_only boolean primary key default true check (is_only),
      -- All that changed before it has been compared; null before the first run. Settlements: up to this number.
      checked_until timestamptz,
      settled_up_to bigint not null default 0,
      -- Of the run: its period, the step it has reached and the position in it, and what it has found so far.
      began timestamptz not null,
      since timestamptz not null,
      until timestamptz not null,
      fetched_up_to bigint not null,
      step text not null,
      position json,
      figures json not null,
      -- Counts the slices of all runs: a slice is written once.
      slices bigint not null default 0,
      finished timestamptz
    );

    -- Differences in money between the record and the processor (rules 26.5).
    create table incidents (
      id uuid primary key,
      kind text not null check (kind in
        ('missing_in_record', 'status', 'amount', 'double_charge', 'refund_too_large', 'settlement', 'sum')),
      -- What differs: a transaction; of kind sum the project, currency, operation and day.
      object_id text not null,
      project_id uuid not null references projects,
      -- The payment order and the transaction; the record may lack both. Null for a sum.
      order_id uuid,
      transaction_id uuid,
      currency text not null check (currency ~ '^[A-Z]{3}$'),
      record_amount bigint not null check (record_amount >= 0),
      processor_amount bigint not null check (processor_amount >= 0),
      description text not null,
      opened_at timestamptz not null,
      last_seen_at timestamptz not null,
      closed_at timestamptz,
      -- audit: a later run has not found it any more. operator: with the reason.
      closed_by text check (closed_by in ('audit', 'operator')),
      reason text,
      -- Of the events to the operator's webhook; null while one is due.
      opened_event text check (opened_event in ('sent', 'failed', 'none')),
      closed_event text check (closed_event in ('sent', 'failed', 'none')),
      check ((closed_at is null) = (closed_by is null)),
      check ((closed_at is null) = (reason is null)),
      check (closed_event is null or closed_at is not null),
      check ((kind = 'sum') = (order_id is null)),
      check ((kind = 'sum') = (transaction_id is null)),
      check (last_seen_at >= opened_at)
    );
    create unique index incidents_open on incidents (kind, object_id) where closed_at is null;
    create index incidents_object on incidents (kind, object_id, opened_at) where closed_by = 'operator';
    create index incidents_unfinished on incidents (id) where closed_at is null or closed_event is null;
    create index incidents_opened on incidents (opened_at, id);

    -- Checks of merchants' webhook receivers (rules 27), for 30 days.
    create table receiver_checks (
      id uuid primary key,
      project_id uuid not null references projects,
      webhook_url text not null,
      -- The webhooks of each case, the reads that followed, and the verdict.
      cases json,
      -- Why it was stopped.
      reason text,
      created timestamptz not null,
      -- Null while it runs.
      completed timestamptz,
      check (num_nonnulls(cases, reason) = num_nonnulls(completed))
    );
    create unique index receiver_checks_running on receiver_checks (project_id) where completed is null;
    create index receiver_checks_created on receiver_checks (created);

    -- Erasures of the personal data of customers (rules 29.3).
    create table erasures (
      id uuid primary key,
      project_id uuid not null references projects,
      -- The field that names the customer, and a hash of its value; or order_id and the id of a payment order.
      subject text not null check (subject ~ '^(merchant_customer_id|email_address|order_id):[0-9a-f-]{36,64}$'),
      -- The last order of the project that was looked at, in the order of their creation; null before the first.
      position json,
      -- Payment orders that were erased so far.
      orders integer not null default 0 check (orders >= 0),
      created timestamptz not null,
      modified timestamptz not null,
      completed timestamptz,
      check (completed >= created)
    );
    create index erasures_running on erasures (modified) where completed is null;
    create index erasures_project on erasures (project_id, created, id);

    -- The readiness probe advances it, which only a server that can write does.
    create sequence readiness_checks as bigint cycle;

    -- Work that one process at a time does. The row is the lease; no session lock is held.
    create table leases (
      name text primary key,
      holder text not null,
      expires_at timestamptz not null
    );

    -- How far recovery has checked each kind of open row; for a round under way, its end and position.
    create table recovery_progress (
      source text primary key,
      checked_until timestamptz not null,
      round_until timestamptz,
      position json
    );

    create index orders_project_created on orders (project_id, created, sequence);
    -- What the audit compares: closed orders by their last change, and what happened in a period.
    create index orders_closed on orders (modified, id) where status not in ('new', 'processing', 'see-transactions');
    create index transaction_events_occurred on transaction_events using brin (occurred);
    create index orders_related on orders (related_order_id) where related_order_id is not null;
    create index payment_links_project_created on payment_links (project_id, created, id);
    create index orders_of_payment_link on orders (related_payment_link_id) where related_payment_link_id is not null;
    -- A payment link has one payment in progress at a time, and is paid once.
    create unique index orders_open_of_payment_link on orders (related_payment_link_id)
      where status in ('new', 'processing', 'see-transactions');
    create unique index orders_paid_of_payment_link on orders (related_payment_link_id) where status = 'completed';

    -- Rows that recovery checks, by the instant from which it does (rules 10.13).
    create index orders_open on orders (modified)
      where kind = 'payment' and status in ('new', 'processing', 'see-transactions');
    create index orders_open_expires_at on orders (expires_at)
      where kind = 'payment' and status in ('new', 'processing', 'see-transactions');
    create index payment_links_open on payment_links (modified)
      where status in ('new', 'processing', 'all_unsuccessful') and attempts > 0;
    create index payment_links_open_expires_at on payment_links (expires_at)
      where status in ('new', 'processing', 'all_unsuccessful');
    create index orders_follow_ups_open on orders (modified)
      where kind <> 'payment' and status in ('new', 'processing', 'see-transactions');
    create index transactions_open_expires_at on transactions (expires_at)
      where status in ('new', 'pending') and original_transaction_id is null;
    create index transactions_processing on transactions (modified) where status = 'processing';
    create index transactions_reserved on transactions (modified)
      where capture_mode is not null and status = 'accepted' and captured_amount + voided_amount < amount;
    create index transactions_capture_windows on transactions (capture_ends_at)
      where capture_mode is not null and status = 'accepted' and captured_amount + voided_amount < amount;
    create index late_approval_watches_poll_at on late_approval_watches (poll_at);
    create index sandbox_clocks_modified on sandbox_clocks (modified);
    create index webhook_events_project on webhook_events (project_id, xid, id);
    create index webhook_events_created on webhook_events (created);
    create index webhook_deliveries_created on webhook_deliveries (created, order_id, n);
    create index webhook_deliveries_open on webhook_deliveries (next_attempt_at) where status = 'new';
    create index webhook_deliveries_failed on webhook_deliveries (created, order_id, n) where status = 'failed';
    create unique index webhook_deliveries_recovery on webhook_deliveries (recovery_id, recovery_n)
      where recovery_id is not null;
    create unique index webhook_recoveries_open on webhook_recoveries (project_id) where status in ('running', 'paused');
    create index webhook_recoveries_project on webhook_recoveries (project_id, created, id);
    create index webhook_recoveries_running on webhook_recoveries (modified) where status = 'running';
  `);
}
