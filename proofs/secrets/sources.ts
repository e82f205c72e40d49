import { readFileSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { temporal } from '@temporalio/proto';
import { connectDatabase } from '../../src/db/connection';
import { queryRows } from '../../src/db/query';
import { connectSearch } from '../../src/search/connection';
import { INDEX } from '../../src/search/settings';
import { EncryptingCodec } from '../../src/temporal/payload-codec';
import { withDatabaseName } from '../../test/support/database';
import { runAdmin } from '../../test/support/admin';
import type { RunningStack } from '../../test/support/stack';
import { payloadsIn, temporalOf } from '../../test/support/temporal-client';

/** A place where something is stored, with what it holds as text. */
export interface Source {
  kind: string;
  name: string;
  text: string;
  /** Not made for people: digits may stand beside anything. */
  is_binary?: boolean;
}

/** Every table of a database, a source each. */
export async function* tablesOf(stack: RunningStack, database: string): AsyncGenerator<Source> {
  const db = connectDatabase(withDatabaseName(stack.postgres_url, database), { pool_max: 1 });
  try {
    const tables = await queryRows<{ name: string }>(
      db,
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    for (const { name } of tables) {
      const rows = await queryRows<{ line: string }>(db, `select row_to_json(t)::text as line from ${name} t`);
      yield { kind: 'tables', name: `${database} ${name}`, text: rows.map(({ line }) => line).join('\n') };
    }
  } finally {
    await db.destroy();
  }
}

/** Every workflow: its history as it is kept and decoded, and what Temporal lists of it. */
export async function* historiesOf(stack: RunningStack): AsyncGenerator<Source> {
  const client = temporalOf(stack);
  const codec = new EncryptingCodec(stack.payload_keys);
  const { History } = temporal.api.history.v1;
  try {
    for await (const listed of client.workflow.list()) {
      const { workflowId, runId } = listed;
      const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
      const payloads = await codec.decode(payloadsIn(history));
      const decoded = payloads.map(({ data }) => Buffer.from(data ?? []).toString()).join('\n');
      yield {
        kind: 'histories',
        name: workflowId,
        text: `${Buffer.from(History.encode(history).finish()).toString('latin1')}\n${decoded}`,
      };
      const memo = JSON.stringify([listed.memo, listed.typedSearchAttributes.getAll(), workflowId]);
      const described = await client.workflow.getHandle(workflowId, runId).describe();
      const details = JSON.stringify([
        await described.staticSummary(),
        await described.staticDetails(),
        described.raw.pendingActivities,
      ]);
      yield { kind: 'entries of the visibility store', name: workflowId, text: `${memo}\n${details}` };
    }
  } finally {
    await client.connection.close();
  }
}

/** Every document of the search index. */
export async function* documentsOf(stack: RunningStack): AsyncGenerator<Source> {
  const index = connectSearch(stack.search_server, 'set-up').index(INDEX);
  const limit = 1_000;
  for (let offset = 0; ; offset += limit) {
    const { results } = await index.getDocuments({ limit, offset });
    if (results.length === 0) return;
    yield { kind: 'pages of the search index', name: `documents from ${offset}`, text: JSON.stringify(results) };
  }
}

/** The files that hold the keys of the stack; only their owner may read them. */
const KEY_FILES = ['stack.json', 'stack.env', 'secrets.json', 'demo-keys.json'];

/** Every file of the stack's folder but the files with its keys, and those in which PostgreSQL keeps its tables. */
export function* filesOf(data_dir: string, folder = data_dir): Generator<Source> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    const name = path.relative(data_dir, file);
    if (entry.isDirectory() && name !== 'postgres') yield* filesOf(data_dir, file);
    // A socket, or a file of keys.
    if (!entry.isFile() || KEY_FILES.includes(name) || statSync(file).size === 0) continue;
    const kind = name.startsWith('logs') ? 'logs' : 'other files';
    yield { kind, name, text: readFileSync(file, 'latin1'), is_binary: kind !== 'logs' };
  }
}

/** What the service shows of all that: lists, searches, reports, timelines, and the command line. */
export async function* answersOf(stack: RunningStack, token: string): AsyncGenerator<Source> {
  for (const api_key of [stack.test_api_key, stack.live_api_key]) {
    const authorization = `Basic ${Buffer.from(`${api_key}:`).toString('base64')}`;
    const ask = async (name: string, body?: object) => {
      const answer = await fetch(stack.api_url + name, {
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
        headers: { authorization, ...(body && { 'content-type': 'application/json' }) },
      });
      if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
      return { kind: 'answers and reports', name, text: await answer.text() };
    };
    const orders = await ask('/v1/orders/');
    yield orders;
    yield await ask('/v1/paymentlinks/');
    yield await ask('/v1/requests/?limit=100');
    yield await ask('/v1/search/orders/', { query: '*', size: 1_000 });
    yield await ask('/v1/search/orders/?format=csv', { query: '*' });
    for (const { id } of (JSON.parse(orders.text) as { id: string }[]).slice(0, 300)) {
      yield await ask(`/v1/orders/${id}/timeline/`);
      yield await ask(`/v1/orders/${id}/webhooks/`);
      yield await ask(`/v1/orders/${id}/requests/`);
    }
  }
  for (const name of [
    '/v1/merchants/',
    '/v1/clients/',
    '/v1/audit-trail/?limit=100',
    '/v1/webhook-deliveries/?limit=100',
    '/v1/attentions/',
    '/v1/incidents/',
  ]) {
    const answer = await fetch(stack.manage_url + name, { headers: { authorization: `Bearer ${token}` } });
    yield { kind: 'answers and reports', name, text: await answer.text() };
  }
  for (const args of [
    ['doctor'],
    ['outcome', 'list'],
    ['audit', 'list', '--limit', '100'],
    ['--json', 'delivery', 'list', '--limit', '100'],
    ['attention', 'list', '--status', 'all'],
    ['incidents', 'list'],
  ]) {
    const { text } = await runAdmin(args, { data_dir: stack.data_dir });
    yield { kind: 'answers and reports', name: args.join(' '), text };
  }
  for (const [name, url] of Object.entries(stack.metrics_urls)) {
    yield { kind: 'metrics', name, text: await (await fetch(url)).text() };
  }
}
