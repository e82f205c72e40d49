import * as client from '../../../src/client';
import { EXAMPLES } from '../../../src/contract/examples';
import { openApi } from '../../../src/contract/openapi';
import { MERCHANT_API, type MerchantRoutes } from '../../../src/contract/merchant-api';
import { successOf, type Route } from '../../../src/contract/routes';
import { startReceiver } from '../../support/servers';
import { setUp } from '../../support/set-up';
import { stack } from '../../support/stack';
import { API_KEY, serveTestApi } from '../../support/test-api';

/** As the generator spells what a request is made of. */
const camel = (name: string) =>
  name
    .replace(/^[A-Z]/, (first) => first.toLowerCase())
    .replace(/[-_](\w)/g, (_, letter: string) => letter.toUpperCase());

type Call = (...args: unknown[]) => Promise<{ status: number; data: unknown }>;
// An operation that the client lacks is a type error here.
const OPERATIONS = client satisfies Record<keyof MerchantRoutes, unknown> as unknown as Record<
  keyof MerchantRoutes,
  Call
>;

const DOCUMENT = openApi(MERCHANT_API);

/** The documentation's example of a request, as the client takes it. */
function argumentsOf(id: keyof MerchantRoutes, route: Route): Record<string, unknown> {
  const { params = {}, body }: { params?: Record<string, string>; body?: unknown } = EXAMPLES[id] as object;
  const { $ref = 'body' } =
    DOCUMENT.paths[route.path]?.[route.method]?.requestBody?.content['application/json'].schema ?? {};
  const named = Object.entries(params).map(([name, value]) => [camel(name), value]);
  return { ...Object.fromEntries(named), ...(body === undefined ? {} : { [camel($ref.split('/').at(-1)!)]: body }) };
}

describe('every operation of the document', () => {
  const api = setUp(() => serveTestApi());

  test.each(Object.entries(MERCHANT_API.routes) as [keyof MerchantRoutes, Route][])(
    '%s is called as the document says, and answers as it says',
    async (id, route) => {
      api.calls.length = 0;
      const operation = OPERATIONS[id];
      const project = client.project({ url: api.url, api_key: API_KEY });
      // Without anything to say there is the project alone.
      const { status, data } = await (operation.length === 1
        ? operation(project)
        : operation(argumentsOf(id, route), project));
      expect([status, data]).toEqual([successOf(route), EXAMPLES[id].answer]);
      expect(api.calls.map((call) => call.operation)).toEqual([id]);
      expect(api.calls[0]!.input).toMatchObject('body' in EXAMPLES[id] ? { body: EXAMPLES[id].body } : {});
    },
  );
});

describe('on the running service', () => {
  const { api_url: url, test_api_key: api_key } = stack();
  const merchant = client.project({ url, api_key });
  const orderRequest = { currency: 'EUR', amount: 2_500, merchant_order_id: 'A-1001' };

  test('an order is created, changed, read, listed and cancelled', async () => {
    const order = await client.ok(client.createOrder({ orderRequest }, merchant));
    await client.ok(client.updateOrder({ orderId: order.id, orderUpdate: { description: 'Two tickets' } }, merchant));
    const read = await client.ok(client.getOrder({ orderId: order.id, fieldsQuery: ['amount_details'] }, merchant));
    expect(read).toMatchObject({
      ...orderRequest,
      description: 'Two tickets',
      status: 'new',
      amount_details: { refundable: 0 },
    });
    expect(
      (await client.ok(client.listOrders({ createdSince: order.created }, merchant))).map(({ id }) => id),
    ).toContain(order.id);
    expect((await client.ok(client.cancelOrder({ orderId: order.id }, merchant))).status).toBe('cancelled');
  });

  test('ok throws a refusal with its status and body', async () => {
    const refused = await client
      .ok(client.getProject(client.project({ url, api_key: 'wrong' })))
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(client.HttpError);
    expect(refused).toMatchObject({ status: 401, data: { error: { type: 'Unauthorized' } } });
  });
});

describe('an answer that is not the service’s', () => {
  const host = setUp(startReceiver);
  const merchant = () => client.project({ url: host.url, api_key: API_KEY });

  test('one that breaks off rejects, and is never taken for an empty one', async () => {
    host.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('[', () => response.destroy());
    });
    await expect(client.listOrders({}, merchant())).rejects.toThrow();
    await expect(client.findOrders({ query: '*' }, merchant()).next()).rejects.toThrow();
  });

  test('a page of a proxy is an HttpError', async () => {
    host.answer((response) => void response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>502</h1>'));
    const refused = { status: 502, data: '<h1>502</h1>' };
    await expect(client.ok(client.listOrders({}, merchant()))).rejects.toMatchObject(refused);
    await expect(client.downloadReport({ query: '*' }, merchant())).rejects.toMatchObject(refused);
  });

  test('an answer without a body is one', async () => {
    host.answer((response) => void response.writeHead(304).end());
    await expect(client.listOrders({}, merchant())).resolves.toMatchObject({ status: 304 });
  });
});

describe('search', () => {
  const answers = [
    { hits: 3, orders: [{ id: 'a' }, { id: 'b' }], sort: 'next' },
    { hits: 3, orders: [{ id: 'c' }] },
  ];
  /** What was asked, and the answers in turn. */
  const asked: { body: unknown }[] = [];
  const shop: Parameters<typeof client.findOrders>[1] = {
    ...client.project({ url: 'https://payments.example', api_key: API_KEY }),
    fetch: async (_url, init) => {
      asked.push({ body: JSON.parse(init?.body as string) as unknown });
      return Response.json(answers[asked.length - 1]);
    },
  };

  test('all pages come as one sequence, each asked for when it is needed', async () => {
    const ids: string[] = [];
    for await (const { id } of client.findOrders({ query: '*', size: 2 }, shop)) {
      expect(asked).toHaveLength(ids.length < 2 ? 1 : 2);
      ids.push(id);
    }
    expect(ids).toEqual(['a', 'b', 'c']);
    expect(asked.map(({ body }) => body)).toEqual([
      { query: '*', size: 2, search_after: '-1' },
      { query: '*', size: 2, search_after: 'next' },
    ]);
  });

  test('on the running service the report is a stream, and a refusal is an HttpError', async () => {
    const { api_url: url, test_api_key: api_key } = stack();
    const merchant = client.project({ url: `${url}/`, api_key });
    const report = await client.downloadReport({ query: 'created:2020-01-01' }, merchant);
    expect(await new Response(report).text()).toMatch(/^id,merchant_order_id,.*\r\n$/);
    const refused = { status: 400, data: { error: { type: 'ValidationError', property_path: 'query' } } };
    await expect(client.downloadReport({ query: 'stauts:new' }, merchant)).rejects.toMatchObject(refused);
    await expect(client.findOrders({ query: 'stauts:new' }, merchant).next()).rejects.toMatchObject(refused);
  });
});
