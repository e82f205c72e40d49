/**
 * Puts the sandbox in the place of Temporal's workflow library, and the record in memory in that of Postgres. Loaded
 * before any other code of its thread; no other code sees it.
 */
import type { Database } from '../../src/db/query';
import type { StoredOrder } from '../../src/db/orders/stored-order';
import type { MemoryRecord, TransactionHandle } from './record';
import { WORKFLOW_API } from './workflow-api';

const workflow = require.resolve('@temporalio/workflow');
require(workflow);
const loaded = require.cache[workflow]!;
loaded.exports = { ...(loaded.exports as object), ...WORKFLOW_API };

type Place = MemoryRecord | TransactionHandle;
type Execute = (db: Database, bindings: Record<string, unknown>) => Promise<unknown[]>;

const query = require('../../src/db/query') as {
  prepared: (name: string, sql: string) => Execute;
};
query.prepared = (name) => async (db, bindings) => await (db as unknown as Place).execute(name, bindings);

const stored = require('../../src/db/orders/stored-order') as {
  findStoredOrder: (db: Database, id: string) => Promise<StoredOrder | undefined>;
};
stored.findStoredOrder = async (db, id) => await Promise.resolve((db as unknown as MemoryRecord).view(id));
