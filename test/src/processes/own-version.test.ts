import { temporal as temporal_api } from '@temporalio/proto';
import type { Database } from '../../../src/db/connection';
import type { TemporalClient } from '../../../src/temporal/connect';
import { findCurrentBuild } from '../../../src/db/builds/current-build';
import { OwnVersion } from '../../../src/processes/own-version';
import { createTestDatabase } from '../../support/database';
import { setUp } from '../../support/set-up';
import { createLogger } from '../../../src/log';
import { until } from '../../support/waits';

const { WORKER_DEPLOYMENT_VERSION_STATUS_CURRENT: CURRENT } = temporal_api.api.enums.v1.WorkerDeploymentVersionStatus;

const database = setUp(() => createTestDatabase());

/** Temporal's answers to the calls of a version; `current` is the one that it knows. */
function aTemporal() {
  const temporal = { current: undefined as string | undefined, looks: 0 };
  const client = {
    options: { namespace: 'payments' },
    workflowService: {
      setWorkerDeploymentCurrentVersion: async ({ buildId }: { buildId: string }) => void (temporal.current = buildId),
      describeWorkerDeployment: async () => {
        temporal.looks += 1;
        return {
          workerDeploymentInfo: {
            versionSummaries: temporal.current
              ? [{ deploymentVersion: { buildId: temporal.current }, status: CURRENT }]
              : [],
          },
        };
      },
    },
    workflow: { list: async function* () {} },
  } as unknown as TemporalClient;
  return { temporal, client };
}

const versionOf = (client: TemporalClient, db: Database) =>
  new OwnVersion({
    db,
    deployment: { client, name: 'payments' },
    log: createLogger({ process: 'test', level: 'silent' }),
    build: { build: '0.1.0+b', version: 'v2', built_at: 1_000 },
    bundle_path: __filename,
    dataConverter: {},
    watch_ms: 10,
  });

test('rules 24.21: a version is made current in the record too where Postgres fails the first time', async () => {
  const { db } = database;
  let tries = 0;
  const raw = (sql: string, bindings: never) =>
    (tries += 1) === 1 ? Promise.reject(new Error('Connection terminated')) : db.raw(sql, bindings);
  const failing = new Proxy(db, { get: (target, key) => (key === 'raw' ? raw : Reflect.get(target, key)) });
  const own = versionOf(aTemporal().client, failing);
  await own.makeCurrent();
  expect(await findCurrentBuild(db)).toMatchObject({ build: '0.1.0+b', version: 'v2' });
  await own.stop();
});

test('rules 24.21: a Temporal that has lost its data gets the current version again, one with another version keeps it', async () => {
  const { temporal, client } = aTemporal();
  const own = versionOf(client, database.db);
  await own.makeCurrent();
  temporal.current = undefined;
  await until('the version is current again', () => temporal.current === 'v2');
  temporal.current = 'v3';
  const looked = temporal.looks;
  await until('it has looked twice', () => temporal.looks > looked + 1);
  expect(temporal.current).toBe('v3');
  await own.stop();
});
