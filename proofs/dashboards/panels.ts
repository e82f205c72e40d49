import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../../src/stack/files';
import { STEP_SECONDS } from './prometheus';

const FOLDER = path.join(repositoryRoot(), 'deploy', 'grafana');

/** One query of a panel of deploy/grafana. */
export interface PanelQuery {
  dashboard: string;
  row: string;
  panel: string;
  unit: string;
  /** With the variables of Grafana replaced. */
  expr: string;
  /** The name of its lines; `{{label}}` is the value of a label. */
  legend: string;
}

interface GrafanaDashboard {
  title: string;
  panels: {
    type: string;
    title: string;
    fieldConfig?: { defaults: { unit: string } };
    targets?: { expr: string; legendFormat: string }[];
  }[];
}

/** The queries of all panels, as Grafana sends them. */
export function panelQueries(): PanelQuery[] {
  const files = readdirSync(FOLDER).map((file) => readFileSync(path.join(FOLDER, file), 'utf8'));
  return files.flatMap((text) => {
    const { title: dashboard, panels } = JSON.parse(text) as GrafanaDashboard;
    let row = '';
    return panels.flatMap(({ type, title, fieldConfig, targets = [] }) => {
      if (type === 'row') row = title;
      return targets.map(({ expr, legendFormat }) => ({
        ...{ dashboard, row, panel: title, unit: fieldConfig?.defaults.unit ?? '' },
        // Grafana takes four scrapes, or a little more than the step of the graph.
        expr: expr.replaceAll('$__rate_interval', `${4 * STEP_SECONDS}s`),
        legend: legendFormat,
      }));
    });
  });
}
