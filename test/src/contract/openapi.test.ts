import Ajv, { type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { MANAGE_API } from '../../../src/contract/manage/manage-api';
import { MERCHANT_API } from '../../../src/contract/merchant-api';
import { openApi, type JsonSchema } from '../../../src/contract/openapi';
import { errorsOf, readsOnly, successOf, type RouteSet } from '../../../src/contract/routes';
import { ERRORS, errorTypeOf } from '../../../src/errors';

const APIS: RouteSet[] = [MERCHANT_API, MANAGE_API];
const documents = APIS.map((api) => openApi(api));
const document = documents[0]!;
const entries = APIS.flatMap(({ routes, examples }, n) =>
  Object.entries(routes).map(([id, route]) => ({
    id,
    route,
    example: examples[id]!,
    operation: documents[n]!.paths[route.path]![route.method]!,
    document: documents[n]!,
  })),
);

const localized = (schema: object) =>
  JSON.parse(JSON.stringify(schema).replaceAll('#/components/schemas/', 'document#/$defs/')) as object;
/** One validator for each document, so that the schemas which its operations share are compiled once. */
const validators = new Map(
  documents.map((one) => {
    const ajv = addFormats(new Ajv({ strict: true, strictTypes: false, allErrors: true }));
    return [one, ajv.addSchema({ $id: 'document', $defs: localized(one.components.schemas) })];
  }),
);
/** By document and schema: many operations have the same answers. */
const compiled = new Map<string, ValidateFunction>();
const validate = (schema: object, value: unknown, of = document) => {
  const key = `${of.info.title} ${JSON.stringify(schema)}`;
  const check = compiled.get(key) ?? validators.get(of)!.compile(localized(schema));
  compiled.set(key, check);
  check(value);
  return check.errors ?? [];
};

describe.each(entries)('$id', ({ id, route, example, operation, document }) => {
  test('is in the document under its own id', () => {
    expect(operation.operationId).toBe(id);
  });

  test('has an example of request and answer that the published schemas accept', () => {
    const answer = operation.responses[successOf(route)]!.content?.['application/json'];
    expect(answer === undefined).toBe(successOf(route) === 204);
    if (answer) {
      expect([answer.example, validate(answer.schema, answer.example, document)]).toEqual([example.answer, []]);
    }
    const request = operation.requestBody?.content['application/json'];
    expect(request !== undefined).toBe(route.body !== undefined);
    if (request) {
      expect([request.example, validate(request.schema, request.example, document)]).toEqual([example.body, []]);
    }
  });

  test('names each of its error types once, together with those that share the status', () => {
    for (const name of errorsOf(route)) {
      const { status } = ERRORS[name];
      const { description, content } = operation.responses[status]!;
      expect(description.split(`${errorTypeOf(name)}: `)).toHaveLength(2);
      expect(
        validate(
          content!['application/json'].schema,
          content!['application/json'].examples![errorTypeOf(name)]!.value,
          document,
        ),
      ).toEqual([]);
    }
    const statuses = new Set(
      [
        successOf(route),
        ...(route.method === 'get' && route.etag ? [304] : []),
        ...errorsOf(route).map((name) => ERRORS[name].status),
      ].map(String),
    );
    expect(new Set(Object.keys(operation.responses))).toEqual(statuses);
  });

  test('offers Idempotency-Key on every change, and on nothing that only reads', () => {
    expect(operation.parameters.some(({ name }) => name === 'Idempotency-Key')).toBe(!readsOnly(route));
  });
});

test('the published schemas refuse what the service refuses', () => {
  const schema = { $ref: '#/components/schemas/OrderRequest' };
  const wrong = [
    { amount: 1 },
    { currency: 'eur', amount: 1 },
    { currency: 'EUR', amount: -1 },
    { currency: 'EUR', amount: 1, transactions: [{}] },
    { currency: 'EUR', amount: 1, extra: [] },
  ];
  expect(wrong.filter((body) => validate(schema, body).length === 0)).toEqual([]);
});

test.each(documents)(
  'every reference of $info.title leads somewhere, and schemas are no documents of their own',
  (document) => {
    const text = JSON.stringify(document);
    const references = [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path!.split('/'));
    const target = (path: string[]) =>
      path.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], document);
    expect(references.length).toBeGreaterThan(10);
    expect(references.filter((path) => target(path) === undefined)).toEqual([]);
    expect(text).not.toMatch(/"\$(id|schema)"/);
  },
);

test('an answer may grow: no schema forbids a field it does not know', () => {
  expect(JSON.stringify(documents)).not.toMatch('"additionalProperties":false');
});

test('the document is the same every time', () => {
  expect(APIS.map((api) => openApi(api))).toEqual(documents);
});

test('error types, flags and payment methods are enumerations', () => {
  const { Error: error, Order: order, Transaction: transaction, OrderRequest: request } = document.components.schemas;
  expect(new Set(error!.properties!['error']!.properties!['type']!.enum)).toEqual(
    new Set((Object.keys(ERRORS) as (keyof typeof ERRORS)[]).map(errorTypeOf)),
  );
  expect(order!.properties!['flags']!.items!.enum).toEqual(
    expect.arrayContaining(['is-test', 'is-void', 'has-refunds']),
  );
  const methods = ['credit-card', 'apple-pay', 'google-pay'];
  expect(request!.properties!['payment_methods']!.items!.enum).toEqual(methods);
  expect(transaction!.properties!['payment_method']!.enum).toEqual([...methods, 'credit-card-refund']);
});

test('every operation has one tag that is described, and declares Retry-After where it is sent', () => {
  for (const { operation, document } of entries) {
    const tags = document.tags.map(({ name }) => name);
    expect([operation.tags?.length, tags]).toEqual([1, expect.arrayContaining(operation.tags ?? [])]);
    const declared = Object.keys(operation.responses).filter((status) =>
      Object.hasOwn(operation.responses[status]!.headers, 'Retry-After'),
    );
    expect(declared).toEqual(['429', '503']);
  }
});

test('every text of a request body has a limit', () => {
  const unlimited = (schema: JsonSchema, path: string): string[] => [
    ...(schema.type === 'string' && !schema.maxLength && !schema.format && !schema.enum && !schema.pattern
      ? [path]
      : []),
    ...(schema.items ? unlimited(schema.items, `${path}[]`) : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, property]) => unlimited(property, `${path}.${name}`)),
  ];
  const schemas = documents.flatMap(({ components }) => Object.entries(components.schemas));
  const requests = schemas.filter(([name]) => /Request$|Update$|^Customer$/.test(name));
  expect(requests.flatMap(([name, schema]) => unlimited(schema, name))).toEqual([]);
  expect(requests.length).toBeGreaterThan(3);
});
