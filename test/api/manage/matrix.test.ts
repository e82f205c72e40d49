import { v7 as uuidv7 } from 'uuid';
import { MANAGE_EXAMPLES } from '../../../src/contract/manage/examples';
import { MANAGE_API, type ManageRoutes } from '../../../src/contract/manage/manage-api';
import { errorSchema } from '../../../src/contract/error';
import { insertErasure } from '../../../src/db/retention/erasures';
import { successOf, type Route } from '../../../src/contract/routes';
import { recordDifferences } from '../../../src/db/audit/incidents';
import type { Database } from '../../../src/db/query';
import { insertWebhookRecovery, moveWebhookRecovery } from '../../../src/db/webhooks/recoveries';
import { aManageHost, type ManageAnswer } from '../../support/manage';
import { aDelivery, pauseDelivery } from '../../support/rows';
import { setUp } from '../../support/set-up';

/** Who may call what (rules 21.6): every operation of the document with every kind of caller. */

const host = setUp(aManageHost);
const tokens: Record<string, string> = {};
let own: string;
let other: string;

beforeAll(async () => {
  tokens['operator'] = await host.aToken('operator');
  [own, other] = [await aMerchant(), await aMerchant()];
  tokens['own'] = await host.aToken('merchant', own);
  tokens['other'] = await host.aToken('merchant', other);
  tokens['bad'] = `${tokens['operator'].slice(0, -8)}AAAAAAAA`;
});

async function make(path: string, body: unknown): Promise<Record<string, string>> {
  const { status, body: made } = await host.send<Record<string, string>>('POST', path, {
    token: tokens['operator'],
    body,
  });
  expect([path, status]).toEqual([path, 201]);
  return made;
}

async function anIncident(db: Database, project_id: string): Promise<string> {
  const [order_id, transaction_id] = [uuidv7(), uuidv7()];
  const of = { kind: 'status', object_id: transaction_id, project_id, order_id, transaction_id } as const;
  const differs = { currency: 'EUR', record_amount: 0, processor_amount: 100, description: 'A difference.' };
  return (await recordDifferences(db, [{ ...of, ...differs }], Date.now()))[0]!;
}

async function aMerchant(): Promise<string> {
  return (await make('/v1/merchants/', { name: 'A merchant', country: 'NL', default_currency: 'EUR' }))['id']!;
}

const projectOf = async (merchant_id: string) =>
  (await make(`/v1/merchants/${merchant_id}/projects/`, { name: 'P', is_test: true }))['id']!;

/** A new object of the merchant `own` for each parameter of the path. */
async function pathOf({ path }: Route): Promise<string> {
  const project = () => projectOf(own);
  const values: Record<string, () => Promise<string>> = {
    merchant_id: () => Promise.resolve(own),
    project_id: project,
    client_id: async () =>
      (await make('/v1/clients/', { name: 'C', role: 'merchant', merchant_id: own }))['client_id']!,
    recovery_id: async () => {
      const { db } = host.database;
      const [id, now] = [uuidv7(), new Date()];
      const time = { since: now.toISOString(), until: now.toISOString() };
      const recovery = { id, project_id: await project(), ...time, request_id: uuidv7() };
      await db.transaction((trx) => insertWebhookRecovery(trx, recovery, now));
      if (path.endsWith('/resume/')) {
        await moveWebhookRecovery(db, id, { to: 'paused', paused_by: 'request', now });
      }
      return id;
    },
    erasure_id: async () => {
      const erasure = {
        id: uuidv7(),
        project_id: await project(),
        field: 'email_address',
        value: 'a@b.example',
      } as const;
      return (await host.database.db.transaction((trx) => insertErasure(trx, erasure, new Date()))).id;
    },
    delivery_id: async () => {
      const { order_id, n } = await aDelivery(host.database.db, await project());
      if (path.endsWith('/resume/')) await pauseDelivery(host.database.db, { order_id, n });
      return `${order_id}-${n}`;
    },
    id: async () => (await make(`/v1/projects/${await project()}/api-keys/`, {}))['id']!,
  };
  if (path.includes('incidents')) {
    values['id'] = async () => await anIncident(host.database.db, await project());
  }
  let whole = path;
  for (const [parameter, name] of path.matchAll(/\{(\w+)\}/g)) {
    whole = whole.replace(parameter, await values[path.includes('webhook-deliveries') ? 'delivery_id' : name!]!());
  }
  return whole;
}

const ids = Object.keys(MANAGE_API.routes) as (keyof ManageRoutes)[];
const CALLERS = ['none', 'bad', 'own', 'other', 'operator'] as const;
const cells = ids.flatMap((id) => CALLERS.map((caller) => [id, caller] as const));

/** What the rules say: 401 without a good token, 403 for what is an operator's, 404 for what is of another merchant. */
function expectedOf(route: Route, caller: (typeof CALLERS)[number], names_project: boolean): number {
  if (caller === 'none' || caller === 'bad') return 401;
  if (caller === 'operator') return successOf(route);
  if (route.operators_only) return 403;
  return caller === 'other' && (route.params !== undefined || names_project) ? 404 : successOf(route);
}

function expectShape({ status, headers, body }: ManageAnswer, route: Route) {
  if (status === 204) return expect(body).toBeUndefined();
  expect(headers.get('content-type')).toBe('application/json');
  if (status >= 400) errorSchema.parse(body);
  else route.output.parse(body);
}

const namesProject = (id: keyof ManageRoutes) => id === 'recoverWebhooks' || id === 'eraseCustomer';

/** A request about new objects of the merchant `own`. */
async function aRequest(id: keyof ManageRoutes): Promise<{ path: string; body: unknown }> {
  const example: { body?: unknown; answer: unknown } = MANAGE_EXAMPLES[id];
  // The merchants and projects of the examples are not in this database.
  const body =
    id === 'createClient'
      ? { name: 'C', role: 'merchant', merchant_id: own }
      : namesProject(id)
        ? { ...(example.body as object), project_id: await projectOf(own) }
        : example.body;
  return { path: await pathOf(MANAGE_API.routes[id]), body };
}

/** One request of each operation, for all callers to whom it is refused: it changes nothing. */
const refused = new Map<keyof ManageRoutes, Awaited<ReturnType<typeof aRequest>>>();

test.each(cells)('rules 21.1 and 21.6: %s with %s', async (id, caller) => {
  const route: Route = MANAGE_API.routes[id];
  const expected = expectedOf(route, caller, namesProject(id));
  const request = (expected >= 400 ? refused.get(id) : undefined) ?? (await aRequest(id));
  if (expected >= 400) refused.set(id, request);
  const { path, body } = request;

  const answer = await host.send(route.method.toUpperCase(), path, { token: tokens[caller], body });
  expect(answer.status).toBe(expected);
  expectShape(answer, route);
  const challenge = answer.headers.get('www-authenticate');
  expect(challenge?.startsWith('Bearer')).toBe(answer.status === 401 ? true : undefined);
});

test('the matrix has every operation of the document and every caller', () => {
  expect(cells).toHaveLength(ids.length * CALLERS.length);
  expect(ids.length).toBeGreaterThanOrEqual(19);
});

test('rules 21.6: lists of a merchant hold its own objects only', async () => {
  await make(`/v1/merchants/${other}/projects/`, { name: 'Of the other', is_test: false });
  const { body } = await host.send<{ items: { object: { id: string }; after?: { merchant_id?: string } }[] }>(
    'GET',
    '/v1/audit-trail/?limit=100',
    { token: tokens['other'] },
  );
  expect(body.items.length).toBeGreaterThan(0);
  expect(body.items.map(({ object, after }) => after?.merchant_id ?? object.id)).toEqual(body.items.map(() => other));
});
