import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import {
  STOP_LIMITS_MS,
  localApiUrl,
  localManageUrl,
  parseConfig,
  postgresUrlWithPassword,
  type Config,
} from '../config';
import { NewerSchema, migrate } from '../db/migrate';
import { createLogger } from '../log';
import { makeDatabase } from '../db/service-role';
import { removeFacts, summary, writeFacts, writeVariables, type StackFacts } from '../stack/facts';
import { StackFailure, explain, checkRoom } from '../stack/failure';
import { displayPath } from '../stack/files';
import { reach } from '../stack/ports';
import { nodeAdvice } from '../stack/node-version';
import { guardFirstStart } from '../stack/programs/first-start';
import type { Program } from '../stack/programs/program';
import { STOP_ORDER } from '../stack/programs/running-processes';
import { Supervisor } from '../stack/programs/supervisor';
import { createProgress } from '../stack/progress';
import {
  discardOtherVersion,
  meilisearchData,
  meilisearchProgram,
  meilisearchTool,
} from '../stack/servers/meilisearch';
import { preparePostgres } from '../stack/servers/postgres';
import {
  setUpNamespace,
  temporalData,
  temporalProgram,
  temporalTool,
  type TemporalServer,
} from '../stack/servers/temporal';
import {
  clusterDatabase,
  clusterProgram,
  clusterTools,
  clusterUiProgram,
  forgetEarlierStart,
  setUpSchemas,
} from '../stack/servers/temporal-cluster';
import {
  metricsUrls,
  resolveStack,
  withPorts,
  type StackConfig,
  baseEnvironment,
  configVariables,
  keepSecrets,
  type Secrets,
} from '../stack/settings';
import { findTool, type Tool } from '../stack/tools/find-tool';
import { takeLock, type Lock } from '../stack/tools/lock';
import type * as Deployment from '../temporal/deployment';
import type * as Connections from './connections';
import { createDemo, type Demo } from './demo';
import { stopWithParent, tellReady } from './process';
import { messageOf } from '../errors';

const progress = createProgress();

/** The files of the processes that run instead of those of `src/main`. */
export type OtherPrograms = Partial<Record<'api' | 'manage' | 'worker' | 'codec', string>>;

/** A group has the time limit of one of its programs. Milliseconds. */
const STOP_MS = STOP_ORDER.length * STOP_LIMITS_MS.supervisor;

/**
 * Starts all servers and processes, keeps them running, and stops them at Ctrl-C, SIGTERM, or the end of the parent
 * process. A start that fails is reported in one line.
 */
export function runStack(env: NodeJS.ProcessEnv, instead: OtherPrograms = {}): void {
  // The terminal may close before the stack has stopped; later output is dropped.
  process.stdout.on('error', () => undefined);
  run(env, instead).catch((error: unknown) => {
    process.stdout.write(`payments: ${messageOf(error)}\n`);
    process.exit(1);
  });
}

async function run(env: NodeJS.ProcessEnv, instead: OtherPrograms): Promise<void> {
  const config = parseConfig(env);
  refuseDataOfAnother(config.DATA_DIR);
  const lock = lockDataFolder(config.DATA_DIR);
  const stack = new Stack(config, env, instead);
  let stopping = false;
  const stop = async () => {
    stopping = true;
    await stack.stop();
    lock.release();
  };
  stopWithParent(async () => {
    progress.say('payments', 'stopping');
    await stop();
    progress.say('payments', 'stopped');
  }, STOP_MS);
  try {
    await stack.start();
  } catch (error) {
    // It was asked to stop while starting: any failure comes from that.
    if (stopping) return;
    await stop();
    throw new StackFailure(explain(error, displayPath(config.DATA_DIR)));
  }
}

/**
 * Started by root, PostgreSQL would refuse data that an ordinary user's stack has made, and the other servers would leave
 * files there that this user may not open.
 */
function refuseDataOfAnother(data_dir: string): void {
  const ownerOf = (name: string) => statSync(path.join(data_dir, name), { throwIfNoEntry: false })?.uid;
  const owner = ownerOf('secrets.json');
  if (process.getuid?.() !== 0 || owner === undefined || owner === 0 || ownerOf('postgres') !== owner) return;
  throw new StackFailure(
    `the data in ${displayPath(data_dir)} belong to the user ${owner}: start as that user, or set DATA_DIR to another folder.`,
  );
}

/** Two stacks on the same data would destroy it. */
function lockDataFolder(data_dir: string): Lock {
  if (!existsSync(data_dir)) {
    mkdirSync(data_dir, { recursive: true });
    // Traversable, but not readable: PostgreSQL may run as another user. The files inside have their own permissions.
    chmodSync(data_dir, 0o711);
  }
  const lock = takeLock(path.join(data_dir, 'lock'));
  if ('held_by' in lock) {
    throw new StackFailure(
      `it runs already with the data in ${displayPath(data_dir)} (process ${lock.held_by}): stop it there with Ctrl-C, or set DATA_DIR and the ports.`,
    );
  }
  return lock;
}

function refuseNewerSchema(error: unknown): never {
  if (!(error instanceof NewerSchema)) throw error;
  throw new StackFailure(`${error.message} Start that version, or set DATA_DIR to another folder for this one.`);
}

class Stack {
  private readonly supervisor: Supervisor;
  private readonly abort = new AbortController();
  private facts: StackFacts | undefined;

  constructor(
    private readonly config: Config,
    private readonly env: NodeJS.ProcessEnv,
    private readonly instead: OtherPrograms,
  ) {
    this.supervisor = new Supervisor(config.DATA_DIR, progress, () => {
      if (this.facts !== undefined) writeFacts(config.DATA_DIR, this.facts);
    });
  }

  async start(): Promise<void> {
    const { DATA_DIR: data_dir } = this.config;
    removeFacts(data_dir);
    await this.supervisor.clearUp();
    await checkRoom(data_dir);
    const secrets = keepSecrets(data_dir);
    const stack = resolveStack(await withPorts(this.config), secrets, this.env);

    const [demo] = await Promise.all([
      this.startRecord(stack, secrets),
      this.startTemporal(stack, secrets),
      this.startMeilisearch(stack),
    ]);
    if (stack.DEPLOYMENT_VERSIONING === 'off') await endVersionsOfStarts(stack);
    await Promise.all([
      this.startOurs('worker', 'Worker', stack),
      this.startOurs('api', 'API', stack),
      this.startOurs('manage', 'Bearer host', stack),
      // Payloads are encrypted: the embedded Web UI shows them through this.
      ...(this.config.TEMPORAL_ADDRESS === undefined ? [this.startOurs('codec', 'Codec', stack)] : []),
    ]);

    this.facts = {
      api_url: localApiUrl(stack),
      manage_url: localManageUrl(stack),
      temporal_address: stack.TEMPORAL_ADDRESS,
      temporal_namespace: stack.TEMPORAL_NAMESPACE,
      temporal_ui_url: stack.TEMPORAL_UI_URL ?? null,
      postgres_url: stack.POSTGRES_OWNER_URL,
      meilisearch_url: stack.MEILISEARCH_URL,
      metrics_urls: metricsUrls(stack),
      simulator_url: stack.PROCESSOR_URL,
      simulator_control_key: stack.SIMULATOR_CONTROL_KEY,
      ...demo,
      pids: this.supervisor.pids,
    };
    writeVariables(stack);
    writeFacts(data_dir, this.facts);
    const advice = nodeAdvice(process.versions.node);
    if (advice !== undefined) progress.say('payments', advice);
    tellReady();
    process.stdout.write(summary(this.facts, stack));
  }

  async stop(): Promise<void> {
    this.facts = undefined;
    removeFacts(this.config.DATA_DIR);
    this.abort.abort();
    await this.supervisor.stop();
  }

  /** Postgres, its schema, the demo merchant, and the simulator, which needs nothing but Postgres. */
  private async startRecord(stack: StackConfig, secrets: Secrets): Promise<Demo> {
    const { POSTGRES_PORT: port, DATA_DIR: data_dir, DEMO_WEBHOOK_URL } = stack;
    const postgres_url = postgresUrlWithPassword(stack.POSTGRES_URL, stack);
    if (this.config.POSTGRES_URL === undefined) {
      const server = {
        data_dir,
        log_file: this.supervisor.logFile('postgres'),
        port,
        password: secrets.postgres_password,
      };
      await this.supervisor.keep(await preparePostgres(server, progress), 'PostgreSQL');
    } else {
      await reach('POSTGRES_URL', new URL(postgres_url), 5432);
    }
    const demo = await progress.step('PostgreSQL', 'migrating and making the demo merchant', async () => {
      await migrate(postgres_url, { owner_url: stack.POSTGRES_OWNER_URL }).catch(refuseNewerSchema);
      return createDemo({
        postgres_url,
        data_dir,
        secret_keys: stack.SECRET_KEYS,
        ...(DEMO_WEBHOOK_URL === undefined ? {} : { demo_webhook_url: DEMO_WEBHOOK_URL }),
      });
    });
    if (this.config.PROCESSOR_URL === undefined && this.config.POSTGRES_URL === undefined) {
      await makeDatabase(stack.SIMULATOR_POSTGRES_URL, stack.POSTGRES_OWNER_URL);
    }
    if (this.config.PROCESSOR_URL === undefined) await this.startOurs('simulator', 'Simulator', stack);
    return demo;
  }

  private async startTemporal(stack: StackConfig, secrets: Secrets): Promise<void> {
    if (this.config.TEMPORAL_ADDRESS !== undefined) {
      return reach('TEMPORAL_ADDRESS', new URL(`tcp://${stack.TEMPORAL_ADDRESS}`), 7233);
    }
    const server = {
      program: await this.tool(temporalTool(stack.TEMPORAL_CLI_PATH)),
      data_dir: stack.DATA_DIR,
      log_file: this.supervisor.logFile('temporal'),
      port: stack.TEMPORAL_PORT,
      ui_port: stack.TEMPORAL_UI_PORT,
      codec_url: `http://${stack.CODEC_HOST}:${stack.CODEC_PORT}`,
      namespace: stack.TEMPORAL_NAMESPACE,
    };
    if (stack.TEMPORAL === 'cluster') return this.startCluster(server, stack, secrets);
    const marker = path.join(stack.DATA_DIR, 'temporal.first-start');
    await guardFirstStart(marker, [temporalData(stack.DATA_DIR)], () =>
      this.supervisor.keep(temporalProgram(server), 'Temporal'),
    );
    await setUpNamespace(server, this.abort.signal);
  }

  /** Temporal as docker-compose.yml deploys it: a database of its own, the server, the Web UI. */
  private async startCluster(server: TemporalServer, stack: StackConfig, secrets: Secrets): Promise<void> {
    const { signal } = this.abort;
    const cluster = {
      ...server,
      programs: {
        server: await this.tool(clusterTools.server),
        sql_tool: await this.tool(clusterTools.sql_tool),
        ui: await this.tool(clusterTools.ui),
      },
      ports: stack.CLUSTER_PORTS,
      password: secrets.postgres_temporal_password,
    };
    const database = clusterDatabase(cluster, this.supervisor.logFile('temporal-postgres'));
    await this.supervisor.keep(await preparePostgres(database, progress), 'PostgreSQL of Temporal');
    await progress.step('Temporal', 'bringing its schemas up to date', () => setUpSchemas(cluster, signal));
    await forgetEarlierStart(cluster);
    await this.supervisor.keep(clusterProgram(cluster), 'Temporal');
    await progress.step('Temporal', 'setting up its namespace', () => setUpNamespace(cluster, signal));
    await this.supervisor.keep(clusterUiProgram(cluster, this.supervisor.logFile('temporal-ui')), 'Temporal Web UI');
  }

  private async startMeilisearch(stack: StackConfig): Promise<void> {
    if (this.config.MEILISEARCH_URL !== undefined) return reach('MEILISEARCH_URL', new URL(stack.MEILISEARCH_URL), 80);
    const program = await this.tool(meilisearchTool(stack.MEILISEARCH_PATH));
    const log_file = this.supervisor.logFile('meilisearch');
    const server = {
      program,
      data_dir: stack.DATA_DIR,
      log_file,
      port: stack.MEILISEARCH_PORT,
      key: stack.MEILISEARCH_KEY ?? '',
    };
    const other = await discardOtherVersion(server);
    if (other !== undefined) progress.say('Meilisearch', `its index was of version ${other}: it is rebuilt`);
    const marker = path.join(stack.DATA_DIR, 'meilisearch.first-start');
    await guardFirstStart(marker, [meilisearchData(stack.DATA_DIR)], () =>
      this.supervisor.keep(meilisearchProgram(server), 'Meilisearch'),
    );
  }

  private tool(tool: Tool): Promise<string> {
    return findTool(tool, { tools_dir: this.config.TOOLS_DIR, progress, signal: this.abort.signal });
  }

  /** One of our own processes, with every variable of the configuration set. It reports over IPC when it is ready. */
  private startOurs(
    name: 'api' | 'manage' | 'worker' | 'simulator' | 'codec',
    title: string,
    stack: StackConfig,
  ): Promise<void> {
    const { [name as keyof StackConfig['METRICS_PORTS']]: metrics_port } = stack.METRICS_PORTS as Partial<
      StackConfig['METRICS_PORTS']
    >;
    const program: Program = {
      name,
      command: process.execPath,
      args: [this.instead[name as keyof OtherPrograms] ?? path.join(__dirname, '../main', `${name}.js`)],
      env: {
        ...baseEnvironment(),
        NODE_ENV: this.env['NODE_ENV'] ?? 'production',
        ...configVariables({ ...stack, METRICS_PORT: metrics_port }),
      },
      cwd: process.cwd(),
      log_file: this.supervisor.logFile(name),
      stop_signal: 'SIGTERM',
    };
    return this.supervisor.keep(program, title);
  }
}

/** Without this the workers of a start without versions get neither new orders nor those of starts with versions. */
async function endVersionsOfStarts(stack: StackConfig): Promise<void> {
  // Of Temporal's package, which other starts do not load.
  const { deploymentOf, endVersions } = require('../temporal/deployment') as typeof Deployment;
  const { openTemporal } = require('./connections') as typeof Connections;
  const client = openTemporal(stack, createLogger({ process: 'payments', level: 'silent' }));
  try {
    const { before, moved } = await endVersions(deploymentOf(stack, client));
    if (before === undefined && moved === 0) return;
    progress.say('Temporal', `no version of the workers is current any more, ${moved} open workflows go on without`);
  } finally {
    await client.connection.close();
  }
}
