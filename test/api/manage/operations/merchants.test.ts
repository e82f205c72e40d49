import { aManageHost, type ManageHost } from '../../../support/manage';

let host: ManageHost;
let token: string;
beforeAll(async () => {
  host = await aManageHost();
  token = await host.aToken('operator');
});
afterAll(() => host.close());

const create = (name: string) =>
  host.send<{ id: string }>('POST', '/v1/merchants/', {
    token,
    body: { name, country: 'NL', default_currency: 'EUR' },
  });
interface List {
  items: { id: string; name: string }[];
  next?: string;
}
const list = async (query: string) => (await host.send<List>('GET', `/v1/merchants/?${query}`, { token })).body;

test('pages stay as they are while merchants are added', async () => {
  for (const name of ['A', 'B', 'C', 'D', 'E']) await create(name);
  const first = await list('limit=2');
  expect(first.items.map(({ name }) => name)).toEqual(['E', 'D']);
  await create('F');
  const second = await list(`limit=2&cursor=${first.next}`);
  expect(second.items.map(({ name }) => name)).toEqual(['C', 'B']);
  const last = await list(`limit=2&cursor=${second.next}`);
  expect([last.items.map(({ name }) => name), last.next]).toEqual([['A', 'Test Books'], undefined]);
});

test.each(['limit=0', 'limit=101', 'limit=x', 'cursor=x', 'cursor=WyJ4IiwieSJd', 'name=A'])(
  '%s is a ValidationError',
  async (query) => {
    const { status, body } = await host.send('GET', `/v1/merchants/?${query}`, { token });
    expect([status, body]).toMatchObject([
      400,
      { error: { type: 'ValidationError', property_path: query.split('=')[0] } },
    ]);
  },
);

test('a change without a difference changes nothing and is not in the audit trail', async () => {
  const { id } = (await create('Same')).body;
  const before = await host.send('GET', `/v1/merchants/${id}/`, { token });
  const after = await host.send('PUT', `/v1/merchants/${id}/`, { token, body: { name: 'Same' } });
  expect(after.body).toEqual(before.body);
  const entries = await host.send<{ items: { action: string }[] }>('GET', `/v1/audit-trail/?object=${id}`, { token });
  expect(entries.body.items.map(({ action }) => action)).toEqual(['merchant.create']);
});
