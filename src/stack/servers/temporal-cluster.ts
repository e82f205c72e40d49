import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { Client } from 'pg';
import { clusterData, writeWhole } from '../files';
import type { Program } from '../programs/program';
import { baseEnvironment, type StackConfig } from '../settings';
import { runCommand } from '../tools/command';
import type { Tool } from '../tools/find-tool';
import type { PostgresServer } from './postgres';
import { deployed, goSource, isServing, SERVER, type TemporalServer } from './temporal';

/** The Web UI that docker-compose.yml runs. */
const UI = '2.50.1';

/** The programs of the images that docker-compose.yml runs: server, tool for schemas, Web UI. */
const TOOLS = {
  server: { file: 'temporal-server', package: 'go.temporal.io/server/cmd/server', version: SERVER },
  sql_tool: { file: 'temporal-sql-tool', package: 'go.temporal.io/server/cmd/tools/sql', version: SERVER },
  ui: { file: 'temporal-ui-server', package: 'github.com/temporalio/ui-server/v2/cmd/server', version: UI },
} as const;

/** The paths of these programs. */
export type ClusterPrograms = Record<keyof typeof TOOLS, string>;

/** How each of them is found: on PATH, in TOOLS_DIR, or built. */
export const clusterTools: Readonly<Record<keyof ClusterPrograms, Tool>> = {
  server: clusterTool('server'),
  sql_tool: clusterTool('sql_tool'),
  ui: clusterTool('ui'),
};

function clusterTool(name: keyof typeof TOOLS): Tool {
  const { file, package: source, version } = TOOLS[name];
  const isOurs = async (program: string) =>
    (await runCommand(program, ['--version'], { timeout_ms: 20_000 })).trim().endsWith(` version ${version}`);
  return {
    title: file,
    file,
    name_on_path: file,
    serves: isOurs,
    isOurs,
    sources: [goSource(source, 'building it from its Go module (about a minute, once)')],
    remedy: `Or put ${file} ${version} on PATH, or leave TEMPORAL out.`,
  };
}

/** What the cluster's parts share. */
export interface TemporalCluster extends TemporalServer {
  programs: ClusterPrograms;
  ports: StackConfig['CLUSTER_PORTS'];
  password: string;
}

/** The server of PostgreSQL that only Temporal uses, with as many connections as that of docker-compose.yml. */
export function clusterDatabase(cluster: TemporalCluster, log_file: string): PostgresServer {
  const data_dir = clusterData(cluster.data_dir);
  // PostgreSQL may run as another user, which has to pass the folder.
  mkdirSync(data_dir, { recursive: true, mode: 0o711 });
  const { POSTGRES_PORT: port = 0 } = cluster.ports;
  return { name: 'temporal-postgres', data_dir, log_file, port, password: cluster.password, connections_max: 100 };
}

/** Makes the databases, and brings their schemas up to date, as docker-compose.yml does. Repeat-safe. */
export async function setUpSchemas({ programs, ports, password }: TemporalCluster, signal: AbortSignal): Promise<void> {
  const env = {
    ...baseEnvironment(),
    SQL_TOOL: programs.sql_tool,
    SQL_PLUGIN: 'postgres12',
    SQL_HOST: '127.0.0.1',
    SQL_PORT: String(ports.POSTGRES_PORT),
    SQL_USER: 'postgres',
    SQL_PASSWORD: password,
  };
  await runCommand('/bin/sh', [deployed('schema.sh')], { env, signal });
}

/**
 * Removes the addresses of an earlier start, before the server starts: it is the only one of this database, and its ports
 * are others at each start. Where that start was killed less than 20 seconds ago, the server would try to join them, for
 * up to a minute, and then end.
 */
export async function forgetEarlierStart({ ports, password }: TemporalCluster): Promise<void> {
  const client = new Client({
    host: '127.0.0.1',
    port: ports.POSTGRES_PORT,
    user: 'postgres',
    password,
    database: 'temporal',
  });
  await client.connect();
  try {
    await client.query('delete from cluster_membership');
  } finally {
    await client.end();
  }
}

/** All services of the server in one process, with the settings of docker-compose.yml. */
export function clusterProgram(cluster: TemporalCluster): Program {
  const { POSTGRES_PORT, ...ports } = cluster.ports;
  const addresses = {
    FRONTEND_GRPC_PORT: cluster.port,
    DB_PORT: POSTGRES_PORT,
    POSTGRES_SEEDS: '127.0.0.1',
    POSTGRES_USER: 'postgres',
    POSTGRES_PWD: cluster.password,
    BIND_ON_IP: '127.0.0.1',
    DYNAMIC_CONFIG_FILE_PATH: deployed('dynamic-config.yaml'),
    ...ports,
  };
  return {
    name: 'temporal',
    command: cluster.programs.server,
    args: ['start'],
    env: {
      ...baseEnvironment(),
      ...(parseEnv(readFileSync(deployed('server.env'), 'utf8')) as Record<string, string>),
      ...Object.fromEntries(Object.entries(addresses).map(([name, value]) => [name, String(value)])),
    },
    cwd: clusterData(cluster.data_dir),
    log_file: cluster.log_file,
    stop_signal: 'SIGTERM',
    isReady: () => isServing(cluster),
  };
}

/** The Web UI of the cluster. */
export function clusterUiProgram(cluster: TemporalCluster, log_file: string): Program {
  const folder = clusterData(cluster.data_dir);
  // JSON is YAML too.
  const settings = {
    temporalGrpcAddress: `127.0.0.1:${cluster.port}`,
    host: '127.0.0.1',
    port: cluster.ui_port,
    enableUi: true,
    defaultNamespace: cluster.namespace,
    disableNewsFetch: true,
    codec: { endpoint: cluster.codec_url, includeCredentials: true },
  };
  writeWhole(path.join(folder, 'ui.yaml'), JSON.stringify(settings));
  return {
    name: 'temporal-ui',
    command: cluster.programs.ui,
    args: ['--root', folder, '--config', '.', '--env', 'ui', 'start'],
    env: baseEnvironment(),
    cwd: folder,
    log_file,
    stop_signal: 'SIGTERM',
    isReady: async () => (await fetch(`http://127.0.0.1:${cluster.ui_port}/`)).ok,
  };
}
