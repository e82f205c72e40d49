import { stringify } from 'yaml';
import type { Series } from './recorder';

/** An alert that must fire; `slo`: the objective, of the alerts of error budgets. */
export interface Expected {
  alert: string;
  slo?: string;
}

export interface Recording {
  name: string;
  /** What was done, in a sentence. */
  what: string;
  series: Series;
  steps: number;
  /** Steps before the fault; all of them where there was none. */
  healthy_steps: number;
  expected: readonly Expected[];
}

/** A recorded step stands for this interval of the rules. */
const INTERVAL = '1m';

/** A test file of promtool. `rules`: the folder of the rules, from the file's. */
export function ruleTestText(recording: Recording, rules = '..'): string {
  const { name, what, series, steps, healthy_steps, expected } = recording;
  const document = {
    rule_files: [`${rules}/recording.yml`, `${rules}/alerts.yml`],
    evaluation_interval: INTERVAL,
    tests: [
      {
        name,
        interval: INTERVAL,
        input_series: [...series].map(([key, values]) => ({ series: key, values: notation(values, steps) })),
        promql_expr_test: [
          ...(expected.length === 0 ? [{ expr: firing(''), eval_time: `${steps - 1}m`, exp_samples: [] }] : []),
          ...expected.flatMap(({ alert, slo }) => {
            const labels = [`alertname="${alert}"`, ...(slo === undefined ? [] : [`slo="${slo}"`])].join(', ');
            const expr = firing(`, ${labels}`);
            return [
              { expr, eval_time: `${healthy_steps - 1}m`, exp_samples: [] },
              { expr, eval_time: `${steps - 1}m`, exp_samples: [{ labels: `{${labels}}`, value: 1 }] },
            ];
          }),
        ],
      },
    ],
  };
  const head = [
    `Recorded by the proof alerts from a running stack: ${what}`,
    'Values are as recorded, instants from the start of the recording.',
    'A step of 2 s was recorded; here it stands for the minute in which rules are evaluated.',
  ];
  return `${head.map((line) => `# ${line}\n`).join('')}\n${stringify(document, { lineWidth: 0 })}`;
}

/** The alerts that have fired until then, each by its name and objective. */
const firing = (labels: string) =>
  `group by (alertname, slo) (last_over_time(ALERTS{alertstate="firing"${labels}}[1d]))`;

/** Values as promtool expects them: `5x3` is 5 four times, `_` no sample, `stale` the end of a series. */
function notation(values: readonly (number | undefined)[], steps: number): string {
  const texts = Array.from({ length: steps }, (_, n) => {
    const value = values[n];
    if (value !== undefined) return String(value);
    return n > 0 && values[n - 1] !== undefined ? 'stale' : '_';
  });
  const parts: string[] = [];
  for (let n = 0; n < texts.length;) {
    const text = texts[n]!;
    const end = texts.findIndex((other, m) => m > n && other !== text);
    const times = (end === -1 ? texts.length : end) - n;
    if (times === 1) parts.push(text);
    else parts.push(text === '_' ? `_x${times}` : `${text}+0x${times - 1}`);
    n += times;
  }
  return parts.join(' ');
}
