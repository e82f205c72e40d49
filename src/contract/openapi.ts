import { z } from 'zod';
import { ERRORS, typeOf, type ErrorName } from '../errors';
import { customerSchema } from './customer';
import { errorSchema } from './error';
import { EXAMPLES } from './examples';
import { orderListSchema, orderRequestSchema, orderSchema, orderUpdateSchema } from './order';
import { currenciesSchema, projectSchema } from './project';
import { ROUTES, changesOrder, errorsOf, type OperationId, type Route } from './routes';
import { eventSchema, transactionRequestSchema, transactionSchema } from './transaction';
import { webhookSchema } from './webhook';

/** The parts of JSON Schema that the contract's schemas come out as. */
export interface JsonSchema {
  $ref?: string;
  type?: string;
  description?: string;
  format?: string;
  enum?: string[];
  const?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  maxItems?: number;
  examples?: unknown[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: JsonSchema | boolean;
}

export interface OpenApiOperation {
  operationId: string;
  summary: string;
  description: string;
  parameters: {
    name: string;
    in: 'path' | 'query' | 'header';
    required: boolean;
    description?: string;
    schema: JsonSchema;
  }[];
  requestBody?: { required: boolean; content: JsonContent };
  responses: Record<string, { description: string; headers: Record<string, unknown>; content?: JsonContent }>;
}

type JsonContent = Record<
  'application/json',
  { schema: JsonSchema; example?: unknown; examples?: Record<string, { value: unknown }> }
>;

export interface OpenApi {
  openapi: string;
  info: { title: string; version: string; description: string };
  servers: { url: string }[];
  security: Record<string, string[]>[];
  paths: Record<string, Partial<Record<Route['method'], OpenApiOperation>>>;
  webhooks: Record<string, unknown>;
  components: {
    schemas: Record<string, JsonSchema>;
    securitySchemes: Record<string, unknown>;
    headers: Record<string, unknown>;
  };
}

/** Schemas with a name of their own in the document; each is stated once there and referred to elsewhere. */
const NAMED = {
  OrderRequest: orderRequestSchema,
  OrderUpdate: orderUpdateSchema,
  TransactionRequest: transactionRequestSchema,
  Customer: customerSchema,
  Order: orderSchema,
  OrderList: orderListSchema,
  Transaction: transactionSchema,
  Event: eventSchema,
  Project: projectSchema,
  Currencies: currenciesSchema,
  Webhook: webhookSchema,
  Error: errorSchema,
} satisfies Record<string, z.ZodType>;

const registry = z.registry<{ id: string }>();
for (const [id, schema] of Object.entries(NAMED)) registry.add(schema, { id });

const refTo = (id: string) => `#/components/schemas/${id}`;

/** The API as an OpenAPI 3.1 document, computed from the routes and schemas that also parse the requests. */
export function openApi(): OpenApi {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Payments API',
      version: '1',
      description:
        'Collect payments for orders. A 2xx answer means that the request was accepted, not that the payment succeeded: read the status of the order. A declined card is answered with 200 and the transaction status `error`. The error type TransactionAlreadyStarted comes from the hosted page alone, for a client that prefers JSON and sends the form of `/pay/{order_id}/` again or too late.',
    },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }],
    paths: paths(),
    webhooks: {
      status_changed: {
        post: {
          summary: 'The status of an order changed',
          description:
            'Sent to webhook_url of the order, else of the project, signed as Standard Webhooks. Retrieve the order and act on its status. Any 2xx answer counts as received; otherwise it is sent again every two minutes, ten times at most. The same one can arrive twice.',
          parameters: ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => ({
            name,
            in: 'header',
            required: true,
            schema: { type: 'string' },
          })),
          requestBody: { required: true, content: { 'application/json': { schema: { $ref: refTo('Webhook') } } } },
          responses: { '200': { description: 'Received. The body is ignored.' } },
        },
      },
    },
    components: {
      schemas: componentSchemas(),
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'basic',
          description: 'The API key of the project is the username, the password is empty.',
        },
      },
      headers: {
        ETag: { description: 'Version of the order, for If-Match and If-None-Match.', schema: { type: 'string' } },
        RateLimit: {
          description:
            'What the API key has left of its quota (`r`), and the seconds until all of it is there again (`t`).',
          schema: { type: 'string' },
        },
        RateLimitPolicy: {
          description: 'Requests (`q`) that may come within a window (`w`, seconds).',
          schema: { type: 'string' },
        },
        RequestId: {
          description: 'Names the request in the log of the service.',
          schema: { type: 'string', format: 'uuid' },
        },
      },
    },
  };
}

/** zod marks each schema as a document of its own, and repeats in a pattern what the format says. */
function tidy(schema: JsonSchema & { $id?: string; $schema?: string }): void {
  delete schema.$id;
  delete schema.$schema;
  if (schema.format === 'uuid') delete schema.pattern;
  // New fields may come at any time, so a client must not refuse them. To say that others are ignored does not help it either.
  if (
    schema.additionalProperties === false ||
    (typeof schema.additionalProperties === 'object' && Object.keys(schema.additionalProperties).length === 0)
  ) {
    delete schema.additionalProperties;
  }
}

// Free-form data is a custom type for zod and states its schema itself.
const OPTIONS = {
  io: 'input',
  unrepresentable: 'any',
  override: ({ jsonSchema }: { jsonSchema: unknown }) => tidy(jsonSchema as JsonSchema),
} as const;

function componentSchemas(): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(registry, { ...OPTIONS, uri: refTo }) as { schemas: Record<string, JsonSchema> };
  for (const schema of Object.values(schemas)) tidy(schema);
  return schemas;
}

function schemaOf(schema: z.ZodType): JsonSchema {
  const id = registry.get(schema)?.id;
  if (id !== undefined) return { $ref: refTo(id) };
  const json = z.toJSONSchema(schema, OPTIONS) as JsonSchema;
  tidy(json);
  return json;
}

function paths(): OpenApi['paths'] {
  const found: OpenApi['paths'] = {};
  for (const id of Object.keys(ROUTES) as OperationId[]) {
    (found[ROUTES[id].path] ??= {})[ROUTES[id].method] = operation(id);
  }
  return found;
}

function operation(id: OperationId): OpenApiOperation {
  const route: Route = ROUTES[id];
  const example: { body?: unknown; answer: unknown } = EXAMPLES[id];
  return {
    operationId: id,
    summary: route.summary,
    description: route.description,
    parameters: [...parameters(route.params, 'path'), ...parameters(route.query, 'query'), ...headerParameters(route)],
    ...(route.body && {
      requestBody: {
        required: route.body_optional !== true,
        content: { 'application/json': { schema: schemaOf(route.body), example: example.body } },
      },
    }),
    responses: {
      [route.success]: {
        description: 'Done.',
        headers: { ...HEADERS, ...(route.etag && { ETag: ETAG }) },
        content: { 'application/json': { schema: schemaOf(route.output), example: example.answer } },
      },
      ...(isConditional(route) && {
        '304': {
          description: 'The order has not changed since the version named in If-None-Match; without a body.',
          headers: { ...HEADERS, ETag: ETAG },
        },
      }),
      ...errorResponses(errorsOf(route)),
    },
  };
}

const ETAG = { $ref: '#/components/headers/ETag' };
const HEADERS = {
  'X-Request-Id': { $ref: '#/components/headers/RequestId' },
  RateLimit: { $ref: '#/components/headers/RateLimit' },
  'RateLimit-Policy': { $ref: '#/components/headers/RateLimitPolicy' },
};

const isConditional = (route: Route) => route.method === 'get' && route.etag === true;

function headerParameters(route: Route): OpenApiOperation['parameters'] {
  return [
    ...(route.method === 'post' ? [IDEMPOTENCY_KEY] : []),
    ...(changesOrder(route) ? [IF_MATCH] : []),
    ...(isConditional(route) ? [IF_NONE_MATCH] : []),
  ];
}

const IF_MATCH: OpenApiOperation['parameters'][number] = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description: 'The ETag of the order as you know it: when it has changed since, the request is refused with 412.',
  schema: { type: 'string' },
};

const IF_NONE_MATCH: OpenApiOperation['parameters'][number] = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The ETag of the order as you know it: while it has not changed, the answer is 304 without a body.',
  schema: { type: 'string' },
};

const IDEMPOTENCY_KEY: OpenApiOperation['parameters'][number] = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'The same key with the same request answers the first answer again and does nothing twice. 1 to 255 visible ASCII characters.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

function parameters(schema: z.ZodObject | undefined, place: 'path' | 'query'): OpenApiOperation['parameters'] {
  const { properties = {}, required = [] } = schema ? schemaOf(schema) : {};
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: required.includes(name),
    schema: property,
  }));
}

/** OpenAPI has one entry per status, so errors that share one stand together. */
function errorResponses(names: readonly ErrorName[]): OpenApiOperation['responses'] {
  const statuses = [...new Set(names.map((name) => ERRORS[name].status))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => {
      const here = names.filter((name) => ERRORS[name].status === status);
      const examples = here.map(
        (name) =>
          [typeOf(name), { value: { error: { status, type: typeOf(name), value: ERRORS[name].meaning } } }] as const,
      );
      return [
        status,
        {
          description: here.map((name) => `${typeOf(name)}: ${ERRORS[name].meaning}`).join(' '),
          headers: HEADERS,
          content: { 'application/json': { schema: { $ref: refTo('Error') }, examples: Object.fromEntries(examples) } },
        },
      ];
    }),
  );
}
