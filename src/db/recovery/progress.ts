import { toIsoTime } from '../../time';
import { epochMsSql } from '../columns';
import { queryRows, type Database } from '../query';
import type { PagePosition } from '../pages';
import type { SourceName } from './sources';

/**
 * How far a source was checked: the rows that fell due before `checked_until`, and in a round under way those before
 * `position`.
 */
export interface SourceProgress {
  /** Epoch milliseconds. */
  checked_until: number;
  round_until: number | null;
  position: PagePosition | null;
}

/** How far every source was checked; one that never was is missing. */
export async function findProgress(db: Database): Promise<Partial<Record<SourceName, SourceProgress>>> {
  const found = await queryRows<SourceProgress & { source: SourceName }>(
    db,
    `select source, ${epochMsSql('checked_until')} as checked_until, ${epochMsSql('round_until')} as round_until, position
     from recovery_progress`,
  );
  return Object.fromEntries(found.map(({ source, ...progress }) => [source, progress]));
}

/** Writes how far sources were checked. */
export async function saveProgress(db: Database, progress: Partial<Record<SourceName, SourceProgress>>): Promise<void> {
  const sources = Object.entries(progress).map(([source, { checked_until, round_until, position }]) => ({
    source,
    checked_until: toIsoTime(checked_until),
    round_until: round_until === null ? null : toIsoTime(round_until),
    position,
  }));
  await queryRows(
    db,
    `insert into recovery_progress (source, checked_until, round_until, position)
     select source, checked_until, round_until, position
     from json_populate_recordset(null::recovery_progress, :sources::json)
     on conflict (source) do update set
       checked_until = excluded.checked_until, round_until = excluded.round_until, position = excluded.position`,
    { sources: JSON.stringify(sources) },
  );
}
