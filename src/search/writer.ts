import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EnqueuedTask, Meilisearch, Settings } from 'meilisearch';
import { SEARCH_PACE } from '../domain/search-pace';
import { KEYS, connectSearch, isNotThere, isRefusal, onceMore, reasonOf, type SearchServer } from './connection';
import { orderIdOf, primaryKeys, type Document } from './documents';
import { CUTOFF_MS, INDEX, REBUILT_INDEX, SETTINGS } from './settings';

/** The name of an index that a rebuild fills. */
export type RebuiltIndex = `${typeof REBUILT_INDEX}_${string}`;
export type IndexName = typeof INDEX | RebuiltIndex;

/** Settings of an index, with the attributes that a build needs. */
export type IndexSettings = Settings & Pick<typeof SETTINGS, 'filterableAttributes' | 'sortableAttributes'>;

/** How an order looks in the index: no documents when it is not there any more. */
export interface IndexedOrder {
  order_id: string;
  documents: Document[];
}

/** Orders on their way into the index. */
export interface SentOrders {
  /** Resolves when the batch is indexed, or with the reason for its refusal. One bad document refuses the batch. */
  refused(): Promise<string | undefined>;
}

/** Time limit of one request in milliseconds, not including the task that it starts. */
const REQUEST_MS = 20_000;
/** Milliseconds a task may take: settings of a large index take half a minute. */
const TASK_MS = 600_000;

/** Makes the index and writes to it. Methods throw when the server does not answer; all are safe to repeat. */
export class SearchWriter {
  private readonly server: Meilisearch;
  private readonly setUp: Meilisearch;

  /** `settings`: of the index, by default those of this build. */
  constructor(
    server: SearchServer,
    private readonly settings: IndexSettings = SETTINGS,
  ) {
    this.server = connectSearch(server, 'write', REQUEST_MS);
    this.setUp = connectSearch(server, 'set-up', REQUEST_MS);
  }

  /** Makes the keys of the api and the indexer where they are missing. */
  async makeKeys(): Promise<void> {
    const { results } = await this.setUp.getKeys({ limit: 100 }).catch((error: unknown) => {
      // A server without a master key has no keys.
      if (isRefusal(error)) return { results: undefined };
      throw error;
    });
    for (const { uid, indexes, actions } of Object.values(KEYS)) {
      if (results === undefined || results.some((key) => key.uid === uid)) continue;
      await this.setUp.createKey({ uid, indexes: [...indexes], actions: [...actions], expiresAt: null });
    }
  }

  /** Whether the index that answers searches is there, with the settings of this version. */
  async state(): Promise<'current' | 'outdated' | 'missing'> {
    try {
      const settings = await this.setUp.index(INDEX).getSettings();
      return isCurrent(settings, this.settings) ? 'current' : 'outdated';
    } catch (error) {
      if (isNotThere(error)) return 'missing';
      throw error;
    }
  }

  /** Gives an index of an earlier version the limit on the time of a search, which needs no rebuild. */
  async setCutoff(): Promise<void> {
    const index = this.setUp.index(INDEX);
    if ((await index.getSearchCutoffMs()) === CUTOFF_MS) return;
    await ended(this.setUp, await index.updateSearchCutoffMs(CUTOFF_MS));
  }

  /** Makes an empty index for a rebuild and returns its name; removes those of earlier rebuilds. */
  async beginRebuild(): Promise<RebuiltIndex> {
    const { results } = await this.setUp.getRawIndexes({ limit: 1_000 });
    for (const { uid } of results) if (uid.startsWith(REBUILT_INDEX)) await this.setUp.deleteIndexIfExists(uid);
    const name: RebuiltIndex = `${REBUILT_INDEX}_${randomUUID()}`;
    await ended(this.setUp, await this.setUp.createIndex(name, { primaryKey: 'pk' }));
    await ended(this.setUp, await this.setUp.index(name).updateSettings(this.settings));
    return name;
  }

  /**
   * Swaps the rebuilt index in. `replaces`: there is an old one, which takes the other name. Throws when another rebuild
   * has begun since.
   */
  async swapRebuilt(name: RebuiltIndex, { replaces }: { replaces: boolean }): Promise<void> {
    await ended(this.setUp, await this.setUp.swapIndexes([{ indexes: [name, INDEX], rename: !replaces }]));
  }

  /** Removes the old index after a swap. */
  async removeReplaced(name: RebuiltIndex): Promise<void> {
    await ended(this.setUp, await this.setUp.deleteIndex(name));
  }

  /**
   * Writes orders as they are now, and returns those that the index refuses, each with the reason; the others are found
   * from then on.
   */
  async write(name: IndexName, orders: readonly IndexedOrder[]): Promise<{ order_id: string; reason: string }[]> {
    const sent = await this.send(name, orders);
    const reason = await sent.refused();
    if (reason === undefined) return [];
    if (orders.length === 1) return orders.map(({ order_id }) => ({ order_id, reason }));
    // One bad document fails its whole task.
    const middle = Math.ceil(orders.length / 2);
    return [...(await this.write(name, orders.slice(0, middle))), ...(await this.write(name, orders.slice(middle)))];
  }

  /** Sends the current content of orders. The index processes batches in the order sent, and queued batches faster. */
  async send(name: IndexName, orders: readonly IndexedOrder[]): Promise<SentOrders> {
    let tasks: EnqueuedTask[];
    try {
      // A function of its own: otherwise `refused` would keep the documents in memory until the batch is indexed.
      tasks = await this.enqueue(name, orders);
    } catch (error) {
      if (isRefusal(error)) return { refused: async () => reasonOf(error) };
      throw error;
    }
    return { refused: () => this.reasonOfRefusal(tasks) };
  }

  private async enqueue(name: IndexName, orders: readonly IndexedOrder[]): Promise<EnqueuedTask[]> {
    const index = this.server.index(name);
    const documents = orders.flatMap((order) => order.documents.map((document) => JSON.stringify(document)));
    const gone = orders
      .filter((order) => order.documents.length === 0)
      .flatMap(({ order_id }) => primaryKeys(order_id));
    const tasks: EnqueuedTask[] = [];
    if (documents.length > 0) {
      const add = () => index.addDocumentsFromString(documents.join('\n'), 'application/x-ndjson');
      tasks.push(await onceMore(add));
    }
    if (gone.length > 0) tasks.push(await onceMore(() => index.deleteDocuments(gone)));
    return tasks;
  }

  private async reasonOfRefusal(tasks: readonly EnqueuedTask[]): Promise<string | undefined> {
    try {
      for (const task of tasks) await ended(this.server, task);
      return undefined;
    } catch (error) {
      if (error instanceof TaskRefused) return error.message;
      throw error;
    }
  }

  /** The documents with these keys. */
  async documents(keys: readonly string[]): Promise<Document[]> {
    if (keys.length === 0) return [];
    const { results } = await this.server.index<Document>(INDEX).getDocuments({ ids: [...keys], limit: keys.length });
    return results;
  }

  /** The ids of all orders in the index, page by page; an order comes once for each of its rows. */
  async *orderIds(size: number): AsyncGenerator<string[]> {
    for (let offset = 0; ; offset += size) {
      const { results } = await this.server
        .index<Document>(INDEX)
        .getDocuments({ fields: ['pk'], offset, limit: size });
      if (results.length === 0) return;
      yield results.map(orderIdOf);
    }
  }

  /** How many rows the index has. */
  async count(): Promise<number> {
    return (await this.server.index(INDEX).getStats()).numberOfDocuments;
  }
}

/**
 * Waits until a task has ended. Throws TaskRefused when its documents are refused, another Error when it failed
 * otherwise.
 */
async function ended(server: Meilisearch, { taskUid }: EnqueuedTask): Promise<void> {
  const give_up = performance.now() + TASK_MS;
  const { first, most }: { first: number; most: number } = SEARCH_PACE.written_ask_ms;
  for (let pause_ms = first; ; pause_ms = Math.min(2 * pause_ms, most)) {
    await sleep(pause_ms);
    const task = await onceMore(() => server.tasks.getTask(taskUid));
    if (task.status === 'succeeded') return;
    if (task.status === 'failed' || task.status === 'canceled') {
      const code = task.error?.code ?? task.status;
      const isAtFault = task.error?.type === 'invalid_request' && code !== 'index_not_found';
      throw isAtFault ? new TaskRefused(code) : new Error(`a task ended with ${code}`);
    }
    if (performance.now() > give_up) throw new Error('a task did not end');
  }
}

/** The task fails whenever it is repeated: its documents are refused. The message is the server's code. */
class TaskRefused extends Error {}

/** Whether an index has the attributes of `wanted`; the server completes and sorts what it was given. */
function isCurrent({ filterableAttributes, sortableAttributes }: Settings, wanted: IndexSettings): boolean {
  return (
    isDeepStrictEqual(filterableAttributes, wanted.filterableAttributes) &&
    isDeepStrictEqual(sortableAttributes?.toSorted(), wanted.sortableAttributes.toSorted())
  );
}
