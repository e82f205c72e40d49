import { MANAGE_API } from '../../../src/contract/manage/manage-api';
import { MERCHANT_API } from '../../../src/contract/merchant-api';
import { METRICS, type Metric, type MetricsProcess } from '../../../src/metrics/catalogue';
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

/** The most series that a metric has in a process: each label has each of its values, a host its own operations. */
function seriesMax(process: MetricsProcess, { type, labels, buckets = [] }: Metric): number {
  const [own, other] = process === 'api' ? [MERCHANT_API, MANAGE_API] : [MANAGE_API, MERCHANT_API];
  const foreign = Object.keys(other.routes).filter((id) => !(id in own.routes));
  const values = ([label, list]: [string, readonly string[] | null]) =>
    label === 'host' || list === null ? 1 : list.filter((value) => !foreign.includes(value)).length;
  const combinations = Object.entries(labels).reduce((product, entry) => product * values(entry), 1);
  // A bucket without limit, the count and the sum.
  return combinations * (type === 'histogram' ? buckets.length + 3 : 1);
}

/** Room for the series of Temporal's SDK in a worker. */
const OF_SDK = 900;

it.each([
  ['api', 2_000],
  ['manage', 2_000],
  ['worker', 2_000 - OF_SDK],
] as const)('rules 24.14: %s has at most %i series, whatever is requested', (process, most) => {
  const own = entries.filter(([, { processes }]) => processes.includes(process));
  const total = own.reduce((sum, [, metric]) => sum + seriesMax(process, metric), 0);
  expect(total).toBeLessThanOrEqual(most);
  expect(total).toBeGreaterThan(100);
});
