import { rmSync } from 'node:fs';
import path from 'node:path';
import { displayPath, writeWhole } from './files';
import { configVariables, type StackConfig } from './settings';

/** The contents of `stack.json` while everything runs. */
export interface StackFacts {
  /** Without `/v1`. */
  api_url: string;
  /** The bearer-token host, without `/v1`. */
  manage_url: string;
  temporal_address: string;
  temporal_namespace: string;
  temporal_ui_url: string | null;
  postgres_url: string;
  meilisearch_url: string;
  /** Where each process answers scrapes of its metrics. */
  metrics_urls: Record<'api' | 'manage' | 'worker', string>;
  /** Where programs call the simulator, and the key of its control API and its ledger. */
  simulator_url: string;
  simulator_control_key: string;
  test_api_key: string;
  live_api_key: string;
  /** The secrets that sign the webhooks of the demo merchant's projects. */
  test_webhook_secret: string;
  live_webhook_secret: string;
  /** The demo operator's client of the bearer-token host. */
  operator_client_id: string;
  operator_client_secret: string;
  /** By process name, the supervisor (`start`) first. */
  pids: Record<string, number>;
}

const factsFile = (data_dir: string) => path.join(data_dir, 'stack.json');
const variablesFile = (data_dir: string) => path.join(data_dir, 'stack.env');

/** Both files hold keys: only their owner may read them. */
export function writeFacts(data_dir: string, facts: StackFacts): void {
  writeWhole(factsFile(data_dir), `${JSON.stringify(facts, null, 2)}\n`);
}

/**
 * The variables that one more process of this stack needs: `node --env-file=.data/stack.env dist/src/main/worker.js`.
 */
export function writeVariables(config: StackConfig): void {
  const lines = Object.entries(configVariables(config)).map(([name, value]) => `${name}=${quoted(name, value)}\n`);
  writeWhole(variablesFile(config.DATA_DIR), lines.join(''));
}

/** A value as `--env-file` reads it back. Throws an Error for one that no kind of quotation marks can hold. */
function quoted(name: string, value: string): string {
  const mark = ["'", '`', '"'].find((one) => !value.includes(one));
  if (mark === undefined) {
    throw new Error(`${name} has all three kinds of quotation marks, which stack.env cannot hold`);
  }
  return mark + value + mark;
}

/** Removes both files: their existence means that everything runs. */
export function removeFacts(data_dir: string): void {
  rmSync(factsFile(data_dir), { force: true });
  rmSync(variablesFile(data_dir), { force: true });
}

/** The text for making the first payment. Begins with an empty line, which the progress never prints. */
export function summary(facts: StackFacts, config: StackConfig): string {
  const order = `{"currency":"EUR","amount":2500,"merchant_order_id":"A-1001","description":"Two tickets"}`;
  return `
API              ${facts.api_url}/v1/
Hosted page      ${config.PUBLIC_URL}/pay/{order_id}/
Temporal Web UI  ${facts.temporal_ui_url === null ? 'not known: set TEMPORAL_UI_URL' : `${facts.temporal_ui_url}/namespaces/${facts.temporal_namespace}/workflows`}
Simulator        ${facts.simulator_url}/, control key ${facts.simulator_control_key}
Test key         ${facts.test_api_key}
Live key         ${facts.live_api_key}
Bearer host      ${facts.manage_url}/v1/
Operator         client ${facts.operator_client_id}, secret ${facts.operator_client_secret}
Metrics          ${Object.values(facts.metrics_urls).join(', ')}
Logs             ${displayPath(path.join(config.DATA_DIR, 'logs'))}${path.sep}

Create an order, then open its order_url to pay it:

curl -u ${facts.test_api_key}: ${facts.api_url}/v1/orders/ \\
  -H 'Content-Type: application/json' \\
  -d '${order}'

Ctrl-C stops everything.
`;
}
