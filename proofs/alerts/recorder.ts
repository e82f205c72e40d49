import { Loop } from '../../src/loop';
import type { RunningStack } from '../../test/support/stack';

/** A scrape every two seconds. */
const STEP_MS = 2_000;
/** Limit of a scrape, and of a question whether a process is ready. Milliseconds. */
const ANSWER_MS = 1_500;

/** Each series by its name and labels as in a rule, with a value for each step; undefined: the target had none. */
export type Series = ReadonlyMap<string, readonly (number | undefined)[]>;

/**
 * Scrapes the processes of a stack as Prometheus does and keeps the series with the given names. Beside it asks the API
 * whether it is ready, as an orchestrator does: some gauges are those of the last such check.
 */
export class SeriesRecorder {
  private series = new Map<string, (number | undefined)[]>();
  private step = 0;
  /** Epoch seconds. */
  private readonly began = Math.floor(Date.now() / 1_000);
  private readonly began_at = performance.now();
  private readonly loop = new Loop(async () => {
    await this.scrapeAll();
    return this.began_at + this.step * STEP_MS - performance.now();
  });

  constructor(
    private readonly stack: Pick<RunningStack, 'api_url'>,
    private readonly names: ReadonlySet<string>,
    /** The addresses of the metrics by the name of the process, as they are at each scrape. */
    private readonly targets: ReadonlyMap<string, string>,
  ) {}

  start(): void {
    this.loop.start();
  }

  /** How many steps are recorded so far. */
  get steps(): number {
    return this.step;
  }

  async stop(): Promise<Series> {
    await this.loop.stop();
    return this.series;
  }

  private async scrapeAll(): Promise<void> {
    const targets = [...this.targets];
    const urls = [...targets.map(([, url]) => url), `${this.stack.api_url}/health/ready`];
    const texts = await Promise.all(urls.map(answerOf));
    targets.forEach(([name], n) => {
      const target = `job="payments-${name}",instance="${name}:9464"`;
      const text = texts[n];
      this.set(`up{${target}}`, text === undefined ? 0 : 1);
      for (const sample of samplesOf(text ?? '')) {
        if (!this.names.has(sample.name)) continue;
        // The clock of promtool begins at 0.
        const value = sample.name.endsWith('_timestamp_seconds') ? sample.value - this.began : sample.value;
        this.set(`${sample.name}{${sample.labels}${target}}`, value);
      }
    });
    this.step += 1;
  }

  private set(key: string, value: number): void {
    const values = this.series.get(key) ?? [];
    values[this.step] = value;
    this.series.set(key, values);
  }
}

/** The text of a 200; undefined without one in time. */
async function answerOf(url: string): Promise<string | undefined> {
  return await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) }).then(
    async (answer) => (answer.ok ? await answer.text() : undefined),
    () => undefined,
  );
}

/** The samples of the text format of Prometheus; `labels` end with a comma where there are any. */
function samplesOf(text: string): { name: string; labels: string; value: number }[] {
  return [...text.matchAll(/^([a-z_:][\w:]*)(?:\{(.*)\})? (\S+)$/gim)].map(([, name, labels, value]) => ({
    name: name!,
    labels: labels === undefined || labels === '' ? '' : `${labels},`,
    value: Number(value),
  }));
}
