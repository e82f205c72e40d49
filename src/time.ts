/**
 * The time of an order or payment link, epoch milliseconds: real time plus what its test project has advanced it (rules
 * 23.4). For its windows and timestamps; deadlines, rate limits and tokens keep real time.
 */
export const timeOf = ({ clock_offset_ms }: { clock_offset_ms: number }): number => Date.now() + clock_offset_ms;
