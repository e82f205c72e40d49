import type { TemporalClient } from '../../../src/temporal/connect';
import { findCurrentBuild } from '../../../src/db/current-build';
import { OwnVersion } from '../../../src/processes/own-version';
import { createTestDatabase } from '../../support/database';
import { setUp } from '../../support/set-up';
import { createLogger } from '../../../src/log';

const database = setUp(() => createTestDatabase());

test('rules 24.21: a version is made current in the record too where Postgres fails the first time', async () => {
  const { db } = database;
  let tries = 0;
  const raw = (sql: string, bindings: never) =>
    (tries += 1) === 1 ? Promise.reject(new Error('Connection terminated')) : db.raw(sql, bindings);
  const failing = new Proxy(db, { get: (target, key) => (key === 'raw' ? raw : Reflect.get(target, key)) });
  const client = {
    options: { namespace: 'payments' },
    workflowService: { setWorkerDeploymentCurrentVersion: async () => ({}) },
    workflow: { list: async function* () {} },
  } as unknown as TemporalClient;
  const build = { build: '0.1.0+b', version: 'v2', built_at: 1_000 };
  const own = new OwnVersion({
    db: failing,
    deployment: { client, name: 'payments' },
    log: createLogger({ process: 'test', level: 'silent' }),
    build,
    bundle_path: __filename,
    dataConverter: {},
  });
  await own.makeCurrent();
  expect(await findCurrentBuild(db)).toMatchObject({ build: '0.1.0+b', version: 'v2' });
  await own.stop();
});
