/** What answers hold that differs each time: for `toEqual` and `toMatchObject`. */
export const UUID = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/) as string;
/** ISO 8601, UTC with microseconds and offset (rules 1.5). */
export const TIMESTAMP = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/) as string;

/** The id of no order. */
export const NOBODY = '01900000-0000-7000-8000-000000000000';
