import { Client } from 'pg';

const TABLES = `
-- The vault. No card number: first six and last four digits, and the name of what happens to the card.
create table if not exists cards (
  vault_token text primary key,
  project_id uuid not null,
  truncated_pan text not null,
  card_expiry text not null,
  cardholder_name text,
  brand text not null,
  scenario text not null,
  -- The wallet that made the token; null for a card that was typed.
  wallet text
);
-- Account numbers of receivers (account funding), likewise.
create table if not exists accounts (
  account_token text primary key,
  project_id uuid not null,
  truncated_number text not null
);
-- Every operation, once per idempotency key. What it ends with is decided before it is answered.
create table if not exists operations (
  sequence bigint generated always as identity unique,
  idempotency_key text primary key,
  -- Of the request's body: the same key with another body is refused. Null where the processor itself began.
  fingerprint text,
  operation text not null,
  order_id uuid not null,
  transaction_id uuid not null,
  follow_up_order_id uuid,
  project_id uuid not null,
  is_test boolean not null,
  amount bigint not null check (amount >= 0),
  currency text not null,
  vault_token text,
  scenario text,
  result text not null,
  response_code text,
  three_ds jsonb,
  return_url text,
  challenge_id text unique,
  challenge_attempts int not null default 0,
  -- Only while processing: when the outcome comes and what it is.
  due timestamptz,
  due_result text,
  due_response_code text,
  -- What the processor does of itself after this one (chargeback, chargeback_reversal), and when; next_due is null
  -- once it is done.
  next_operation text,
  next_due timestamptz,
  occurred timestamptz not null,
  requests int not null default 1,
  -- Its number among the settlements; null until it is settled.
  settlement bigint unique
);
create sequence if not exists settlements;
create index if not exists operations_transaction on operations (transaction_id);
create index if not exists operations_order on operations (order_id);
create index if not exists operations_occurred on operations (occurred);
create index if not exists operations_due on operations (due) where due is not null;
create index if not exists operations_unsettled on operations (occurred)
  where settlement is null and result = 'approved' and operation not in ('authorize', 'void');
create index if not exists operations_next_due on operations (next_due) where next_due is not null;
-- Keys that arrived and were turned away without a trace in operations (cards that fail at first).
create table if not exists arrivals (
  idempotency_key text primary key,
  arrivals int not null default 1
);
-- Notifications to send; the body is the operation as it is when it is sent. Without operation: there are settlements
-- to fetch.
create table if not exists notifications (
  id text primary key,
  idempotency_key text references operations,
  attempts int not null default 0,
  due timestamptz not null,
  sent timestamptz
);
create index if not exists notifications_due on notifications (due) where sent is null;
`;

/** Postgres error codes of two processes that make the same thing at once. */
const ALREADY_THERE = new Set(['42P04', '23505']);

/** Makes the simulator's database and its tables where they are missing. Throws when the server cannot be reached. */
export async function prepareDatabase(postgres_url: string): Promise<void> {
  await createDatabase(postgres_url);
  const client = new Client({ connectionString: postgres_url });
  await client.connect();
  try {
    // "create … if not exists" fails if two processes run it at the same time, so they run it one after the other.
    await client.query(`begin; select pg_advisory_xact_lock(7110); ${TABLES} commit;`);
  } finally {
    await client.end();
  }
}

async function createDatabase(postgres_url: string): Promise<void> {
  const url = new URL(postgres_url);
  const name = decodeURIComponent(url.pathname.slice(1));
  url.pathname = '/postgres';
  const client = new Client({ connectionString: url.href });
  await client.connect();
  try {
    const found = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (found.rowCount === 0) await client.query(`create database ${client.escapeIdentifier(name)}`);
  } catch (error) {
    if (!ALREADY_THERE.has(String((error as { code?: unknown }).code))) throw error;
  } finally {
    await client.end();
  }
}
