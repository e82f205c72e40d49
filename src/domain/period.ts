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

/** An error in one of the parameters. */
export interface PeriodProblem {
  parameter: 'created_since' | 'created_until';
  problem: string;
}

/**
 * The period a list of orders covers. If a parameter is missing, the period has the maximum length and ends by now, so
 * a start in the future makes it empty. Takes checked ISO 8601 texts; `now` in epoch milliseconds.
 */
export function listPeriod(asked: {
  created_since?: string | undefined;
  created_until?: string | undefined;
  now: number;
}): Period | PeriodProblem {
  const { created_since, created_until, now } = asked;
  const latest = created_until === undefined ? now : Date.parse(created_until);
  const since = created_since === undefined ? latest - LIST_PERIOD_MAX_MS : Date.parse(created_since);
  const until = created_until === undefined ? Math.min(latest, since + LIST_PERIOD_MAX_MS) : latest;
  if (created_until !== undefined && since > until) {
    return { parameter: 'created_until', problem: 'Lies before created_since.' };
  }
  if (until - since > LIST_PERIOD_MAX_MS) {
    return { parameter: 'created_since', problem: `Lies more than ${LIST_PERIOD_MAX_DAYS} days before created_until.` };
  }
  return { since: nearestRecordable(since), until: nearestRecordable(until) };
}

/** The instant within these limits that is nearest to an instant; epoch milliseconds. */
export const nearestRecordable = (instant: number) => Math.min(Math.max(instant, EARLIEST), LATEST);
