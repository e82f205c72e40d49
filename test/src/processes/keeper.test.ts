import { RETENTION_DAYS } from '../../../src/domain/retention';
import { createLogger } from '../../../src/log';
import { Keeper } from '../../../src/processes/keeper';
import { SearchWriter } from '../../../src/search/writer';
import { createWorkflowClients } from '../../../src/temporal/workflows';
import { createTestDatabase } from '../../support/database';
import { setUp } from '../../support/set-up';
import { stack } from '../../support/stack';
import { inNamespace, temporalOf } from '../../support/temporal-client';
import { until } from '../../support/waits';

/** A namespace of its own: no other worker makes schedules in it. */
const namespace = 'keeper';
const client = temporalOf({ ...stack(), temporal_namespace: namespace });
const database = setUp(() => createTestDatabase());

beforeAll(() => inNamespace(namespace));
afterAll(() => client.connection.close());

const keepers: Keeper[] = [];
afterEach(async () => {
  for (const keeper of keepers.splice(0)) await keeper.stop();
});

/** What the schedules are, and when each was last changed. */
async function schedules() {
  const described = ['audit', 'search-index-check', 'settlements'].map(async (id) => {
    const { spec, action, policies, state, info } = await client.schedule.getHandle(id).describe();
    return { id, spec, action, policies, state, changed: info.lastUpdatedAt };
  });
  return await Promise.all(described);
}

/** The keeper of a worker of a build. No search server answers: its indexer has nothing to do with schedules. */
function aKeeper(build: string, built_at: number, missing_every_ms?: number): Keeper {
  const { db } = database;
  const services = {
    db,
    client,
    workflows: createWorkflowClients({ client, db }),
    index: new SearchWriter({ url: 'http://127.0.0.1:1' }),
    log: createLogger({ process: 'test', level: 'silent' }),
    build: { build, version: 'v', built_at },
    is_versioned: false,
    retention: RETENTION_DAYS,
  };
  const keeper = new Keeper(services, missing_every_ms);
  keepers.push(keeper);
  return keeper;
}

/** Runs an older build's keeper until it has tried to take a lease, and then to make its build the current one. */
async function runOlderKeeper(): Promise<void> {
  const older = aKeeper('older', 1_000);
  database.forget();
  await older.start();
  await until('it has tried', () => {
    const asked = database.statements.findIndex((sql) => sql.includes('insert into leases'));
    return asked >= 0 && database.statements.slice(asked).some((sql) => sql.includes('insert into current_build'));
  });
  // Also ends what it does with the schedules.
  await older.stop();
}

test('rules 24.20: a keeper of an older build leaves the schedules as the newer one made them', async () => {
  const newer = aKeeper('newer', 2_000);
  await newer.start();
  await until('it has made the schedules', () => schedules().catch(() => undefined));
  // The newer build has another spec and note.
  const state = { paused: false, note: 'of the newer build' };
  const spec = { intervals: [{ every: '2 hours' as const }] };
  await client.schedule.getHandle('settlements').update((made) => ({ ...made, spec, state }));
  const made = await schedules();
  expect(made.map(({ action }) => action.staticDetails)).toEqual(Array(3).fill('Scheduled by build newer'));

  await runOlderKeeper();
  expect(await schedules()).toEqual(made);
  // Its leases are free, and its build is still the current one.
  await newer.stop();
  await runOlderKeeper();
  expect(await schedules()).toEqual(made);
});

test('rules 24.20: a schedule that Temporal has lost is made again, and one that is paused stays as it is', async () => {
  const keeper = aKeeper('of today', Date.now(), 100);
  await keeper.start();
  const namesBuild = ({ action }: { action: { staticDetails?: string | undefined } }) =>
    action.staticDetails === 'Scheduled by build of today';
  const isMade = async () => (await schedules()).every(namesBuild);
  await until('it has made the schedules', () => isMade().catch(() => false));
  await client.schedule.getHandle('audit').pause('for a while');
  await client.schedule.getHandle('settlements').delete();
  await client.schedule.getHandle('search-index-check').delete();
  await until('they are there again', () => isMade().catch(() => false));
  expect((await schedules())[0]!.state).toMatchObject({ paused: true, note: 'for a while' });
});
