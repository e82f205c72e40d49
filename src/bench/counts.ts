import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { withDatabase } from '../db/connection';
import { median } from './figures';
import { actionsIn, eventNamesOf, workflowTasksIn } from './history';
import type { BenchRow } from './rows';
import { setServerSettings } from './server-settings';
import type { BenchStack } from './stack';

/**
 * The countable costs of one operation of a row: medians over single operations, so that a cache refresh does not
 * count.
 */
export interface Counts {
  row: string;
  events: number;
  workflow_tasks: number;
  /** What Temporal Cloud bills. */
  actions: number;
  /** Statements of the service only; the simulator has its own database. */
  statements: number;
}

/** Time until the log is written and the work that follows an answer is done. Milliseconds. */
const FOLLOWING_WORK_MS = 200;

/**
 * Does each row a few times, alone, and counts: events in the workflows' histories, statements in PostgreSQL's own log.
 */
export async function countWork(
  rows: readonly BenchRow[],
  stack: BenchStack,
  client: Client,
  samples: number,
): Promise<Counts[]> {
  const log_file = path.join(stack.data_dir, 'logs', 'postgres.log');
  await logStatements(stack.facts.postgres_url);
  const counts: Counts[] = [];
  for (const row of rows) {
    const taken: Omit<Counts, 'row'>[] = [];
    // The first operation opens connections and fills caches.
    for (let sample = 0; sample <= samples; sample += 1) {
      const prepared = await row.prepare?.();
      await sleep(FOLLOWING_WORK_MS);
      const history_before = prepared === undefined ? NOTHING : await historyOf(client, row.workflows(prepared));
      const log_before = statementsIn(log_file);
      const id = await row.once(prepared);
      await sleep(FOLLOWING_WORK_MS);
      const history = await historyOf(client, row.workflows(id));
      if (sample === 0) continue;
      taken.push({
        events: history.events - history_before.events,
        workflow_tasks: history.workflow_tasks - history_before.workflow_tasks,
        actions: history.actions - history_before.actions,
        statements: statementsIn(log_file) - log_before,
      });
    }
    const of = (name: keyof Omit<Counts, 'row'>) => median(taken.map((one) => one[name]));
    counts.push({
      row: row.name,
      events: of('events'),
      workflow_tasks: of('workflow_tasks'),
      actions: of('actions'),
      statements: of('statements'),
    });
  }
  return counts;
}

const NOTHING = { events: 0, workflow_tasks: 0, actions: 0 };

async function historyOf(client: Client, workflow_ids: readonly string[]): Promise<typeof NOTHING> {
  const histories = await Promise.all(workflow_ids.map((id) => eventNamesOf(client, id)));
  const sum = (figure: (names: readonly string[]) => number) =>
    histories.reduce((total, names) => total + figure(names), 0);
  return { events: sum(({ length }) => length), workflow_tasks: sum(workflowTasksIn), actions: sum(actionsIn) };
}

/** From now on the server writes every statement that it carries out, with the database's name before it. */
async function logStatements(postgres_url: string): Promise<void> {
  const settings = { log_line_prefix: '%d| ', log_parameter_max_length: '0', log_statement: 'all' };
  await withDatabase(postgres_url, (db) => setServerSettings(db, settings));
  await sleep(FOLLOWING_WORK_MS);
}

/** A statement's first line; its others begin with a tab. */
const STATEMENT = /^payments\| LOG: {2}(?:statement|execute [^:]*):/gm;

function statementsIn(log_file: string): number {
  return readFileSync(log_file, 'utf8').match(STATEMENT)?.length ?? 0;
}
