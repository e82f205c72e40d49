import { Router } from 'express';
import pino from 'pino';
import { z } from 'zod';
import { createApp } from '../../../api/http/app';
import { listen } from '../../../api/http/server';
import { unlessAborted } from '../../../api/http/unless-aborted';
import type { Caller, Operations } from '../../../api/operation';
import { openApi } from '../../../src/contract/openapi';
import type { Route, RouteSet } from '../../../src/contract/routes';
import { ServiceError } from '../../../src/errors';
import { setUp } from '../../support/set-up';
import { keysInMemory, serveTestApi } from '../../support/test-api';
import { until } from '../../support/waits';

describe('another API, with callers of its own', () => {
  const ROUTES = {
    getName: {
      method: 'get',
      path: '/v1/name/',
      summary: 'Get the name',
      description: 'The name of the caller.',
      output: z.strictObject({ name: z.string() }),
    },
  } as const satisfies Record<string, Route>;
  const API: RouteSet<typeof ROUTES> = {
    name: 'Names',
    description: 'Who am I?',
    security: { name: 'token', scheme: 'bearer', challenge: 'Bearer realm="names"', description: 'A token.' },
    routes: ROUTES,
    schemas: {},
    examples: { getName: { answer: { name: 'Ada' } } },
    webhooks: {},
  };
  interface Person extends Caller {
    readonly name: string;
  }
  const operations: Operations<typeof ROUTES, Person> = {
    getName: ({ caller }) => Promise.resolve({ name: caller.name }),
  };

  test('is served by the same code: routes, authentication, challenge and OpenAPI document', async () => {
    const app = createApp<Person>({
      host: 'api',
      config: { LOG_REQUESTS: 'all', API_DEADLINE_MS: 1_000, RATE_LIMIT_PER_SECOND: 0, TRUSTED_PROXY: '' },
      log: pino({ level: 'silent' }),
      api: {
        routes: API,
        operations,
        authenticate: async (header) => {
          if (header !== 'Bearer of-ada') throw new ServiceError('Unauthorized', 'The token is wrong.');
          return { id: 'ada', log: { person: 'ada' }, name: 'Ada' };
        },
        keysOf: () => keysInMemory(),
      },
      document: openApi(API),
      probes: [],
      routers: [Router()],
    });
    const server = await listen(app, {
      host: '127.0.0.1',
      port: 0,
      TLS_CERT_FILE: undefined,
      TLS_KEY_FILE: undefined,
      TRUSTED_PROXY: '',
    });
    const get = (path: string, authorization: string) => fetch(server.url + path, { headers: { authorization } });
    const [known, unknown] = [await get('/v1/name/', 'Bearer of-ada'), await get('/v1/name/', 'Bearer of-eve')];
    expect([known.status, await known.json()]).toEqual([200, { name: 'Ada' }]);
    expect([unknown.status, unknown.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="names"']);
    expect(await (await fetch(`${server.url}/docs/openapi.json`)).json()).toMatchObject({
      info: { title: 'Names' },
      security: [{ token: [] }],
      paths: { '/v1/name/': { get: { operationId: 'getName' } } },
    });
    await server.close();
  });
});

describe('the signal of a request', () => {
  const [DEADLINE_MS, PATIENT_MS] = [1_500, 60_000];
  const signals: AbortSignal[] = [];
  const serving = (API_DEADLINE_MS: number) =>
    serveTestApi({
      config: { API_DEADLINE_MS },
      operations: {
        getTotals: async ({ signal }) => {
          signals.push(signal!);
          return await unlessAborted(new Promise<never>(() => {}), signal!);
        },
      },
    });
  const api = setUp(() => serving(DEADLINE_MS));
  const patient = setUp(() => serving(PATIENT_MS));
  beforeEach(() => signals.splice(0));

  test('rules 18.5: it is aborted at the deadline, which is a 429', async () => {
    const { status } = await api.send('/v1/reports/totals/');
    expect([status, signals[0]!.aborted]).toEqual([429, true]);
  });

  test('it is aborted when the client leaves, long before the deadline', async () => {
    const leaving = new AbortController();
    const sent = patient.send('/v1/reports/totals/', { signal: leaving.signal });
    await until('it is handled', () => signals.length > 0);
    leaving.abort();
    await expect(sent).rejects.toThrow();
    await until('it is aborted', () => signals[0]!.aborted, PATIENT_MS / 2);
  });
});
