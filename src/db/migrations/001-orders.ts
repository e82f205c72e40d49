import type { Knex } from 'knex';

/**
 * The record. Statuses are frozen as of this migration; a test compares the newest list of each with the table of moves. Amounts
 * are minor units. Instants come from the workflows, never from `now()`.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table merchants (
      id uuid primary key,
      name text not null,
      created timestamptz not null
    );

    create table projects (
      id uuid primary key,
      merchant_id uuid not null references merchants,
      name text not null,
      is_test boolean not null,
      payment_methods text[] not null,
      currencies text[] not null,
      -- Validity of an order that names none; of a transaction that names none, for paying; and for capturing a manual one.
      expiration_period text not null default 'PT30M',
      transaction_expiration_period text not null default 'PT30M',
      capture_expiration_period text not null default 'P5D',
      webhook_url text,
      webhook_secret text not null,
      created timestamptz not null
    );

    -- A key is shown once: its first part names the row, of the rest only the SHA-256 is kept.
    create table api_keys (
      id text primary key,
      project_id uuid not null references projects,
      secret_hash bytea not null,
      created timestamptz not null,
      revoked timestamptz
    );

    create table orders (
      id uuid primary key,
      project_id uuid not null references projects,
      -- A follow-up order gives back what a payment took: it points at that payment order and never edits it.
      kind text not null default 'payment' check (kind in ('payment', 'reversal')),
      related_order_id uuid references orders,
      merchant_order_id text,
      description text,
      currency text not null check (currency ~ '^[A-Z]{3}$'),
      amount bigint not null check (amount between 0 and 9007199254740991),
      status text not null check (status in ('new', 'processing', 'see-transactions', 'completed', 'cancelled', 'expired', 'error')),
      -- Set when the customer or merchant stopped an unpaid order, or its time ran out.
      ended text check (ended in ('cancelled', 'expired')),
      attempts_max smallint not null check (attempts_max between 1 and 25),
      -- Follow-up orders wait for nobody and have neither.
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
      -- Every change of the order or its transactions adds one; whoever read an older version moves nothing.
      version integer not null default 0,
      -- How often the status changed; the number of the webhook that tells it.
      moves integer not null default 0,
      created timestamptz not null,
      modified timestamptz not null,
      completed timestamptz,
      check ((completed is not null) = (status = 'completed')),
      check ((kind = 'payment') = (related_order_id is null)),
      check (kind <> 'payment' or (expiration_period is not null and expires_at is not null))
    );
    create index orders_project_created on orders (project_id, created);
    create index orders_related on orders (related_order_id) where related_order_id is not null;

    create table transactions (
      id uuid primary key,
      order_id uuid not null references orders,
      attempt smallint not null check (attempt >= 1),
      amount bigint not null check (amount between 0 and 9007199254740991),
      currency text not null,
      payment_method text not null,
      payment_method_brand text,
      payment_method_details json,
      credit_debit text not null check (credit_debit in ('credit', 'debit')),
      transaction_type text check (transaction_type in ('reversal')),
      expiration_period text,
      expires_at timestamptz,
      status text not null check (status in ('new', 'pending', 'processing', 'accepted', 'error', 'cancelled', 'expired')),
      captured_amount bigint not null default 0,
      response_code text,
      response_code_description text,
      -- 3-D Secure: where the issuer waits for the customer, how it ended, and who bears a fraud then.
      challenge_url text,
      received_3ds_result text check (received_3ds_result in ('authenticated', 'attempted', 'failed')),
      liability_shift boolean,
      created timestamptz not null,
      modified timestamptz not null,
      unique (order_id, attempt),
      check (captured_amount between 0 and amount),
      check (captured_amount = 0 or status = 'accepted')
    );

    -- One row per move of a transaction.
    create table transaction_events (
      transaction_id uuid not null references transactions,
      n integer not null,
      id uuid not null default gen_random_uuid(),
      event text not null,
      source text not null check (source in ('customer', 'merchant', 'processor', 'service')),
      result text check (result in ('approved', 'declined', 'failed')),
      authorization_iso_response_code text,
      occurred timestamptz not null,
      noticed timestamptz not null,
      primary key (transaction_id, n)
    );

    -- Written in the same statement as the move it tells of; n is the order's number of moves.
    create table webhook_deliveries (
      order_id uuid not null references orders,
      n integer not null,
      url text not null,
      status text not null default 'new' check (status in ('new', 'delivered', 'failed')),
      created timestamptz not null,
      primary key (order_id, n)
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
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    'drop table webhook_attempts, webhook_deliveries, transaction_events, transactions, orders, api_keys, projects, merchants',
  );
}
