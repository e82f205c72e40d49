import { parse } from 'yaml';
import { DASHBOARDS } from '../../src/generate/dashboards';
import { METRICS, type Metric } from '../../src/metrics/catalogue';
import { files, textOfFile } from './repository';

interface Rule {
  alert?: string;
  record?: string;
  expr: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

const RULES = ['deploy/prometheus/recording.yml', 'deploy/prometheus/alerts.yml'];
const TESTS = files().filter((file) => /^deploy\/prometheus\/tests\/.+\.yml$/.test(file));
const rules = RULES.flatMap((file) => (parse(textOfFile(file)) as { groups: { rules: Rule[] }[] }).groups).flatMap(
  (group) => group.rules,
);
const alertNames = [...new Set(rules.flatMap(({ alert }) => alert ?? []))];
const queries = DASHBOARDS.flatMap(({ rows }) => rows)
  .flatMap(({ panels }) => panels)
  .flatMap((panel) => panel.queries);
const expressions = [...rules, ...queries].map(({ expr }) => expr);

const catalogue: Readonly<Record<string, Metric>> = METRICS;
const recorded = new Set(rules.flatMap(({ record }) => record ?? []));
/** Metrics of Temporal's SDK that the worker exports; docs/operations.md names them. */
const OF_TEMPORAL = [
  'temporal_worker_task_slots_available',
  'temporal_workflow_task_schedule_to_start_latency_seconds',
  'temporal_workflow_task_execution_failed_total',
];
/** Of Prometheus itself, and of the audit. */
const OTHERS = ['up'];
/** The severity of alerts that tell test projects from live ones. */
const CRITICAL_BUT_OF_TESTS = '{{ if eq $labels.environment "test" }}warning{{ else }}critical{{ end }}';
/** Labels that Prometheus adds, and those of recording rules. */
const ADDED_LABELS = ['job', 'instance', 'le', 'slo'];

const metricOf = (name: string) => catalogue[name] ?? catalogue[name.replace(/_(bucket|sum|count)$/, '')];

/** The metrics of an expression, with what stands in the braces behind each. */
function selectorsOf(expr: string): { name: string; labels: string }[] {
  return [...expr.matchAll(/\b((?:payments|temporal)[_:][\w:]+|up)\b(?:\{([^}]*)\})?/g)].map(
    ([, name, labels = '']) => ({ name: name!, labels }),
  );
}

it('rules and dashboards use metrics that a process exports, or that a rule records', () => {
  const used = expressions.flatMap(selectorsOf).map(({ name }) => name);
  expect(used.length).toBeGreaterThan(100);
  const unknown = used.filter(
    (name) =>
      metricOf(name) === undefined &&
      !recorded.has(name) &&
      ![...OF_TEMPORAL, ...OTHERS].includes(name.replace(/_bucket$/, '')),
  );
  expect([...new Set(unknown)]).toEqual([]);
});

/** For a closer look: what panels show instead. */
const NOT_SHOWN: Readonly<Record<string, string>> = {
  payments_process_start_time_seconds: 'Targets that answer',
  payments_nodejs_heap_used_bytes: 'Memory',
  payments_recovery_rounds_total: 'Recovery',
  payments_indexer_orders_total: 'Changes for the search index',
  payments_indexer_failures_total: 'Search index behind',
  payments_rolled_secret_expiry_timestamp_seconds: 'the alert RolledKeyInUse',
  payments_webhook_attempt_duration_seconds: 'Attempts by result',
  payments_temporal_update_duration_seconds: 'Slowest operations',
};

it('a panel or an alert has each metric, or another that an operator looks at first', () => {
  const used = new Set(expressions.flatMap(selectorsOf).map(({ name }) => name.replace(/_(bucket|sum|count)$/, '')));
  expect(Object.keys(METRICS).filter((name) => !used.has(name))).toEqual(Object.keys(NOT_SHOWN));
});

it('rules and dashboards select labels and values that the metrics have', () => {
  const wrong = expressions.flatMap(selectorsOf).flatMap(({ name, labels }) => {
    const metric = metricOf(name);
    if (metric === undefined) return [];
    return [...labels.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)].flatMap(([whole, label, operator, value]) => {
      if (ADDED_LABELS.includes(label!)) return [];
      const values = metric.labels[label!];
      if (values === undefined) return [`${name}: ${whole}`];
      const wanted = operator!.includes('~') ? new RegExp(`^(${value})$`) : undefined;
      const has = values === null || values.some((one) => (wanted === undefined ? one === value : wanted.test(one)));
      return has ? [] : [`${name}: ${whole}`];
    });
  });
  expect(wrong).toEqual([]);
});

it('a heading of docs/operations.md explains each alert, and each alert leads there', () => {
  const section = textOfFile('docs/operations.md').split('\n## Alerts\n')[1]!.split('\n## ')[0]!;
  const headings = [...section.matchAll(/^### (.*)$/gm)].map(([, title]) => title!);
  expect(headings.toSorted()).toEqual(alertNames.toSorted());
  const wrong = rules.filter(
    ({ alert, annotations, labels }) =>
      alert !== undefined &&
      (annotations?.['runbook'] !== `docs/operations.md#${alert.toLowerCase()}` ||
        !annotations['summary'] ||
        !['critical', 'warning', CRITICAL_BUT_OF_TESTS].includes(labels?.['severity'] ?? '')),
  );
  expect(wrong.map(({ alert }) => alert)).toEqual([]);
});

it('docs/operations.md names the metrics of Temporal that rules and dashboards use', () => {
  expect(OF_TEMPORAL.filter((name) => !textOfFile('docs/operations.md').includes(name))).toEqual([]);
});

it('a committed test of promtool expects each alert', () => {
  const tested = TESTS.map((file) => parse(textOfFile(file)) as { rule_files: string[]; tests: unknown[] });
  expect(tested.every(({ rule_files, tests }) => rule_files.length === 2 && tests.length > 0)).toBe(true);
  const expected = new Set(
    TESTS.flatMap((file) => [...textOfFile(file).matchAll(/labels: .*\{alertname="(\w+)"/g)].map(([, name]) => name)),
  );
  expect(alertNames.filter((name) => !expected.has(name))).toEqual([]);
});
