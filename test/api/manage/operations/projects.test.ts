import { v7 as uuidv7 } from 'uuid';
import { insertMerchant } from '../../../../src/db/projects/merchants';
import { PROJECT } from '../../../support/domain';
import { aManageHost } from '../../../support/manage';
import { setUp } from '../../../support/set-up';

const host = setUp(aManageHost);
let operator: string;
let merchant: string;
beforeAll(async () => {
  operator = await host.aToken('operator');
  merchant = await host.aToken('merchant', PROJECT.merchant_id);
});

const projects = `/v1/merchants/${PROJECT.merchant_id}/projects/`;
const create = (body: object, token = merchant) => host.send('POST', projects, { token, body });
const aProject = async (fields: object = {}) =>
  String((await create({ name: 'P', is_test: true, ...fields })).body['id']);
const update = (id: string, body: object, token = merchant) => host.send('PUT', `/v1/projects/${id}/`, { token, body });

test('rules 21.9: a new project has the merchant’s currency, cards and the default periods', async () => {
  const { status, body } = await create({ name: 'Web shop', is_test: true });
  expect(status).toBe(201);
  expect(body).toMatchObject({
    merchant_id: PROJECT.merchant_id,
    name: 'Web shop',
    is_test: true,
    status: 'active',
    payment_methods: ['credit-card'],
    currencies: ['EUR'],
    expiration_period: 'PT30M',
    transaction_expiration_period: 'PT30M',
    capture_expiration_period: 'P5D',
    account_funding: false,
  });
});

test('rules 21.9: PUT changes the fields sent, null clears the webhook address, and fixed fields are ignored', async () => {
  const id = await aProject({ webhook_url: 'https://shop.example.com/hooks' });
  const { status, body } = await update(id, { name: 'New name', is_test: false, id: PROJECT.id, webhook_url: null });
  expect([status, body['name'], body['is_test'], body['id'], body['webhook_url']]).toEqual([
    200,
    'New name',
    true,
    id,
    undefined,
  ]);
});

test('rules 21.24: a merchant makes projects until it has 100, however many at once; an operator makes further ones', async () => {
  const { db } = host.database;
  const id = uuidv7();
  await insertMerchant(db, { id, name: 'Many shops', country: 'NL', default_currency: 'EUR' }, new Date());
  await db.raw(
    `insert into projects
     select (jsonb_populate_record(p, jsonb_build_object('id', gen_random_uuid(), 'merchant_id', cast(? as uuid),
       'id_namespace', gen_random_uuid()))).*
     from projects p, generate_series(1, 98) where p.id = ?`,
    [id, PROJECT.id],
  );
  const make = async (token: string) => {
    const body = { name: 'One more', is_test: true };
    return await host.send<{ error: object }>('POST', `/v1/merchants/${id}/projects/`, { token, body });
  };
  const own = await host.aToken('merchant', id);
  const statuses = (await Promise.all(Array.from({ length: 4 }, () => make(own)))).map(({ status }) => status);
  expect(statuses.toSorted((a, b) => a - b)).toEqual([201, 201, 409, 409]);
  expect((await make(own)).body.error).toMatchObject({ type: 'Conflict' });
  expect((await make(operator)).status).toBe(201);
  expect((await make(own)).status).toBe(409);
});

test.each<[object, string]>([
  [{ name: '' }, 'name'],
  [{ name: null }, 'name'],
  [{ payment_methods: ['cheque'] }, 'payment_methods.0'],
  [{ currencies: [] }, 'currencies'],
  [{ currencies: ['XXY'] }, 'currencies.0'],
  [{ capture_expiration_period: 'P6D' }, 'capture_expiration_period'],
  [{ expiration_period: 'P31D' }, 'expiration_period'],
  [{ status: 'closed' }, 'status'],
  [{ webhook_url: 'ftp://shop.example.com' }, 'webhook_url'],
])('%j is a ValidationError', async (change, property_path) => {
  const { status, body } = await update(await aProject(), change);
  expect([status, body]).toMatchObject([400, { error: { type: 'ValidationError', property_path } }]);
});

test('a live project sends no webhooks to private addresses', async () => {
  const webhook_url = 'http://127.0.0.1:9000/hooks';
  const answer = await create({ name: 'Live', is_test: false, webhook_url });
  expect([answer.status, answer.body]).toMatchObject([400, { error: { property_path: 'webhook_url' } }]);
  expect((await create({ name: 'Test', is_test: true, webhook_url })).status).toBe(201);
});

test('rules 11.5, 21.1: after a ValidationError the corrected request may have the same Idempotency-Key', async () => {
  const send = async (method: string, path: string, key: string, fields: object) =>
    (await host.send(method, path, { token: merchant, headers: { 'idempotency-key': key }, body: fields })).status;
  const [private_address, public_address] = ['http://127.0.0.1:9000/hooks', 'https://shop.example.com/hooks'];
  const live = { name: 'Live', is_test: false };
  const make = (webhook_url: string) => send('POST', projects, 'make', { ...live, webhook_url });
  expect([await make(private_address), await make(public_address), await make(private_address)]).toEqual([
    400, 201, 422,
  ]);
  const path = `/v1/projects/${await aProject(live)}/`;
  const change = (webhook_url: string) => send('PUT', path, 'change', { webhook_url });
  expect([await change(private_address), await change(public_address)]).toEqual([400, 200]);
});

test('rules 21.6: account funding is changed by operators only; to send it unchanged is no change', async () => {
  const id = await aProject();
  expect((await update(id, { account_funding: true })).status).toBe(403);
  expect((await create({ name: 'P', is_test: true, account_funding: true })).status).toBe(403);
  expect((await update(id, { account_funding: false, name: 'Q' })).status).toBe(200);
  expect((await update(id, { account_funding: true }, operator)).body['account_funding']).toBe(true);
});

type Step = ['merchant' | 'operator', 'suspended' | 'active', number];
test.each<[string, Step[], object]>([
  [
    'a merchant activates what it has suspended',
    [
      ['merchant', 'suspended', 200],
      ['merchant', 'suspended', 200],
      ['merchant', 'active', 200],
    ],
    { status: 'active', entries: 2 },
  ],
  [
    'an operator activates what the merchant has suspended',
    [
      ['merchant', 'suspended', 200],
      ['operator', 'active', 200],
    ],
    { status: 'active', entries: 2 },
  ],
  [
    'what both have suspended only an operator activates, the merchant first',
    [
      ['merchant', 'suspended', 200],
      ['operator', 'suspended', 200],
      ['operator', 'suspended', 200],
      ['merchant', 'active', 403],
    ],
    { status: 'suspended', suspended_by: 'operator', entries: 2 },
  ],
  [
    'what both have suspended only an operator activates, the operator first',
    [
      ['operator', 'suspended', 200],
      ['merchant', 'suspended', 200],
      ['merchant', 'active', 403],
    ],
    { status: 'suspended', suspended_by: 'operator', entries: 1 },
  ],
  [
    'after an operator has activated it the merchant is free again',
    [
      ['merchant', 'suspended', 200],
      ['operator', 'suspended', 200],
      ['operator', 'active', 200],
      ['merchant', 'suspended', 200],
      ['merchant', 'active', 200],
    ],
    { status: 'active', entries: 5 },
  ],
])('rules 21.20: %s', async (_title, steps, end) => {
  const id = await aProject();
  for (const [who, status, expected] of steps) {
    const answer = await update(id, { status }, who === 'operator' ? operator : merchant);
    expect([who, status, answer.status]).toEqual([who, status, expected]);
  }
  expect(await stateOf(id)).toEqual(end);
});

test('rules 21.20: a project that a merchant activates while an operator suspends it is suspended by the operator', async () => {
  for (let round = 0; round < 10; round += 1) {
    const id = await aProject();
    await update(id, { status: 'suspended' });
    await Promise.all([update(id, { status: 'active' }), update(id, { status: 'suspended' }, operator)]);
    expect(await stateOf(id)).toMatchObject({ status: 'suspended', suspended_by: 'operator' });
  }
});

test('rules 21.20: the entry of an operator’s suspension says who had suspended the project, and who has now', async () => {
  const id = await aProject();
  await update(id, { status: 'suspended' });
  await update(id, { status: 'suspended' }, operator);
  const [entry] = (await changes(id)).items;
  expect(entry).toMatchObject({ before: { suspended_by: 'merchant' }, after: { suspended_by: 'operator' } });
});

const changes = async (id: string) =>
  (await host.send<{ items: object[] }>('GET', `/v1/audit-trail/?object=${id}`, { token: operator })).body;

/** Status, who has suspended it, and how many changes are recorded. */
async function stateOf(id: string): Promise<object> {
  const { body } = await host.send('GET', `/v1/projects/${id}/`, { token: merchant });
  const { status, suspended_by } = body;
  const created = 1;
  return {
    status,
    ...(suspended_by !== undefined && { suspended_by }),
    entries: (await changes(id)).items.length - created,
  };
}

test('the webhook secret is shown to whom the project belongs', async () => {
  const id = await aProject();
  const { body } = await host.send('GET', `/v1/projects/${id}/webhook-secret/`, { token: merchant });
  expect(body).toEqual({ project_id: id, secret: expect.stringMatching(/^whsec_/) as unknown });
});
