import { METRICS, type Metric } from '../../../src/metrics/catalogue';
import { SOURCE_NAMES } from '../../../src/db/recovery/sources';

const entries = Object.entries(METRICS) as [string, Metric][];

it('names follow the conventions of Prometheus', () => {
  for (const [name, { type, help, labels }] of entries) {
    expect(name).toMatch(/^payments_[a-z0-9]+(_[a-z0-9]+)*$/);
    expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter']);
    // Suffixes that belong to the series of a histogram.
    expect(name).not.toMatch(/_(bucket|count|sum)$/);
    expect(name).not.toMatch(/_(ms|milliseconds|minutes|hours|kilobytes|percent)(_|$)/);
    expect(help).toMatch(/^[A-Z].*\.$/);
    for (const label of Object.keys(labels)) {
      expect(label).toMatch(/^[a-z][a-z_]*$/);
      expect(['le', 'quantile', 'job', 'instance']).not.toContain(label);
    }
  }
});

it.each([
  [/ in seconds\b/, /_seconds(_total)?$/],
  [/ in bytes\b/, /_bytes$/],
])('a description with %p has a name with %p', (words, suffix) => {
  const has = entries.filter(([, { help }]) => words.test(help)).map(([name]) => name);
  expect(has).toEqual(entries.map(([name]) => name).filter((name) => suffix.test(name)));
  expect(has.length).toBeGreaterThan(1);
});

it('histograms have ascending buckets, and only they', () => {
  for (const [name, { type, buckets }] of entries) {
    expect([name, buckets !== undefined]).toEqual([name, type === 'histogram']);
    expect(buckets ?? []).toEqual([...(buckets ?? [])].toSorted((a, b) => a - b));
  }
});

it('the checks of recovery are counted for each kind of rows', () => {
  const { source } = METRICS.payments_recovery_checks_total.labels;
  expect(source.filter((name) => name !== 'other').toSorted()).toEqual(SOURCE_NAMES.toSorted());
});
