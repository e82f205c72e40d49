import { setTimeout as sleep } from 'node:timers/promises';
import { table } from '../../src/bench/report';
import { startReceiver } from '../../test/support/servers';
import { OwnStack } from '../../test/support/stack';
import { SteadyLoad } from '../alerts/load';
import type { Proof, ProofInput, ProofOutcome } from '../proof';
import { archiveLog, failBackupCheck } from '../support/archive';
import { runLoad } from '../support/load';
import { panelQueries, type PanelQuery } from './panels';
import { Prometheus } from './prometheus';

/** Stories of merchants and customers: about three minutes in full. */
const ORDERS = { ci: 60, full: 360 };
/** Stories, and as many orders beside them. */
const PER_SECOND = 2;
const MERCHANTS = 4;
const SHARE_OF_PROCESSOR_FAULTS = 0.05;
/** Then searches are refused for so long, so that some requests are answered with 503. */
const SEARCH_AWAY_MS = 10_000;

export const dashboards: Proof = {
  name: 'dashboards',
  title:
    'Every query of every panel of deploy/grafana answers with series on a Prometheus that scrapes a running stack under load, and every rule is evaluated without an error.',
  not_proved: [
    'How Grafana draws the panels: their queries are sent as it sends them.',
    'That a value is right: test/journeys/metrics compares some with what was done.',
    'The job of Temporal itself, of which no panel and no rule has a metric.',
  ],
  seeds: [1],
  in_ci: false,
  run,
};

async function run({ seed, size, single, say }: ProofInput): Promise<ProofOutcome> {
  const own = new OwnStack('dashboards');
  const receiver = await startReceiver();
  try {
    const stack = await own.start();
    await archiveLog(own, stack);
    const prometheus = await Prometheus.start(stack);
    try {
      // Also a check that fails has an age.
      await failBackupCheck(own);
      const steady = await SteadyLoad.start(stack, receiver.url);
      steady.rate = PER_SECOND;
      await runLoad({
        ...{ stack, seed, say, orders: ORDERS[size], per_second: PER_SECOND, merchants: MERCHANTS },
        ...{ webhook_url: receiver.url, processor_faults: SHARE_OF_PROCESSOR_FAULTS },
        onBegun: () => own.without('meilisearch', () => sleep(SEARCH_AWAY_MS)),
      });
      await steady.stop();
      return await judged(prometheus, single);
    } finally {
      await prometheus.discard();
    }
  } finally {
    await own.discard();
    await receiver.close();
  }
}

/** Asks every query of the panels; `single`: of one panel, by its title. */
async function judged(prometheus: Prometheus, single: string | undefined): Promise<ProofOutcome> {
  const queries = panelQueries().filter(({ panel }) => single === undefined || panel === single);
  const shown: Shown[] = [];
  const violations: string[] = [];
  for (const query of queries) {
    const { dashboard, row, panel, expr, legend } = query;
    const violation = (what: string) =>
      void violations.push(`${dashboard}, ${row}, ${panel} ${what}: ${expr}; repeat it with --case '${panel}'`);
    try {
      const series = (await prometheus.query(expr))
        .map(({ metric, values }) => ({
          metric,
          values: values.map(([, value]) => Number(value)).filter(Number.isFinite),
        }))
        .filter(({ values }) => values.length > 0);
      if (series.length === 0) violation('has no series');
      const labels = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label!);
      const unnamed = labels.filter((label) => series.some(({ metric }) => metric[label] === undefined));
      if (unnamed.length > 0) violation(`has series without ${unnamed.join(', ')}, which its legend names`);
      shown.push({ ...query, series: series.length, values: series.flatMap(({ values }) => values) });
    } catch (error) {
      violation(`is refused, ${(error as Error).message}`);
    }
  }
  const rules = await prometheus.rules();
  for (const { name, health, lastError = '' } of rules.filter((rule) => rule.health !== 'ok')) {
    violations.push(`the rule ${name} is ${health}: ${lastError}`);
  }
  const counts = {
    panels: new Set(queries.map(({ dashboard, row, panel }) => `${dashboard} ${row} ${panel}`)).size,
    queries: queries.length,
    series: shown.reduce((sum, { series }) => sum + series, 0),
    rules: rules.length,
  };
  return { counts, violations, details: picture(shown) };
}

interface Shown extends PanelQuery {
  series: number;
  values: number[];
}

/** What the panels showed. */
function picture(shown: readonly Shown[]): string {
  const round = (value: number) => Number(value.toPrecision(3)).toLocaleString('en', { maximumSignificantDigits: 3 });
  return table(
    ['dashboard', 'panel', 'query', 'series', 'lowest', 'highest', 'unit'],
    shown.map(({ dashboard, row, panel, legend, series, values, unit }) => [
      ...[dashboard, `${row}: ${panel}`, legend, String(series)],
      ...(values.length === 0 ? ['', ''] : [round(Math.min(...values)), round(Math.max(...values))]),
      unit,
    ]),
  );
}
