/** One query of a panel and the name of its lines; `{{label}}` is the value of a label. */
export interface Query {
  readonly legend: string;
  readonly expr: string;
}

export interface Panel {
  readonly title: string;
  /** What to look for. */
  readonly description: string;
  /** As Grafana names it: `s`, `short`, `percentunit`, `bytes`, `reqps`, `ops`. */
  readonly unit: 's' | 'short' | 'percentunit' | 'bytes' | 'reqps' | 'ops';
  readonly queries: readonly Query[];
  /** A graph, or the newest value as a number. */
  readonly kind?: 'graph' | 'value';
}

export interface Dashboard {
  /** Its name in addresses of Grafana, and of its file. */
  readonly name: string;
  readonly title: string;
  readonly rows: readonly { readonly title: string; readonly panels: readonly Panel[] }[];
}

export const query = (legend: string, expr: string): Query => ({ legend, expr });

/** The median and the slowest per cent of a histogram. `selector`: labels in braces, or nothing. */
export function quantiles(histogram: string, selector = ''): Query[] {
  const rates = `sum by (le) (rate(${histogram}_bucket${selector}[$__rate_interval]))`;
  return [
    query('median', `histogram_quantile(0.5, ${rates})`),
    query('99 of 100', `histogram_quantile(0.99, ${rates})`),
  ];
}

/** The rate of a counter by some of its labels, each line named by their values. */
export function rateBy(counter: string, labels: readonly string[], selector = ''): Query[] {
  const legend = labels.map((label) => `{{${label}}}`).join(' ');
  return [query(legend, `sum by (${labels.join(', ')}) (rate(${counter}${selector}[$__rate_interval]))`)];
}
