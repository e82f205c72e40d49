import path from 'node:path';
import { gte } from 'semver';
import { privateFolder, repositoryRoot } from '../files';
import { callGrpc } from '../grpc';
import type { Program } from '../programs/program';
import { baseEnvironment } from '../settings';
import { runCommand } from '../tools/command';
import { downloadOfficial } from '../tools/download';
import type { Tool, ToolSource } from '../tools/find-tool';
import { buildGoProgram } from '../tools/go';

/** The release that the flags below were measured with, and the server in it. */
const RELEASE = 'v1.8.2';
export const SERVER = '1.31.2';

/** The command line tool, which contains the server and its Web UI. */
export function temporalTool(given: string | undefined): Tool {
  return {
    title: 'Temporal',
    file: 'temporal',
    variable: 'TEMPORAL_CLI_PATH',
    given,
    name_on_path: 'temporal',
    serves: async (program) => gte(await serverVersion(program), SERVER),
    isOurs: async (program) => (await serverVersion(program)) === SERVER,
    sources: [
      {
        text: 'downloading it',
        make: (draft, signal) => downloadOfficial({ artifact: 'cli', version: RELEASE }, draft, signal),
      },
      goSource('github.com/temporalio/cli/cmd/temporal', 'building it from its Go module (about 4 minutes, once)'),
    ],
    remedy:
      'Or put the temporal command line tool on PATH, or set TEMPORAL_CLI_PATH to it, or TEMPORAL_ADDRESS to a running server.',
  };
}

/** The way to make a program of the module that pins the versions of Temporal's programs. */
export function goSource(name: string, text: string): ToolSource {
  const module = path.join(repositoryRoot(), 'src', 'stack', 'servers', 'temporal-server');
  return { text, make: (to, signal) => buildGoProgram({ module, package: name, to, signal }) };
}

async function serverVersion(program: string): Promise<string> {
  const said = await runCommand(program, ['--version'], { timeout_ms: 20_000 });
  return /Server ([\w.+-]+)/.exec(said)?.[1] ?? '0.0.0';
}

/** The settings of one server of Temporal. */
export interface TemporalServer {
  program: string;
  data_dir: string;
  log_file: string;
  port: number;
  ui_port: number;
  /** Where the Web UI gets encrypted payloads decoded. */
  codec_url: string;
  namespace: string;
}

/** The folder of its database. SQLite makes files that every user of the machine may read. */
export function temporalData(data_dir: string): string {
  return path.join(data_dir, 'temporal');
}

/** The dev server with its Web UI and a file that survives kill -9. Makes its folder. */
export function temporalProgram(server: TemporalServer): Program {
  const folder = privateFolder(temporalData(server.data_dir));
  const dynamic = Object.entries(DYNAMIC).flatMap(([key, value]) => ['--dynamic-config-value', `${key}=${value}`]);
  const pragmas = PRAGMAS.flatMap((pragma) => ['--sqlite-pragma', pragma]);
  const attributes = SEARCH_ATTRIBUTE_NAMES.flatMap((name) => ['--search-attribute', `${name}=Keyword`]);
  return {
    name: 'temporal',
    command: server.program,
    args: [
      ...[
        'server',
        'start-dev',
        '--ip',
        '127.0.0.1',
        '--port',
        String(server.port),
        '--ui-port',
        String(server.ui_port),
      ],
      ...[
        '--db-filename',
        path.join(folder, 'temporal.db'),
        '--namespace',
        server.namespace,
        '--ui-disable-news-fetch',
      ],
      ...['--ui-codec-endpoint', server.codec_url],
      ...[...dynamic, ...pragmas, ...attributes, ...ISOLATED],
    ],
    // Spends less time on garbage collection, for 170 MB more memory.
    env: { ...baseEnvironment(), GOGC: '400' },
    cwd: server.data_dir,
    log_file: server.log_file,
    stop_signal: 'SIGTERM',
    isReady: () => isServing(server),
  };
}

/** The service that takes the calls of clients; as a message of gRPC's health check, field 1. */
const WORKFLOW_SERVICE = 'temporal.api.workflowservice.v1.WorkflowService';
const OF_WORKFLOW_SERVICE = Buffer.from([0x0a, WORKFLOW_SERVICE.length, ...Buffer.from(WORKFLOW_SERVICE)]);
/** The answer of gRPC's health check: status, field 1, is SERVING. */
const IS_SERVING = Buffer.from([0x08, 0x01]);

/** Whether the server takes calls. */
export async function isServing({ port }: Pick<TemporalServer, 'port'>): Promise<boolean> {
  return (await callGrpc(port, 'grpc.health.v1.Health/Check', OF_WORKFLOW_SERVICE))?.equals(IS_SERVING) === true;
}

/** A file of what docker-compose.yml runs Temporal with. */
export const deployed = (file: string) => path.join(repositoryRoot(), 'deploy', 'temporal', file);

/**
 * Makes the namespace unless it exists, with closed workflows visible for 30 days, and the search attributes that it
 * lacks, as docker-compose.yml does. Survives restarts; repeat-safe.
 */
export async function setUpNamespace({ program, port, namespace }: TemporalServer, signal: AbortSignal): Promise<void> {
  const env = {
    ...baseEnvironment(),
    TEMPORAL_CLI: program,
    TEMPORAL_ADDRESS: `127.0.0.1:${port}`,
    TEMPORAL_NAMESPACE: namespace,
  };
  await runCommand('/bin/sh', [deployed('namespace.sh')], { env, signal });
}

/** The user's own Temporal profile does not apply to this server. */
const ISOLATED = ['--disable-config-file', '--disable-config-env'];

/**
 * Events of a history from which on the server suggests to continue the workflow in a new run; its default is 4,096.
 */
export const EVENTS_SUGGESTED_MAX = 512;

/**
 * Temporal's dynamic configuration, of the dev server and of `deploy/temporal/dynamic-config.yaml`, which is generated
 * from it for a deployment.
 */
const DYNAMIC = {
  'limit.historyCount.suggestContinueAsNew': EVENTS_SUGGESTED_MAX,
  // With the defaults every dispatch of a task waits up to 50 ms for the next of 20 polls a second.
  'history.transferProcessorMaxPollRPS': 10_000,
  'history.timerProcessorMaxPollRPS': 10_000,
  // One server of matching: tasks need not be forwarded between partitions.
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
  'system.enableActivityEagerExecution': true,
  // Seconds. How many tasks wait is told to `recover --all` and to autoscalers; the default is five seconds old.
  'matching.TaskQueueInfoByBuildIdTTL': 1,
  // Queues whose tasks name a project are served by project in turn; the others stay as they are.
  'matching.autoEnableV2': true,
  // A workflow that ends within the second is written to the visibility store once, not two or three times; the list of
  // workflows is up to a second behind.
  'history.visibilityProcessorMaxPollRPS': 1,
  // At one poll a second, the default of 100 would limit writes to 100 workflows a second.
  'history.visibilityTaskBatchSize': 1_000,
  // The default of 10 searches of workflows a second is the whole namespace's.
  'frontend.namespaceRPS.visibility': 100,
  // Workflows that stay in memory for an hour after their last step: the default of 128,000 needs gigabytes.
  'history.hostLevelCacheMaxSize': 8_192,
  // One cache of events for all shards. With one for each of 512 shards, half a MiB encoded each, the server grew by
  // 600 MiB in an hour.
  'history.enableHostLevelEventsCache': true,
  'history.eventsHostLevelCacheMaxSizeBytes': 32 * 1_024 * 1_024,
  // The dev server's default, true, reads the database in every call.
  'system.forceSearchAttributesCacheRefreshOnRead': false,
};

const GENERATED = '# Generated from src/stack/servers/temporal.ts, which has the reasons, by npm run generate.';

/** The text of the dynamic configuration as a server reads it from a file. */
export function dynamicConfigText(): string {
  return [GENERATED, ...settingsOf(Object.entries(DYNAMIC)), ''].join('\n');
}

/** Values of Temporal's own Helm chart. Several hosts of matching need the default number of partitions. */
export function dynamicConfigValues(): string {
  const settings = Object.entries(DYNAMIC).filter(([key]) => !key.startsWith('matching.numTaskqueue'));
  return [GENERATED, 'server:', '  dynamicConfig:', ...settingsOf(settings).map((line) => `    ${line}`), ''].join(
    '\n',
  );
}

const settingsOf = (settings: readonly [string, string | number | boolean][]) =>
  settings.map(([key, value]) => `${key}: [{ value: ${value} }]`);

/** Twice the throughput of the defaults; a kill -9 of the server still loses nothing. */
const PRAGMAS = ['journal_mode=WAL', 'synchronous=1'];

/** Those of workflows/search-attributes.ts, as Temporal names them. */
export const SEARCH_ATTRIBUTE_NAMES = ['OrderStatus', 'PaymentLinkStatus', 'ProjectId', 'RelatedOrderId', 'Attention'];
