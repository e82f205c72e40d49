import { PROJECT } from '../../../support/database';
import { aManageHost, type ManageHost } from '../../../support/manage';

let host: ManageHost;
let operator: string;
let merchant: string;
beforeAll(async () => {
  host = await aManageHost();
  operator = await host.aToken('operator');
  merchant = await host.aToken('merchant', PROJECT.merchant_id);
});
afterAll(() => host.close());

const projects = `/v1/merchants/${PROJECT.merchant_id}/projects/`;
const create = (body: object, token = merchant) => host.send('POST', projects, { token, body });
const aProject = async (fields: object = {}) =>
  String((await create({ name: 'P', is_test: true, ...fields })).body['id']);
const update = (id: string, body: object, token = merchant) => host.send('PUT', `/v1/projects/${id}/`, { token, body });

test('a new project has the merchant’s currency, cards and the default periods', async () => {
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

test('PUT changes the fields sent, null clears the webhook address, and fixed fields are ignored', async () => {
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

test('account funding is changed by operators only; to send it unchanged is no change', async () => {
  const id = await aProject();
  expect((await update(id, { account_funding: true })).status).toBe(403);
  expect((await create({ name: 'P', is_test: true, account_funding: true })).status).toBe(403);
  expect((await update(id, { account_funding: false, name: 'Q' })).status).toBe(200);
  expect((await update(id, { account_funding: true }, operator)).body['account_funding']).toBe(true);
});

test('a merchant activates a project that it suspended itself, not one that an operator suspended', async () => {
  const id = await aProject();
  expect((await update(id, { status: 'suspended' })).body['status']).toBe('suspended');
  expect((await update(id, { status: 'active' })).body['status']).toBe('active');
  expect((await update(id, { status: 'suspended' }, operator)).status).toBe(200);
  expect((await update(id, { status: 'active' })).status).toBe(403);
  expect((await update(id, { status: 'active' }, operator)).body['status']).toBe('active');
});

test('with an Idempotency-Key a project is made once, and the repeat gets the same answer', async () => {
  const headers = { 'idempotency-key': 'one-project' };
  const body = { name: 'Once', is_test: true };
  const [first, second] = [
    await host.send('POST', projects, { token: merchant, body, headers }),
    await host.send('POST', projects, { token: merchant, body, headers }),
  ];
  expect([second.status, second.body]).toEqual([first.status, first.body]);
  const reused = await host.send('POST', projects, { token: merchant, body: { ...body, name: 'Other' }, headers });
  expect(reused.status).toBe(422);
});

test('the webhook secret is shown to whom the project belongs', async () => {
  const id = await aProject();
  const { body } = await host.send('GET', `/v1/projects/${id}/webhook-secret/`, { token: merchant });
  expect(body).toEqual({ project_id: id, secret: expect.stringMatching(/^whsec_/) as unknown });
});
