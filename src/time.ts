/**
 * The time of an order or payment link, epoch milliseconds: real time plus what its test project has advanced it (rules
 * 23.4). For its windows and timestamps; deadlines, rate limits and tokens keep real time.
 */
export const currentTimeOf = ({ clock_offset_ms }: { clock_offset_ms: number }): number => Date.now() + clock_offset_ms;

/** An instant as statements and texts take it: epoch milliseconds in, ISO 8601 in UTC out. */
export const toIsoTime = (epoch_ms: number): string => new Date(epoch_ms).toISOString();
