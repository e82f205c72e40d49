import { DatabaseNotReady } from '../../../src/db/availability';
import { serveTestApi } from '../../support/test-api';
import { until } from '../../support/waits';

/** A server that answers, or not. */
function aDependency(name: string, required: boolean) {
  const dependency = {
    name,
    required,
    answers: true,
    error: new Error(`no answer of ${name}`),
    check: () => (dependency.answers ? Promise.resolve() : Promise.reject(dependency.error)),
  };
  return dependency;
}

/** An API that needs Postgres for everything, and Temporal for what changes something. */
async function serve() {
  const postgres = aDependency('postgres', true);
  const temporal = aDependency('temporal', false);
  const api = await serveTestApi({ probes: [postgres, temporal] });
  const ready = async () => {
    const response = await fetch(`${api.url}/health/ready`);
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  const log = () =>
    api.lines
      .map((line) => JSON.parse(line) as { dependency?: string; msg: string; err?: { message: string } })
      .filter(({ dependency }) => dependency !== undefined)
      .map(({ dependency, msg, err }) => [dependency, msg, err?.message]);
  return { api, postgres, temporal, ready, log };
}

test('a process that answers is live, whatever it depends on', async () => {
  const { api, postgres } = await serve();
  postgres.answers = false;
  const response = await fetch(`${api.url}/health/live`);
  expect([response.status, await response.json()]).toEqual([200, { status: 'live' }]);
  await api.close();
});

test('many who ask at once wait for one check of each server', async () => {
  let asked = 0;
  let answerAll = () => {};
  const check = () => {
    asked += 1;
    return new Promise<void>((resolve) => (answerAll = resolve));
  };
  const api = await serveTestApi({ probes: [{ name: 'postgres', required: true, check }] });
  const answers = Array.from({ length: 20 }, () => fetch(`${api.url}/health/ready`));
  await until('it is asked', () => asked > 0);
  // The others have arrived by the time that one more request is answered.
  await fetch(`${api.url}/health/live`);
  answerAll();
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(20).fill(200));
  expect(asked).toBe(1);
  await api.close();
});

test('rules 2.7: ready names every dependency', async () => {
  const { api, ready } = await serve();
  expect(await ready()).toMatchObject({
    status: 200,
    body: { status: 'ready', checks: { postgres: 'ok', temporal: 'ok' } },
  });
  await api.close();
});

test('rules 2.7: without Temporal it stays ready, degraded: requests that only read are served', async () => {
  const { api, temporal, ready } = await serve();
  temporal.answers = false;
  expect(await ready()).toMatchObject({
    status: 200,
    body: { status: 'degraded', checks: { postgres: 'ok', temporal: 'unavailable' } },
  });
  await api.close();
});

test('rules 2.7: without Postgres nothing can be served: 503 that names it, the reason only in the log', async () => {
  const { api, postgres, temporal, ready } = await serve();
  postgres.answers = false;
  temporal.answers = false;
  const { status, headers, body } = await ready();
  expect([status, headers.get('retry-after'), body]).toEqual([
    503,
    '1',
    { error: { status: 503, type: 'ServerError', value: 'Not ready: postgres.' } },
  ]);
  await api.close();
});

test('rules 2.7: of a database that answers and cannot be used, the 503 states the reason', async () => {
  const { api, postgres, ready } = await serve();
  postgres.answers = false;
  postgres.error = new DatabaseNotReady('is read-only');
  expect(await ready()).toMatchObject({ status: 503, body: { error: { value: 'Not ready: postgres is read-only.' } } });
  await api.close();
});

test('rules 2.7: the log tells each change of a dependency once, with its cause', async () => {
  const { api, temporal, ready, log } = await serve();
  await ready();
  temporal.answers = false;
  for (const _ of [1, 2, 3]) await ready();
  temporal.answers = true;
  for (const _ of [1, 2]) await ready();
  expect(log()).toEqual([
    ['temporal', 'a dependency is unavailable', 'no answer of temporal'],
    ['temporal', 'a dependency is available again', undefined],
  ]);
  await api.close();
});
