/** The value below which `share` of the values lie (nearest rank). Throws when there are none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  if (value === undefined) throw new Error('there is nothing to take a quantile of');
  return value;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The median; of an even number of values the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const reversed = values.map((value) => -value);
  return (quantile(values, 0.5) - quantile(reversed, 0.5)) / 2;
}

/** Milliseconds. */
export interface Quantiles {
  p50: number;
  p95: number;
  p99: number;
}

export const quantiles = (values: readonly number[]): Quantiles => ({
  p50: quantile(values, 0.5),
  p95: quantile(values, 0.95),
  p99: quantile(values, 0.99),
});
