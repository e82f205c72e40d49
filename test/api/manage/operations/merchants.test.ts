import { aManageHost } from '../../../support/manage';
import { setUp } from '../../../support/set-up';

const host = setUp(aManageHost);
let token: string;
beforeAll(async () => {
  token = await host.aToken('operator');
});

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

test('rules 21.8: pages stay as they are while merchants are added', async () => {
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

test.each([
  ['an escape sequence', 'Shop\u001b[31m'],
  ['a character of private use', 'Shop\ue000'],
])('rules 21.21: a name with %s is refused, of merchant, project and client, new or changed', async (_title, name) => {
  const { id: merchant_id } = (await create('Müller & Söhne ❤️ 书店 متجر')).body;
  const projects = `/v1/merchants/${merchant_id}/projects/`;
  const project = await host.send<{ id: string }>('POST', projects, { token, body: { name: 'Test', is_test: true } });
  const requests: [string, string, object][] = [
    ['POST', '/v1/merchants/', { name, country: 'NL', default_currency: 'EUR' }],
    ['PUT', `/v1/merchants/${merchant_id}/`, { name }],
    ['POST', projects, { name, is_test: true }],
    ['PUT', `/v1/projects/${project.body.id}/`, { name }],
    ['POST', '/v1/clients/', { name, role: 'operator' }],
  ];
  for (const [method, path, body] of requests) {
    const answer = await host.send(method, path, { token, body });
    expect([path, answer.status, answer.body]).toMatchObject([
      path,
      400,
      { error: { type: 'ValidationError', property_path: 'name' } },
    ]);
  }
});
