import { PROJECT } from '../../../support/domain';
import { aManageHost } from '../../../support/manage';
import { setUp } from '../../../support/set-up';
import { NOBODY } from '../../../support/shapes';

const host = setUp(aManageHost);
let token: string;
beforeAll(async () => {
  token = await host.aToken('operator');
});

interface Client {
  client_id: string;
  client_secret: string;
  expires?: string;
}

const create = (body: object) => host.send<Client>('POST', '/v1/clients/', { token, body });
const aClient = async () => (await create({ name: 'C', role: 'operator' })).body;
const roll = (client_id: string, body?: object) =>
  host.send<Client>('POST', `/v1/clients/${client_id}/roll/`, { token, body });
const statusOf = async (client_id: string, client_secret: string) =>
  (await host.askToken({ client_id, client_secret })).status;

test('a client gets tokens with the secret that is shown once', async () => {
  const { client_id, client_secret } = await aClient();
  expect(await statusOf(client_id, client_secret)).toBe(200);
  const { body } = await host.send<{ items: Client[] }>('GET', '/v1/clients/?limit=100', { token });
  const listed = body.items.find((one) => one.client_id === client_id);
  expect(listed).toMatchObject({ name: 'C', role: 'operator', last_used: new Date().toISOString().slice(0, 10) });
  expect(JSON.stringify(body)).not.toContain('cs_');
});

test.each<[object, string]>([
  [{ name: 'C', role: 'merchant' }, 'merchant_id'],
  [{ name: 'C', role: 'merchant', merchant_id: NOBODY }, 'merchant_id'],
  [{ name: 'C', role: 'operator', merchant_id: PROJECT.merchant_id }, 'merchant_id'],
  [{ name: 'C', role: 'owner' }, 'role'],
])('%j is a ValidationError', async (body, property_path) => {
  const answer = await create(body);
  expect([answer.status, answer.body]).toMatchObject([400, { error: { type: 'ValidationError', property_path } }]);
});

test('rules 11.5, 21.1: a merchant that does not exist leaves the Idempotency-Key free', async () => {
  const made = async (merchant_id: string) => {
    const body = { name: 'C', role: 'merchant', merchant_id };
    return (await host.send('POST', '/v1/clients/', { token, headers: { 'idempotency-key': 'a-client' }, body }))
      .status;
  };
  expect([await made(NOBODY), await made(PROJECT.merchant_id)]).toEqual([400, 201]);
});

test('rules 21.13: a roll ends the old secret at once, and the client keeps its id', async () => {
  const old = await aClient();
  const { status, body: made } = await roll(old.client_id);
  expect([status, made.client_id]).toEqual([200, old.client_id]);
  expect(await statusOf(old.client_id, old.client_secret)).toBe(401);
  expect(await statusOf(old.client_id, made.client_secret)).toBe(200);
});

test('rules 21.13: with an overlap both secrets work; a second roll ends the first one', async () => {
  const first = await aClient();
  const { body: second } = await roll(first.client_id, { overlap: 'PT1H' });
  expect(Date.parse(second.expires!)).toBeGreaterThan(Date.now());
  const works = async (secret: string) => await statusOf(first.client_id, secret);
  expect([await works(first.client_secret), await works(second.client_secret)]).toEqual([200, 200]);
  const { body: third } = await roll(first.client_id, { overlap: 'PT1H' });
  expect([
    await works(first.client_secret),
    await works(second.client_secret),
    await works(third.client_secret),
  ]).toEqual([401, 200, 200]);
});

test('rules 21.13: a token that was given before the roll stays good', async () => {
  const client = await aClient();
  const old = String((await host.askToken({ ...client, name: undefined })).body['access_token']);
  await roll(client.client_id);
  expect((await host.send('GET', '/v1/clients/', { token: old })).status).toBe(200);
});
