export const HOUR_MS = 60 * 60_000;
export const DAY_MS = 24 * HOUR_MS;

/** The longest period of one list of orders (rules 5.8). */
const LIST_PERIOD_MAX_DAYS = 31;
const LIST_PERIOD_MAX_MS = LIST_PERIOD_MAX_DAYS * DAY_MS;
/**
 * Limits of instants in requests, in epoch milliseconds: no order is outside them, and databases cannot represent all
 * instants beyond.
 */
const [EARLIEST, LATEST] = [0, Date.UTC(9999, 0)];

/** A period with both ends included; epoch milliseconds. */
export interface Period {
  since: number;
  until: number;
}

/** From an instant up to another, which is not included; epoch milliseconds. */
export interface TimeSpan {
  since: number;
  until: number;
}

/** An error in one of the parameters. */
export interface PeriodProblem {
  parameter: 'created_since' | 'created_until';
  problem: string;
}

/**
 * The period a list of orders covers: 31 days where a parameter is missing. Without an end it also has what an advanced
 * sandbox clock dates later than now. Takes checked ISO 8601 texts; `now` in epoch milliseconds.
 */
export function listPeriod({
  created_since,
  created_until,
  now,
}: {
  created_since?: string | undefined;
  created_until?: string | undefined;
  now: number;
}): Period | PeriodProblem {
  if (created_until === undefined) {
    const since = created_since === undefined ? now - LIST_PERIOD_MAX_MS : Date.parse(created_since);
    const until = created_since === undefined ? LATEST : since + LIST_PERIOD_MAX_MS;
    return { since: nearestRecordable(since), until: nearestRecordable(until) };
  }
  const until = Date.parse(created_until);
  const since = created_since === undefined ? until - LIST_PERIOD_MAX_MS : Date.parse(created_since);
  if (since > until) return { parameter: 'created_until', problem: 'Lies before created_since.' };
  if (until - since > LIST_PERIOD_MAX_MS) {
    return { parameter: 'created_since', problem: `Lies more than ${LIST_PERIOD_MAX_DAYS} days before created_until.` };
  }
  return { since: nearestRecordable(since), until: nearestRecordable(until) };
}

/** The instant within these limits that is nearest to an instant; epoch milliseconds. */
export const nearestRecordable = (instant: number) => Math.min(Math.max(instant, EARLIEST), LATEST);
