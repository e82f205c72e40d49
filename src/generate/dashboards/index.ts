import { LegendDisplayMode, LegendPlacement, VizLegendOptionsBuilder } from '@grafana/grafana-foundation-sdk/common';
import {
  DashboardBuilder,
  DashboardCursorSync,
  DatasourceVariableBuilder,
  RowBuilder,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as GraphBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
import { OBJECTIVES_DASHBOARD } from './objectives';
import { OPERATION_DASHBOARD } from './operation';
import { PAYMENTS_DASHBOARD } from './payments';
import type { Dashboard, Panel } from './spec';

/** The dashboards of deploy/grafana, in Grafana's format. */

export const DASHBOARDS: readonly Dashboard[] = [PAYMENTS_DASHBOARD, OPERATION_DASHBOARD, OBJECTIVES_DASHBOARD];

/** The variable that chooses the Prometheus of all panels. */
const SOURCE = { type: 'prometheus', uid: '${source}' };

/** Widths of 24 columns. */
const WIDTH = { graph: 8, value: 6 };
const HEIGHT = { graph: 8, value: 4 };

/** A dashboard as JSON, for Grafana's import or provisioning. */
export function dashboardText({ name, title, rows }: Dashboard): string {
  const builder = new DashboardBuilder(title)
    .uid(`payments-${name}`)
    .tags(['payments'])
    .time({ from: 'now-6h', to: 'now' })
    .refresh('1m')
    .timezone('browser')
    .tooltip(DashboardCursorSync.Crosshair)
    .withVariable(new DatasourceVariableBuilder('source').label('Prometheus').type('prometheus'));
  for (const row of rows) {
    builder.withRow(new RowBuilder(row.title));
    for (const panel of row.panels) builder.withPanel(built(panel));
  }
  return `${JSON.stringify(builder.build(), null, 2)}\n`;
}

function built(panel: Panel): GraphBuilder | StatBuilder {
  const { title, description, unit, queries, kind = 'graph' } = panel;
  const builder = kind === 'value' ? new StatBuilder() : graph();
  builder.title(title).description(description).unit(unit).datasource(SOURCE).span(WIDTH[kind]).height(HEIGHT[kind]);
  queries.forEach(({ legend, expr }, n) =>
    builder.withTarget(
      new DataqueryBuilder()
        .refId(String.fromCharCode('A'.charCodeAt(0) + n))
        .expr(expr)
        .legendFormat(legend)
        .datasource(SOURCE)
        .range(),
    ),
  );
  return builder;
}

const graph = () =>
  new GraphBuilder()
    .min(0)
    .fillOpacity(10)
    .legend(
      new VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom)
        .showLegend(true),
    );
