import { temporal as temporal_api } from '@temporalio/proto';
import type { Database } from '../../../src/db/query';
import type { TemporalClient } from '../../../src/temporal/connect';
import { findCurrentBuild } from '../../../src/db/builds/current-build';
import { OwnVersion } from '../../../src/processes/own-version';
import { quietRuntime } from '../../../src/temporal/replay';
import { createTestDatabase } from '../../support/database';
import { setUp } from '../../support/set-up';
import { createLogger, type Logger } from '../../../src/log';
import { workflowBundle } from '../../support/temporal';
import { until } from '../../support/waits';

const { WORKER_DEPLOYMENT_VERSION_STATUS_CURRENT: CURRENT } = temporal_api.api.enums.v1.WorkerDeploymentVersionStatus;

const database = setUp(() => createTestDatabase());
const bundle = setUp(() => workflowBundle());
const begun: OwnVersion[] = [];
beforeAll(quietRuntime);
afterEach(() => Promise.all(begun.splice(0).map((own) => own.stop())));

/** Temporal's answers to the calls of a version; `current` is the one that it knows, `failures` the next lists that fail. */
function aTemporal() {
  const temporal = { current: undefined as string | undefined, looks: 0, lists: 0, failures: 0 };
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
    workflow: {
      list: async function* () {
        temporal.lists += 1;
        if (temporal.lists <= temporal.failures) throw new Error('Temporal is busy');
        yield* [];
      },
    },
  } as unknown as TemporalClient;
  return { temporal, client };
}

function versionOf(client: TemporalClient, db: Database, log = createLogger({ process: 'test', level: 'silent' })) {
  const own = new OwnVersion({
    db,
    deployment: { client, name: 'payments' },
    log,
    build: { build: '0.1.0+b', version: 'v2', built_at: 1_000 },
    bundle_path: bundle.codePath,
    dataConverter: {},
    watch_ms: 10,
  });
  begun.push(own);
  return own;
}

test('rules 24.21: a version is made current in the record too where Postgres fails the first time', async () => {
  const { db } = database;
  let tries = 0;
  const raw = (sql: string, bindings: never) =>
    (tries += 1) === 1 ? Promise.reject(new Error('Connection terminated')) : db.raw(sql, bindings);
  const failing = new Proxy(db, { get: (target, key) => (key === 'raw' ? raw : Reflect.get(target, key)) });
  const own = versionOf(aTemporal().client, failing);
  await own.makeCurrent();
  expect(await findCurrentBuild(db)).toMatchObject({ build: '0.1.0+b', version: 'v2' });
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
});

test('rules 24.21: open workflows are looked for again until Temporal has listed all, and only the first failure is logged', async () => {
  const { temporal, client } = aTemporal();
  temporal.failures = 2;
  const error = jest.fn();
  const own = versionOf(client, database.db, { error } as unknown as Logger);
  await own.makeCurrent();
  await until('they are listed', () => temporal.lists >= 3);
  await until('it lists them no more', async () => {
    const { lists, looks } = temporal;
    await until('it has looked twice', () => temporal.looks > looks + 1);
    return temporal.lists === lists;
  });
  expect(error.mock.calls).toEqual([[{ err: expect.any(Error) }, expect.any(String)]]);
});

test('rules 24.21: once another version is current, open workflows are left to its worker', async () => {
  const { temporal, client } = aTemporal();
  temporal.failures = 1_000;
  const own = versionOf(client, database.db);
  await own.makeCurrent();
  await until('it tries again', () => temporal.lists > 1);
  temporal.current = 'v3';
  const looked = temporal.looks;
  await until('it has looked twice', () => temporal.looks > looked + 1);
  const { lists, looks } = temporal;
  await until('it has looked again', () => temporal.looks > looks);
  expect(temporal.lists).toBe(lists);
});
