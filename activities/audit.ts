import { Context } from '@temporalio/activity';
import {
  AUDIT_STEPS,
  NO_FIGURES,
  beginAuditRun,
  findAuditRun,
  saveAuditSlice,
  type AuditFigures,
  type AuditRun,
  type AuditStep,
} from '../src/db/audit/audit-progress';
import { closeIncident, recordDifferences, unfinishedIncidents, type StoredIncident } from '../src/db/audit/incidents';
import { approvedOrders, changedOrders, findOpenOrders, type OrderSlice } from '../src/db/audit/recorded-money';
import { awaitsReconciliation } from '../src/db/backups/restores';
import type { PagePosition } from '../src/db/pages';
import type { Comparison } from '../src/domain/audit';
import type { Difference } from '../src/domain/incident';
import { DAY_MS, HOUR_MS } from '../src/domain/period';
import { REPORT_LIMIT, REPORT_ORDERS_MAX } from '../src/processor/wire';
import { findDifferences, type Found } from './audit-comparison';
import { differingProjects, sumDifferences, sumOf } from './audit-totals';
import { comparePage } from './search-index';
import { withTimeOfTry, waitedMilliseconds } from './activity-time';
import { workForAPart } from './part';
import type { ActivityServices, TimeOfTry } from './services';

type AuditServices = Pick<
  ActivityServices,
  'db' | 'processor' | 'index' | 'workflows' | 'log' | 'audit_margin_ms' | 'audit_orders_per_second'
>;

/** An approval that the record still waits for after this long is a difference. Milliseconds. */
const OPEN_MS = HOUR_MS;
/** Pause between two heartbeats: a slice may take longer than Temporal waits for one. Milliseconds. */
const HEARTBEAT_EVERY_MS = 2_000;

/** How far a run of the audit is. */
export interface AuditPart {
  is_finished: boolean;
  figures: AuditFigures;
}

/**
 * Compares the record with the processor and the search index, slice by slice, for some seconds (rules 26.2). Continues
 * the run under way, or begins one; compares nothing while a restored record lacks what it lost (rules 28.1).
 * Repeat-safe: each slice is recorded with the position of the next.
 */
export async function auditPart(services: ActivityServices, input: TimeOfTry): Promise<AuditPart> {
  if (await awaitsReconciliation(services.db)) return { is_finished: true, figures: NO_FIGURES };
  const { now } = withTimeOfTry(input, waitedMilliseconds());
  const context = Context.current();
  let run = await currentRun(services, now);
  // Another try may have finished it.
  let is_finished = run.finished !== null;
  const figures = () => run.figures;
  const heartbeats = setInterval(() => context.heartbeat(figures()), HEARTBEAT_EVERY_MS);
  try {
    await workForAPart(async () => {
      // A restore may have begun since the slice before.
      is_finished ||= await awaitsReconciliation(services.db);
      if (is_finished) return false;
      const began = performance.now();
      const { orders } = run.figures;
      run = await auditSlice(services, run, now);
      const least_ms = ((run.figures.orders - orders) / services.audit_orders_per_second) * 1_000;
      await context.sleep(Math.max(0, least_ms - (performance.now() - began)));
      is_finished = run.finished !== null;
      return !is_finished;
    }, figures);
  } finally {
    clearInterval(heartbeats);
  }
  return { is_finished, figures: figures() };
}

/**
 * The run under way, or a new one: of all that has changed since the last one, and once a day of all of yesterday.
 */
async function currentRun({ db, audit_margin_ms }: AuditServices, now: number): Promise<AuditRun> {
  const last = await findAuditRun(db);
  const until = now - audit_margin_ms;
  const yesterday = startOfDay(until) - DAY_MS;
  const checked_until = last?.checked_until ?? yesterday;
  const is_new_day = startOfDay(checked_until) < startOfDay(until);
  const since = Math.min(checked_until, is_new_day ? yesterday : until);
  return await beginAuditRun(db, { began: now, since, until });
}

const startOfDay = (instant: number) => Math.floor(instant / DAY_MS) * DAY_MS;

/** What was compared in a slice of a step. */
interface Slice extends Found {
  /** Where the next slice of the step begins; absent on the last one. */
  position?: PagePosition | undefined;
  closed?: number;
  index_differences?: number;
}

const NOTHING: Slice = { orders: 0, in_flight: 0, differences: [] };

/** Compares one slice, records what it has found, and returns the run as recorded afterwards. */
export async function auditSlice(services: AuditServices, run: AuditRun, now: number): Promise<AuditRun> {
  const slice = await SLICES[run.step](services, run, now);
  const opened = await recordDifferences(services.db, slice.differences, now);
  for (const incident_id of opened) {
    services.log.error({ incident_id }, 'the record and the processor differ: an incident is open');
    await services.workflows.incidents.start({ incident_id });
  }
  const { figures } = run;
  const next = nextPlace(run.step, slice.position);
  const after: AuditRun = {
    ...run,
    ...next,
    figures: {
      orders: figures.orders + slice.orders,
      in_flight: figures.in_flight + slice.in_flight,
      opened: figures.opened + opened.length,
      closed: figures.closed + (slice.closed ?? 0),
      index_differences: figures.index_differences + (slice.index_differences ?? 0),
    },
    finished: next === undefined ? now : null,
  };
  await saveAuditSlice(services.db, after);
  // Another process may have written the slice, and more of them.
  return (await findAuditRun(services.db))!;
}

function nextPlace(
  step: AuditStep,
  position: PagePosition | undefined,
): Pick<AuditRun, 'step' | 'position'> | undefined {
  if (position !== undefined) return { step, position };
  const next = AUDIT_STEPS[AUDIT_STEPS.indexOf(step) + 1];
  return next && { step: next, position: null };
}

const comparisonOf = ({ until, fetched_up_to }: AuditRun): Comparison => ({
  until,
  approved_before: until - OPEN_MS,
  fetched_up_to,
  waits_since: until - DAY_MS,
});

/** Rows of one slice. */
const ROWS = REPORT_LIMIT;

const SLICES: Record<AuditStep, (services: AuditServices, run: AuditRun, now: number) => Promise<Slice>> = {
  /** What happened at the processor: it may be missing in the record. */
  operations: (services, run) => operationsSlice(services, run, run, Number(run.position?.[0] ?? 0)),

  /** Closed orders that changed, and how the search index has them. */
  async changed(services, run) {
    const slice = await changedOrders(services.db, run, { rows: ROWS, after: run.position ?? undefined });
    const found = await compareSlice(services, run, slice);
    return { ...found, index_differences: await compareWithIndex(services, slice.listed) };
  },

  /** Orders that wait for an outcome, or whose settlement waits. */
  async open(services, run) {
    const since = { before: run.until - OPEN_MS, fetched_before: comparisonOf(run).waits_since };
    return await compareSlice(
      services,
      run,
      await findOpenOrders(services.db, since, { rows: ROWS, after: run.position ?? undefined }),
    );
  },

  /** The orders of settlements that were fetched since the last run. */
  async settlements(services, run) {
    const after = Number(run.position?.[0] ?? run.settled_up_to);
    if (after >= run.fetched_up_to) return NOTHING;
    const page = await services.processor.settlements(after);
    const order_ids = [...new Set(page.map(({ order_id }) => order_id))];
    const last = page.at(-1)?.number ?? run.fetched_up_to;
    return {
      ...(await findDifferences(services, order_ids, comparisonOf(run))),
      position: last < run.fetched_up_to ? [String(last)] : undefined,
    };
  },

  totals: totalsSlice,
  incidents: incidentsSlice,
};

async function compareSlice(services: AuditServices, run: AuditRun, slice: OrderSlice): Promise<Slice> {
  const found = await findDifferences(services, slice.order_ids, comparisonOf(run));
  return { ...found, position: slice.position };
}

/** Compares the orders of operations that happened in a period, after a number. */
async function operationsSlice(
  services: AuditServices,
  run: AuditRun,
  period: { since: number; until: number },
  after: number,
): Promise<Slice> {
  const page = await services.processor.operations({ since: period.since, until: period.until }, after);
  const order_ids = [...new Set(page.map(({ order_id }) => order_id))];
  return {
    ...(await findDifferences(services, order_ids, comparisonOf(run))),
    position: page.length < REPORT_LIMIT ? undefined : [String(page.at(-1)!.number)],
  };
}

/** The number of differing orders, which the indexer writes again. An index that does not answer is checked daily. */
async function compareWithIndex({ db, index, log }: AuditServices, order_ids: readonly string[]): Promise<number> {
  if (order_ids.length === 0) return 0;
  try {
    const { missing, different } = await comparePage(db, index, order_ids);
    return missing + different;
  } catch (err) {
    log.warn({ err }, 'the audit cannot compare the search index');
    return 0;
  }
}

/**
 * The sums of an hour of yesterday or today. Where they differ, the orders of the hour are compared one by one: those
 * of the processor's operations first, then those that the record has as approved.
 */
async function totalsSlice(services: AuditServices, run: AuditRun): Promise<Slice> {
  const first = startOfDay(run.until) - DAY_MS;
  const [start = String(first), phase = 'sums', after = ''] = run.position ?? [];
  const since = Number(start);
  const hour = { since, until: Math.min(since + HOUR_MS, run.until) };
  const next = hour.until < run.until ? [String(hour.until)] : undefined;
  if (phase === 'sums') {
    const project_ids = await differingProjects(services, hour, run.fetched_up_to);
    if (project_ids.length === 0) return { ...NOTHING, position: next };
    const differences = await sumDifferences(services, hour, project_ids);
    return { ...NOTHING, differences, position: [start, 'operations', '0'] };
  }
  if (phase === 'operations') {
    const slice = await operationsSlice(services, run, hour, Number(after));
    return { ...slice, position: slice.position ? [start, phase, ...slice.position] : [start, 'approved'] };
  }
  const slice = await approvedOrders(services.db, hour, { rows: ROWS, after: after === '' ? undefined : [after] });
  const found = await compareSlice(services, run, slice);
  return { ...found, position: slice.position ? [start, phase, ...slice.position] : next };
}

/**
 * Compares what incidents are about again: an incident whose difference is gone closes. Starts the workflows of open
 * incidents that were lost, and of closed ones whose event is due.
 */
async function incidentsSlice(services: AuditServices, run: AuditRun, now: number): Promise<Slice> {
  const incidents = await unfinishedIncidents(services.db, run.position?.[0], REPORT_ORDERS_MAX);
  const open = incidents.filter(({ closed_at }) => closed_at === null);
  const order_ids = [...new Set(open.flatMap(({ order_id }) => order_id ?? []))];
  const found = await findDifferences(services, order_ids, comparisonOf(run));
  const sums = await sumsOf(services, open);
  const there = new Set([...found.differences, ...sums].map(({ kind, object_id }) => `${kind} ${object_id}`));
  const isThere = ({ kind, object_id, order_id }: StoredIncident) =>
    there.has(`${kind} ${object_id}`) || (order_id !== null && found.by_order.get(order_id)?.is_in_flight === true);
  const gone = open.filter((incident) => !isThere(incident));
  const reason = 'The difference is gone.';
  for (const { id } of gone) await closeIncident(services.db, id, { closed_by: 'audit', reason, now });
  for (const incident of incidents) {
    const { incidents: workflows } = services.workflows;
    const is_open = open.includes(incident) && !gone.includes(incident);
    await (is_open ? workflows.start({ incident_id: incident.id }) : workflows.resume({ incident_id: incident.id }));
  }
  const last = incidents.length < REPORT_ORDERS_MAX ? undefined : incidents.at(-1)!.id;
  return {
    orders: found.orders,
    in_flight: found.in_flight,
    differences: [...found.differences, ...sums],
    closed: gone.length,
    position: last === undefined ? undefined : [last],
  };
}

/** The sums that incidents are about, as far as they are still wrong. */
async function sumsOf(services: AuditServices, open: readonly StoredIncident[]): Promise<Difference[]> {
  const differences: Difference[] = [];
  for (const { object_id } of open.filter(({ kind }) => kind === 'sum')) {
    const { since, project_id } = sumOf(object_id);
    differences.push(...(await sumDifferences(services, { since, until: since + HOUR_MS }, [project_id])));
  }
  return differences.filter((one) => open.some(({ object_id }) => object_id === one.object_id));
}
