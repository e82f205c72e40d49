import { spawn, type ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import pino from 'pino';
import { createBulkReads } from '../../api/large-answers/bulk-reads';
import { searchOrders } from '../../api/operations/search-orders';
import { parseConfig } from '../../src/config';
import { isIndexBehind } from '../../src/bench/search-orders';
import { findProject } from '../../src/db/projects/projects';
import { noteSearch } from '../../src/db/search/search-outbox';
import { Indexer, type IndexerServices } from '../../src/indexer/indexer';
import { SearchReader } from '../../src/search/reader';
import { SearchWriter } from '../../src/search/writer';
import { freePort } from '../../src/stack/ports';
import { createProgress } from '../../src/stack/progress';
import { meilisearchProgram, meilisearchTool } from '../../src/stack/servers/meilisearch';
import { findTool } from '../../src/stack/tools/find-tool';
import { createTestDatabase } from './database';
import { PROJECT } from './domain';
import { serverFolder } from './stack';
import { serveTestApi } from './test-api';
import { until } from './waits';

/** A busy machine needs minutes for fifty thousand orders. Milliseconds. */
const INDEXED_WITHIN_MS = 150_000;

/** A Meilisearch of a test's own, as the stack runs it. */
async function aSearchServer() {
  const { MEILISEARCH_PATH, TOOLS_DIR } = parseConfig(process.env);
  const tools = { tools_dir: TOOLS_DIR, progress: createProgress(), signal: new AbortController().signal };
  const data_dir = serverFolder('search');
  const port = await freePort();
  const key = 'a master key of a test';
  const program = meilisearchProgram({
    program: await findTool(meilisearchTool(MEILISEARCH_PATH), tools),
    data_dir,
    log_file: path.join(data_dir, 'log'),
    port,
    key,
  });
  let child: ChildProcess | undefined;
  const server = {
    url: `http://127.0.0.1:${port}`,
    master_key: key,
    /** On the same data and port; resolves when it answers. */
    async start() {
      child = spawn(program.command, program.args, { env: program.env, cwd: program.cwd, stdio: 'ignore' });
      await until('Meilisearch answers', async () => await program.isReady!(0).catch(() => false));
    },
    /** As kill -9 does; resolves when it is gone. */
    async kill() {
      const ended = new Promise((resolve) => child?.once('exit', resolve));
      child?.kill('SIGKILL');
      await ended;
    },
    /** Stops answering, and goes on. */
    signal: (signal: 'SIGSTOP' | 'SIGCONT') => void child?.kill(signal),
    async close() {
      if (child?.exitCode === null && child.signalCode === null) await server.kill();
      rmSync(data_dir, { recursive: true, force: true });
    },
  };
  await server.start();
  return server;
}

export interface SearchAnswer {
  hits: number;
  hits_is_estimate?: true;
  orders: { id: string; merchant_order_id?: string }[];
  sort?: string;
  error?: { type: string; value: string; property_path?: string; property_description?: string };
}

/** Search over a database and an index of its own, without workflows: orders are written straight to Postgres. */
export async function aSearchWorld(options: { postgres_url?: string } = {}) {
  const [server, database] = await Promise.all([aSearchServer(), createTestDatabase(options)]);
  const log = pino({ level: 'silent' });
  const { db } = database;
  const project = (await findProject(db, PROJECT.id))!;
  const [reader, writer] = [new SearchReader(server, () => noteSearch(db), log), new SearchWriter(server)];
  const api = await serveTestApi({
    findOwner: async () => ({ project, api_key_id: '0123456789ab' }),
    operations: {
      searchOrders: searchOrders({
        bulk: createBulkReads(db, 2),
        search: reader,
        public_url: 'https://pay.example',
      }),
    },
  });
  const indexers: Indexer[] = [];
  /** A new indexer, which runs until it is stopped or the test ends. */
  const anIndexer = (index = writer, over: Partial<IndexerServices> = {}) => {
    const indexer = new Indexer({ db, index, log, ...over });
    indexers.push(indexer);
    indexer.start();
    return indexer;
  };
  const stopIndexers = async () => {
    for (const indexer of indexers.splice(0)) await indexer.stop();
  };
  return {
    ...database,
    server,
    reader,
    writer,
    api,
    anIndexer,
    stopIndexers,
    /** Resolves when every change is in the index. */
    async indexed() {
      const isIndexed = async () => {
        await noteSearch(db);
        return !(await isIndexBehind(db)) && (await writer.state().catch(() => 'away')) === 'current';
      };
      await until('every change is in the index', isIndexed, INDEXED_WITHIN_MS);
    },
    async search(body: object) {
      const response = await api.post('/v1/search/orders/', body);
      return { status: response.status, headers: response.headers, body: (await response.json()) as SearchAnswer };
    },
    async close() {
      await stopIndexers();
      await api.close();
      await database.close();
      await server.close();
    },
  };
}
