import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'undici';
import { setServerSettings } from '../../src/bench/server-settings';
import { BACKUP_CHECK } from '../../src/db/backups/backups';
import { queryRows, type Database } from '../../src/db/query';
import { requestSearchRebuild, searchRebuild } from '../../src/db/search/search-outbox';
import { connectSearch } from '../../src/search/connection';
import { INDEX } from '../../src/search/settings';
import { readVariables } from '../../src/stack/launch';
import { Merchant } from '../../test/support/merchant';
import { Operator } from '../../test/support/operator';
import type { OwnStack, RunningStack } from '../../test/support/stack';
import { withTemporal } from '../../test/support/temporal-client';
import { until } from '../../test/support/waits';
import { TASK_QUEUE } from '../../workflows/messages';
import { failBackupCheck } from '../support/archive';

/** Faults that need more than a stopped process, each for the length of some work. */

/**
 * A bearer-token host beside that of the stack, whose certificate ends in so many days. `work` gets the address of its
 * metrics.
 */
export async function withCertificateThatEnds(
  { data_dir }: RunningStack,
  days: number,
  work: (metrics_url: string) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'certificate-'));
  const [key, cert] = [path.join(folder, 'key.pem'), path.join(folder, 'cert.pem')];
  const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key, '-out', cert];
  execFileSync('openssl', ['req', '-x509', '-subj', '/CN=localhost', '-days', String(days), ...made], {
    stdio: 'ignore',
  });
  const host = spawn(process.execPath, [path.join(__dirname, '../../src/main/manage.js')], {
    env: {
      ...process.env,
      ...readVariables(data_dir),
      ...{ LOG_LEVEL: 'info', MANAGE_PORT: '0', METRICS_PORT: '0', TLS_CERT_FILE: cert, TLS_KEY_FILE: key },
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise<void>((resolve) => void host.once('exit', () => resolve()));
  try {
    let metrics_url: string | undefined;
    createInterface(host.stdout).on('line', (line) => {
      metrics_url ??= /"metrics_url":"([^"]+)"/.exec(line)?.[1];
    });
    await work(await until('the host with the certificate answers scrapes', () => metrics_url));
  } finally {
    host.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true });
  }
}

/** A client that uses an API key that was rolled a day ago. Revokes the key at the end. */
export async function withRolledKeyInUse(stack: RunningStack, db: Database, work: () => Promise<void>): Promise<void> {
  const operator = await Operator.signIn(stack);
  const old = await operator.aKey(await operator.aProject());
  await operator.roll(old, 'PT10H');
  await new Merchant(stack, old.key).getProject();
  await queryRows(db, `update api_keys set rolled = rolled - interval '1 day' where id = :id`, { id: old.id });
  try {
    await work();
  } finally {
    await operator.revoke(old);
  }
}

/**
 * A search index that was made again by hand, with another primary key. Rebuilds it at the end, as an operator does.
 */
export async function withIndexThatRefuses(
  { search_server }: RunningStack,
  db: Database,
  work: () => Promise<void>,
): Promise<void> {
  const server = connectSearch(search_server, 'set-up');
  await server.deleteIndex(INDEX);
  await server.createIndex(INDEX, { primaryKey: 'number' });
  try {
    await work();
  } finally {
    await requestSearchRebuild(db, Date.now());
    await until('the index is rebuilt', async () => (await searchRebuild(db)) === undefined);
  }
}

/** A clock of the database that is behind that of the machine. */
export async function withClockBehind(db: Database, seconds: number, work: () => Promise<void>): Promise<void> {
  const definition = `
    create function shadows.clock_timestamp() returns timestamptz volatile language sql
      as $$ select pg_catalog.clock_timestamp() - interval '${seconds} seconds' $$`;
  await withShadows(db, definition, work);
}

/**
 * Postgres cannot archive its log; when it last did is told 20 minutes earlier. The only check of a backup has failed,
 * and is made nine days older.
 */
export async function withArchiveThatFails(own: OwnStack, db: Database, work: () => Promise<void>): Promise<void> {
  await failBackupCheck(own);
  await db.transaction(async (transaction) => {
    // The audit trail is append-only otherwise.
    await queryRows(transaction, 'set local session_replication_role = replica');
    await queryRows(transaction, `update audit_trail set at = at - interval '9 days' where action = :action`, {
      action: BACKUP_CHECK,
    });
  });
  await setServerSettings(db, { archive_command: 'false' });
  const definition = `
    create view shadows.pg_stat_archiver as
      select last_archived_time - interval '20 minutes' as last_archived_time, archived_count, last_archived_wal,
        failed_count, last_failed_wal, last_failed_time, stats_reset from pg_catalog.pg_stat_archiver;
    grant select on shadows.pg_stat_archiver to public`;
  try {
    await withShadows(db, definition, work);
  } finally {
    await setServerSettings(db, { archive_command: 'true' });
  }
}

/** Functions and views in the schema "shadows" that hide those of Postgres from every session that begins meanwhile. */
async function withShadows(db: Database, definition: string, work: () => Promise<void>): Promise<void> {
  const [{ name } = { name: '' }] = await queryRows<{ name: string }>(db, 'select current_database() as name');
  const endSessions = () =>
    queryRows(
      db,
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = :name and pid <> pg_backend_pid()`,
      { name },
    );
  await db.raw(`create schema shadows; grant usage on schema shadows to public; ${definition}`);
  await db.raw('alter database ?? set search_path = shadows, pg_catalog, public', [name]);
  try {
    await endSessions();
    await work();
  } finally {
    await db.raw('alter database ?? reset search_path', [name]);
    await endSessions();
    await db.raw('drop schema shadows cascade');
  }
}

/** Starts workflows of a type that no worker knows, one every two seconds, and ends them at the end. */
export async function startUnknownWorkflows(stack: RunningStack, count: number): Promise<void> {
  await withTemporal(stack, async ({ workflow }) => {
    const started: string[] = [];
    try {
      for (let n = 0; n < count; n += 1) {
        const workflowId = `of-another-release:${n}`;
        await workflow.start('workflowOfAnotherRelease', { taskQueue: TASK_QUEUE, workflowId });
        started.push(workflowId);
        await sleep(2_000);
      }
    } finally {
      for (const workflowId of started) await workflow.getHandle(workflowId).terminate('the proof is over');
    }
  });
}

/** Has every workflow thread of the worker run an endless loop for so long, by Node's debugger. Resolves at its end. */
export async function blockWorkflowThreads(own: OwnStack, milliseconds: number): Promise<void> {
  const log = path.join(own.data_dir, 'logs', 'worker.log');
  process.kill(own.pid('worker'), 'SIGUSR1');
  const url = await until(
    'the debugger of the worker listens',
    () => /Debugger listening on (ws:\S+)/.exec(readFileSync(log, 'utf8'))?.[1],
  );
  const debug = new WebSocket(url);
  let sent = 0;
  let blocked = 0;
  const send = (method: string, params: object) => debug.send(JSON.stringify({ id: (sent += 1), method, params }));
  debug.addEventListener('open', () => send('NodeWorker.enable', { waitForDebuggerOnStart: false }));
  debug.addEventListener('message', ({ data }) => {
    const { method, params } = JSON.parse(String(data)) as Attached;
    if (method !== 'NodeWorker.attachedToWorker' || !params.workerInfo.url.includes('workflow-thread')) return;
    const expression = `for (const began = Date.now(); Date.now() - began < ${milliseconds};);`;
    const message = JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression } });
    send('NodeWorker.sendMessageToWorker', { sessionId: params.sessionId, message });
    blocked += 1;
  });
  await until('the workflow threads are found', () => blocked > 0);
  await sleep(milliseconds);
  debug.close();
}

/** A message of Node's debugger about a thread of the process. */
interface Attached {
  method?: string;
  params: { sessionId: string; workerInfo: { url: string } };
}

/**
 * Adds to the amount of a payment in the record, has the audit compare it with the processor, and runs the work while
 * the incident is open. Then takes it back, and has the audit close the incident.
 */
export async function withMoneyThatDiffers(
  stack: RunningStack,
  db: Database,
  work: () => Promise<void>,
): Promise<void> {
  await withTemporal(stack, async ({ schedule }) => {
    const audit = schedule.getHandle('audit');
    const [payment] = await queryRows<{ id: string }>(
      db,
      `select t.id from transactions t join orders o on o.id = t.order_id
     where o.kind = 'payment' and t.status = 'accepted' order by t.created desc limit 1`,
    );
    const add = (amount: number) =>
      queryRows(
        db,
        'update transactions set amount = amount + :amount, captured_amount = captured_amount + :amount where id = :id',
        { id: payment!.id, amount },
      );
    /** Triggers the audit until the number of open incidents is this; what has just changed is left to a later run. */
    const auditUntil = (open: number) =>
      until(
        `${open} incidents are open`,
        async () => {
          await audit.trigger();
          await sleep(5_000);
          const found = await queryRows(db, 'select 1 from incidents where closed_at is null');
          return found.length === open;
        },
        120_000,
      );
    await add(7);
    try {
      await auditUntil(1);
      await work();
    } finally {
      await add(-7);
    }
    await auditUntil(0);
  });
}
