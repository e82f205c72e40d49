import { z } from 'zod';
import { ERRORS, errorTypeOf, type ErrorName } from '../errors';
import { changesObject, errorsOf, successOf, takesIdempotencyKey, type Route, type RouteSet } from './routes';

/** The parts of JSON Schema that are read here and in tests. */
export interface JsonSchema {
  $ref?: string;
  type?: string;
  format?: string;
  enum?: string[];
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: JsonSchema | boolean;
}

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: JsonSchema;
}

interface OpenApiOperation {
  operationId: string;
  tags?: string[];
  summary: string;
  description: string;
  parameters: Parameter[];
  requestBody?: { required: boolean; content: JsonContent };
  responses: Record<string, { description: string; headers: Record<string, unknown>; content?: JsonContent }>;
}

type JsonContent = Record<
  'application/json',
  { schema: JsonSchema; example?: unknown; examples?: Record<string, { value: unknown }> }
>;

export type OpenApi = ReturnType<typeof openApi>;

const refTo = (id: string) => `#/components/schemas/${id}`;

/** An API as an OpenAPI 3.1 document, computed from the routes and schemas that also parse the requests. */
export function openApi({ name, description, security, routes, tags = [], schemas, examples, webhooks }: RouteSet) {
  const named = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) named.add(schema, { id });
  const paths: Record<string, Partial<Record<Route['method'], OpenApiOperation>>> = {};
  for (const [id, route] of Object.entries(routes)) {
    (paths[route.path] ??= {})[route.method] = {
      ...operation(id, route, examples[id], (schema) => schemaOf(schema, named)),
      tags: tags.filter((tag) => tag.routes[id] === route).map((tag) => tag.name),
    };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: name,
      version: '1',
      description,
      contact: { name: 'The payments authors' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ [security.name]: security.token ? [security.token.scope] : [] }],
    tags: tags.map(({ name, description }) => ({ name, description })),
    paths,
    webhooks,
    components: {
      schemas: componentSchemas(named),
      securitySchemes: {
        [security.name]: securityScheme(security),
      },
      headers: {
        ...(Object.values(routes).some((route) => route.etag) && {
          ETag: {
            description: 'Version of the order or payment link, for If-Match and If-None-Match.',
            schema: { type: 'string' },
          },
        }),
        ...(Object.values(routes).some((route) => route.waits) && {
          PreferenceApplied: {
            description: 'The preference of the header Prefer that was applied, for example `wait=60`.',
            schema: { type: 'string' },
          },
        }),
        RateLimit: {
          description:
            'What the project, or on the bearer-token host the client, has left of its quota (`r`), and the seconds until all of it is there again (`t`).',
          schema: { type: 'string' },
        },
        RateLimitPolicy: {
          description: 'Requests (`q`) that may come within a window (`w`, seconds).',
          schema: { type: 'string' },
        },
        RetryAfter: {
          description:
            'Seconds to wait before the request is sent again. Without it, retrieve or list the objects first.',
          schema: { type: 'integer', minimum: 1 },
        },
        RequestId: {
          description: 'Names the request in the log of the service.',
          schema: { type: 'string', format: 'uuid' },
        },
      },
    },
  };
}

function securityScheme({ scheme, description, token }: RouteSet['security']): object {
  if (token === undefined) return { type: 'http', scheme, description };
  const flow = {
    tokenUrl: token.path,
    scopes: { [token.scope]: 'Every operation that the role of the client may call.' },
  };
  return { type: 'oauth2', description, flows: { clientCredentials: flow } };
}

/** zod marks each schema as a document of its own, and repeats in a pattern what the format says. */
function tidy(schema: JsonSchema & { $id?: string; $schema?: string }): void {
  delete schema.$id;
  delete schema.$schema;
  if (schema.format === 'uuid') delete schema.pattern;
  // Clients must accept new fields in answers, so additional properties are not forbidden.
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

type Named = z.core.$ZodRegistry<{ id: string }>;

function componentSchemas(named: Named): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(named, { ...OPTIONS, uri: refTo }) as { schemas: Record<string, JsonSchema> };
  for (const schema of Object.values(schemas)) tidy(schema);
  return schemas;
}

function schemaOf(schema: z.ZodType, named: Named): JsonSchema {
  const id = named.get(schema)?.id;
  if (id !== undefined) return { $ref: refTo(id) };
  const json = z.toJSONSchema(schema, OPTIONS) as JsonSchema;
  tidy(json);
  return json;
}

type SchemaOf = (schema: z.ZodType) => JsonSchema;

function operation(
  id: string,
  route: Route,
  example: RouteSet['examples'][string] | undefined,
  schemaOf: SchemaOf,
): OpenApiOperation {
  return {
    operationId: id,
    summary: route.summary,
    description: route.description,
    parameters: [
      ...parameters('path', route.params, schemaOf),
      ...parameters('query', route.query, schemaOf),
      ...headerParameters(route),
    ],
    ...(route.body && {
      requestBody: {
        required: route.body_optional !== true,
        content: { 'application/json': { schema: schemaOf(route.body), example: example?.body } },
      },
    }),
    responses: {
      [successOf(route)]: {
        description: 'Done.',
        headers: {
          ...HEADERS,
          ...(route.etag && { ETag: ETAG }),
          ...(route.waits && { 'Preference-Applied': PREFERENCE_APPLIED }),
        },
        ...(successOf(route) !== 204 && {
          content: {
            'application/json': { schema: schemaOf(route.output), example: example?.answer },
            ...(route.file && { [route.file]: { schema: { type: 'string' } } }),
          },
        }),
      },
      ...(isConditional(route) && {
        '304': {
          description:
            'The order or payment link has not changed since the version named in If-None-Match; without a body.',
          headers: { ...HEADERS, ETag: ETAG },
        },
      }),
      ...errorResponses(errorsOf(route)),
    },
  };
}

const ETAG = { $ref: '#/components/headers/ETag' };
const PREFERENCE_APPLIED = { $ref: '#/components/headers/PreferenceApplied' };
const RETRY_AFTER = { $ref: '#/components/headers/RetryAfter' };
const HEADERS = {
  'X-Request-Id': { $ref: '#/components/headers/RequestId' },
  RateLimit: { $ref: '#/components/headers/RateLimit' },
  'RateLimit-Policy': { $ref: '#/components/headers/RateLimitPolicy' },
};

const isConditional = (route: Route) => route.method === 'get' && route.etag === true;

function headerParameters(route: Route): Parameter[] {
  return [
    ...(takesIdempotencyKey(route) ? [IDEMPOTENCY_KEY] : []),
    ...(changesObject(route) ? [IF_MATCH] : []),
    ...(isConditional(route) ? [IF_NONE_MATCH] : []),
    ...(route.waits ? [PREFER] : []),
  ];
}

const headerParameter = (name: string, description: string, limits: JsonSchema = {}): Parameter => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string', ...limits },
});

const IF_MATCH = headerParameter(
  'If-Match',
  'The ETag of the order or payment link as you know it: if it has changed since, the request is refused with 412.',
);
const IF_NONE_MATCH = headerParameter(
  'If-None-Match',
  'The ETag of the order or payment link as you know it: if it has not changed since, the answer is 304 without a body.',
);
const PREFER = headerParameter(
  'Prefer',
  '`wait=60` (RFC 7240, 1 to 60 seconds): the longest time to wait for the answer. An order is returned as soon as its status changes, at once if the status is final; a list of events as soon as there is an event. Other preferences are ignored.',
);
const IDEMPOTENCY_KEY = headerParameter(
  'Idempotency-Key',
  'A repeat of the request with the same key returns the first answer again, and nothing is done twice. 1 to 255 visible ASCII characters.',
  { minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
);

function parameters(place: 'path' | 'query', schema: z.ZodObject | undefined, schemaOf: SchemaOf): Parameter[] {
  const { properties = {}, required = [] } = schema ? schemaOf(schema) : {};
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: required.includes(name),
    schema: property,
  }));
}

/** OpenAPI has one entry per status, so errors with the same status are listed together. */
function errorResponses(names: readonly ErrorName[]): OpenApiOperation['responses'] {
  const statuses = [...new Set(names.map((name) => ERRORS[name].status))].sort((a, b) => a - b);
  const responses = statuses.map((status) => {
    const here = names.filter((name) => ERRORS[name].status === status);
    const examples = here.map((name) => {
      const type = errorTypeOf(name);
      return [type, { value: { error: { status, type, value: ERRORS[name].meaning } } }] as const;
    });
    const response = {
      description: here.map((name) => `${errorTypeOf(name)}: ${ERRORS[name].meaning}`).join(' '),
      headers: { ...HEADERS, ...((status === 429 || status === 503) && { 'Retry-After': RETRY_AFTER }) },
      content: { 'application/json': { schema: { $ref: refTo('Error') }, examples: Object.fromEntries(examples) } },
    };
    return [status, response] as const;
  });
  return Object.fromEntries(responses);
}
