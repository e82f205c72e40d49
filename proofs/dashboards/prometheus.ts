import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { repositoryRoot } from '../../src/stack/files';
import { freePort } from '../../src/stack/ports';
import type { RunningStack } from '../../test/support/stack';
import { until } from '../../test/support/waits';
import { findProgram } from '../support/prometheus';

const RULES = path.join(repositoryRoot(), 'deploy', 'prometheus');
/** Between two scrapes, and between two evaluations of the rules: a few minutes have as many as an hour. Seconds. */
export const STEP_SECONDS = 5;

/** Deploy's configuration, as far as it is replaced here. */
interface Configuration {
  global: object;
  rule_files: string[];
  scrape_configs: { job_name: string }[];
}

/** What a range query answers: each series with its points, instants in seconds and values as texts. */
export interface Answered {
  metric: Record<string, string>;
  values: [number, string][];
}

/** A Prometheus that scrapes a stack and evaluates the rules as deploy/prometheus says. */
export class Prometheus {
  private readonly began = Date.now() / 1_000;

  private constructor(
    private readonly url: string,
    private readonly server: ChildProcess,
    private readonly folder: string,
  ) {}

  static async start({ metrics_urls }: Pick<RunningStack, 'metrics_urls'>): Promise<Prometheus> {
    const program = findProgram('prometheus');
    const folder = mkdtempSync(path.join(tmpdir(), 'prometheus-'));
    const file = path.join(folder, 'prometheus.yml');
    writeFileSync(file, stringify(configurationFor(metrics_urls)));
    const address = `127.0.0.1:${await freePort()}`;
    const data = path.join(folder, 'data');
    const args = [`--config.file=${file}`, `--storage.tsdb.path=${data}`, `--web.listen-address=${address}`];
    const server = spawn(program, [...args, '--log.level=error'], { stdio: ['ignore', 'inherit', 'inherit'] });
    const prometheus = new Prometheus(`http://${address}`, server, folder);
    await until('Prometheus is ready', () =>
      fetch(`${prometheus.url}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    return prometheus;
  }

  /** The series that a panel shows of all that was scraped. Rejects with the reason when the query is refused. */
  async query(expr: string): Promise<Answered[]> {
    const range = { start: String(this.began), end: String(Date.now() / 1_000), step: String(STEP_SECONDS) };
    const { result } = await this.ask<{ result: Answered[] }>('query_range', { query: expr, ...range });
    return result;
  }

  /** Each rule, with its error if it has one. */
  async rules(): Promise<{ name: string; health: string; lastError?: string }[]> {
    type Rules = Awaited<ReturnType<Prometheus['rules']>>;
    return (await this.ask<{ groups: { rules: Rules }[] }>('rules')).groups.flatMap(({ rules }) => rules);
  }

  /** Ends it, and removes its data. */
  async discard(): Promise<void> {
    const ended = new Promise((resolve) => void this.server.once('exit', resolve));
    if (this.server.exitCode === null && this.server.kill('SIGTERM')) await ended;
    rmSync(this.folder, { recursive: true });
  }

  private async ask<T>(what: string, parameters: Record<string, string> = {}): Promise<T> {
    const answer = await fetch(`${this.url}/api/v1/${what}?${new URLSearchParams(parameters)}`);
    const { data, error } = (await answer.json()) as { data?: T; error?: string };
    if (data === undefined) throw new Error(error);
    return data;
  }
}

/** That of deploy/prometheus with the addresses of the stack. Its job of Temporal's server has no panel and no rule. */
function configurationFor(metrics_urls: Readonly<Record<string, string>>): Configuration {
  const deployed = parse(readFileSync(path.join(RULES, 'prometheus.yml'), 'utf8')) as Configuration;
  return {
    global: { scrape_interval: `${STEP_SECONDS}s`, evaluation_interval: `${STEP_SECONDS}s` },
    rule_files: deployed.rule_files.map((file) => path.join(RULES, file)),
    scrape_configs: deployed.scrape_configs.flatMap(({ job_name }) => {
      const url = metrics_urls[job_name.replace('payments-', '')];
      return url === undefined ? [] : [{ job_name, static_configs: [{ targets: [new URL(url).host] }] }];
    }),
  };
}
