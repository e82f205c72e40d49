import { toIsoTime } from '../../time';
import { epochMsSql } from '../columns';
import { queryRow, queryRows, type Database } from '../query';
import type { PagePosition } from '../pages';

/** The steps of a run of the audit, in their order (rules 26.2). */
export const AUDIT_STEPS = ['operations', 'changed', 'open', 'settlements', 'totals', 'incidents'] as const;
export type AuditStep = (typeof AUDIT_STEPS)[number];

/** What a run has compared and found. */
export interface AuditFigures {
  /** Payment orders that were compared, and those that change at the moment. */
  orders: number;
  in_flight: number;
  /** Incidents opened and closed. */
  opened: number;
  closed: number;
  /** Orders that the search index had otherwise or not at all; they are written again. */
  index_differences: number;
}

export const NO_FIGURES: AuditFigures = { orders: 0, in_flight: 0, opened: 0, closed: 0, index_differences: 0 };

/** A run of the audit. Instants in epoch milliseconds. */
export interface AuditRun {
  began: number;
  /** What changed in this period is compared. */
  since: number;
  until: number;
  /** Settlements after the first number are compared, up to the second, the last that was fetched. */
  settled_up_to: number;
  fetched_up_to: number;
  step: AuditStep;
  /** Where the next slice of the step begins; null: at its first. */
  position: PagePosition | null;
  figures: AuditFigures;
  slices: number;
  finished: number | null;
}

const RUN = `${epochMsSql('began')} as began, ${epochMsSql('since')} as since, ${epochMsSql('until')} as until, settled_up_to,
  fetched_up_to, step, position, figures, slices, ${epochMsSql('finished')} as finished`;

/** The run under way, or the last one; undefined before the first. */
export async function findAuditRun(db: Database): Promise<(AuditRun & { checked_until: number | null }) | undefined> {
  return await queryRow<AuditRun & { checked_until: number | null }>(
    db,
    `select ${RUN}, ${epochMsSql('checked_until')} as checked_until from audit_progress`,
  );
}

/** Begins a run unless one is under way, and returns the run under way. */
export async function beginAuditRun(
  db: Database,
  { began, since, until }: Pick<AuditRun, 'began' | 'since' | 'until'>,
): Promise<AuditRun> {
  const bindings = { began: toIsoTime(began), since: toIsoTime(since), until: toIsoTime(until) };
  await queryRows(
    db,
    `insert into audit_progress (began, since, until, fetched_up_to, step, figures)
     select :began, :since, :until, last_number, :step, :figures::json from settlement_progress
     on conflict (is_only) do update set began = excluded.began, since = excluded.since, until = excluded.until,
       fetched_up_to = excluded.fetched_up_to, step = excluded.step, position = null, figures = excluded.figures,
       slices = audit_progress.slices + 1, finished = null
     where audit_progress.finished is not null`,
    { ...bindings, step: AUDIT_STEPS[0], figures: JSON.stringify(NO_FIGURES) },
  );
  return (await findAuditRun(db))!;
}

/**
 * Writes that a slice was compared, unless another process has: the step and position of the next one, or the end of the
 * run at `finished`.
 */
export async function saveAuditSlice(db: Database, run: AuditRun): Promise<void> {
  await queryRows(
    db,
    `update audit_progress set step = :step, position = :position::json, figures = :figures::json, slices = slices + 1,
       finished = :finished::timestamptz,
       checked_until = case when :finished::timestamptz is null then checked_until else until end,
       settled_up_to = case when :finished::timestamptz is null then settled_up_to else fetched_up_to end
     where slices = :slices and began = :began`,
    {
      step: run.step,
      position: run.position === null ? null : JSON.stringify(run.position),
      figures: JSON.stringify(run.figures),
      finished: run.finished === null ? null : toIsoTime(run.finished),
      slices: run.slices,
      began: toIsoTime(run.began),
    },
  );
}
