import type { ComponentChildren, JSX } from 'preact';
import type { JsonSchema, OpenApi, OpenApiOperation } from '../../src/contract/openapi';
import { ORDER_MOVES, TRANSACTION_MOVES, isFinal } from '../../src/domain/transitions';
import { ERRORS, typeOf, type ErrorName } from '../../src/errors';
import { BODY_BYTES_MAX } from '../http/bind';
import { STYLE } from './style';

/** The documentation as one page, from the OpenAPI document and the tables of errors and statuses. */
export function DocsPage({ document }: { document: OpenApi }): JSX.Element {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const schemas = Object.entries(document.components.schemas);
  const { post: webhook } = (document.webhooks['status_changed'] ?? {}) as {
    post?: Pick<OpenApiOperation, 'summary' | 'description' | 'parameters'>;
  };
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{document.info.title}</title>
        <style dangerouslySetInnerHTML={{ __html: STYLE }} />
      </head>
      <body>
        <div class="frame">
          <Contents operations={operations.map(({ operation }) => operation)} schemas={schemas.map(([name]) => name)} />
          <main>
            <Start document={document} />
            <section id="operations">
              <h2>Operations</h2>
              {operations.map((entry) => (
                <Operation key={entry.operation.operationId} {...entry} />
              ))}
            </section>
            <Statuses />
            {webhook && (
              <section id="webhooks">
                <h2>Webhooks</h2>
                <h4>{webhook.summary}</h4>
                <p class="address">
                  <span class="method post">post</span>
                  <code>webhook_url</code>
                </p>
                <p>
                  <Text>{webhook.description}</Text> Check the signature.
                </p>
                <Parameters parameters={webhook.parameters} word="always there" />
                <Fields schema={document.components.schemas['Webhook']} word="always there" />
              </section>
            )}
            <Errors />
            <section id="objects">
              <h2>Objects</h2>
              {schemas.map(([name, schema]) => (
                <article key={name} id={`object-${name}`}>
                  <h3>{name}</h3>
                  <Fields schema={schema} word={/Request$|^Customer$/.test(name) ? 'required' : 'always there'} />
                </article>
              ))}
            </section>
          </main>
        </div>
      </body>
    </html>
  );
}

function Contents({ operations, schemas }: { operations: OpenApiOperation[]; schemas: string[] }) {
  return (
    <nav aria-label="Contents">
      <p>Payments API</p>
      <ul>
        <Entry to="start">Start</Entry>
        <Entry to="operations" below={operations.map(({ operationId, summary }) => [operationId, summary])}>
          Operations
        </Entry>
        <Entry to="statuses">Statuses</Entry>
        <Entry to="webhooks">Webhooks</Entry>
        <Entry to="errors">Errors</Entry>
        <Entry to="objects" below={schemas.map((name) => [`object-${name}`, name])}>
          Objects
        </Entry>
        <li>
          <a href="/docs/openapi.json">openapi.json</a>
        </li>
      </ul>
    </nav>
  );
}

function Entry({ to, below = [], children }: { to: string; below?: [string, string][]; children: ComponentChildren }) {
  return (
    <li>
      <a href={`#${to}`}>{children}</a>
      {below.length > 0 && (
        <ul>
          {below.map(([id, text]) => (
            <li key={id}>
              <a href={`#${id}`}>{text}</a>
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

function Start({ document }: { document: OpenApi }) {
  return (
    <section id="start">
      <h1>{document.info.title}</h1>
      <p>
        <Text>{document.info.description}</Text>
      </p>
      <h4>Authentication</h4>
      <p>
        Every request carries the API key of your project: Basic authentication, the key as username, an empty password.
        Keep the key on your server.
      </p>
      <Code>{'curl -u "$API_KEY:" "$API_URL/v1/merchants/self/projects/self/"'}</Code>
      <h4>Requests and answers</h4>
      <p>
        Bodies are JSON, at most {BODY_BYTES_MAX / 1024} KiB. Fields that are not known are ignored; fields that are
        absent are left out of answers, never <code>null</code>. Paths answer with and without the slash at the end.
        Quote the header <code>X-Request-Id</code> of an answer when you ask about it.
      </p>
      <p>
        Amounts are whole numbers of the smallest unit of the currency: <code>2500</code> is 25.00 EUR and 2500 JPY.
        Durations are ISO 8601, such as <code>PT30M</code> or <code>P7D</code>, without years and months.
      </p>
      <p>
        A POST may carry <code>Idempotency-Key</code>: sent again with the same key, it answers the same and does
        nothing twice.
      </p>
      <p>
        Never send a card number: it is refused. Cards are entered on the hosted page, and known to you by their token.
      </p>
    </section>
  );
}

function Operation({ path, method, operation }: { path: string; method: string; operation: OpenApiOperation }) {
  const request = operation.requestBody?.content['application/json'];
  const answers = Object.entries(operation.responses);
  const [success, errors] = [
    answers.filter(([status]) => status < '400'),
    answers.filter(([status]) => status >= '400'),
  ];
  return (
    <article id={operation.operationId}>
      <h3>{operation.summary}</h3>
      <p class="address">
        <span class={`method ${method}`}>{method}</span>
        <code>{path}</code>
      </p>
      <p>
        <Text>{operation.description}</Text>
      </p>
      <h4>Request</h4>
      <Code>{curl({ path, method, body: request?.example })}</Code>
      {operation.parameters.length > 0 && <Parameters parameters={operation.parameters} word="required" />}
      {request && (
        <details>
          <summary>Fields of the body</summary>
          <FieldsOf schema={request.schema} word="required" />
        </details>
      )}
      {success.map(([status, { description, content }]) => (
        <div key={status}>
          <h4>Answer {status}</h4>
          {content === undefined ? (
            <p>{description}</p>
          ) : (
            <>
              <Code>{JSON.stringify(content['application/json'].example, null, 2)}</Code>
              <FieldsOf schema={content['application/json'].schema} word="always there" />
            </>
          )}
        </div>
      ))}
      <details>
        <summary>Errors</summary>
        <ul class="fields">
          {errors.flatMap(([status, { content }]) =>
            Object.keys(content?.['application/json'].examples ?? {}).map((type) => (
              <li key={status + type}>
                <span class="status">{status}</span>
                <a href={`#error-${type}-${status}`}>
                  <code>{type}</code>
                </a>
              </li>
            )),
          )}
        </ul>
      </details>
    </article>
  );
}

function curl({ path, method, body }: { path: string; method: string; body: unknown }): string {
  const address = `"$API_URL${path.replace(/\{(\w+)\}/g, (_all, name: string) => `$${name.toUpperCase()}`)}"`;
  const verb = method === 'get' || body !== undefined ? '' : ` -X ${method.toUpperCase()}`;
  const data =
    body === undefined
      ? ''
      : ` \\\n  -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(body, null, 2).replaceAll("'", "'\\''")}'`;
  return `curl -u "$API_KEY:"${verb} ${address}${data}`;
}

function Parameters({ parameters, word }: { parameters: OpenApiOperation['parameters']; word: Word }) {
  return (
    <ul class="fields">
      {parameters.map(({ name, in: place, required, description, schema }) => (
        <Field
          key={name}
          name={name}
          schema={{ ...schema, ...(description !== undefined && { description }) }}
          required={required}
          word={word}
          place={place}
        />
      ))}
    </ul>
  );
}

/** A link to a named object, or the fields of a schema without a name. */
function FieldsOf({ schema, word }: { schema: JsonSchema; word: Word }) {
  const name = nameOf(schema);
  return name === undefined ? (
    <Fields schema={schema} word={word} />
  ) : (
    <p>
      An object <a href={`#object-${name}`}>{name}</a>.
    </p>
  );
}

/** How a required field is marked: in an answer nothing is required, it is always there. */
type Word = 'required' | 'always there';

function Fields({ schema, word }: { schema: JsonSchema | undefined; word: Word }) {
  return (
    <ul class="fields">
      {Object.entries(schema?.properties ?? {}).map(([name, property]) => (
        <Field
          key={name}
          name={name}
          schema={property}
          required={schema?.required?.includes(name) === true}
          word={word}
        />
      ))}
    </ul>
  );
}

function Field({
  name,
  schema,
  required,
  word,
  place,
}: {
  name: string;
  schema: JsonSchema;
  required: boolean;
  word: Word;
  place?: string;
}) {
  const inner = schema.properties ? schema : schema.items?.properties ? schema.items : undefined;
  return (
    <li>
      <code class="name">{name}</code>
      <span class="type">
        <Type schema={schema} />
        {place !== undefined && `, in the ${place}`}
      </span>
      {required && <span class="always">{word}</span>}
      {schema.description !== undefined && (
        <p>
          <Text>{schema.description}</Text>
        </p>
      )}
      {schema.enum && (
        <p>
          One of <Text>{schema.enum.map((value) => `\`${value}\``).join(', ')}</Text>.
        </p>
      )}
      {inner && <Fields schema={inner} word={word} />}
    </li>
  );
}

function Type({ schema }: { schema: JsonSchema }) {
  const name = nameOf(schema);
  if (name !== undefined) return <a href={`#object-${name}`}>{name}</a>;
  if (schema.items) {
    return (
      <>
        array of <Type schema={schema.items} />
      </>
    );
  }
  if (schema.const !== undefined) return <code>{schema.const}</code>;
  return (
    <>{[schema.type, schema.format, limits(schema)].filter((part) => part !== undefined && part !== '').join(', ')}</>
  );
}

function limits({ minLength, maxLength, type, minimum }: JsonSchema): string {
  if (minLength !== undefined && maxLength !== undefined) return `${minLength} to ${maxLength} characters`;
  if (maxLength !== undefined) return `at most ${maxLength} characters`;
  return type === 'integer' && minimum !== undefined ? `${minimum} or more` : '';
}

function nameOf({ $ref }: JsonSchema): string | undefined {
  return $ref?.split('/').at(-1);
}

function Statuses() {
  return (
    <section id="statuses">
      <h2>Statuses</h2>
      <p>
        A payment succeeded when the order is <code>completed</code>, its transaction <code>accepted</code> and the
        response code <code>00</code>. Retry only after the transaction is <code>error</code>.
      </p>
      <h4>Order</h4>
      <Moves moves={ORDER_MOVES} />
      <h4>Transaction</h4>
      <Moves moves={TRANSACTION_MOVES} />
    </section>
  );
}

function Moves<S extends string>({ moves }: { moves: { readonly [From in S]: readonly S[] } }) {
  return (
    <ul class="fields">
      {(Object.keys(moves) as S[]).map((status) => (
        <li key={status}>
          <code class="name">{status}</code>
          <span class="type">{isFinal(moves, status) ? 'final' : `may become ${moves[status].join(', ')}`}</span>
        </li>
      ))}
    </ul>
  );
}

function Errors() {
  const names = (Object.keys(ERRORS) as ErrorName[]).sort((a, b) => ERRORS[a].status - ERRORS[b].status);
  return (
    <section id="errors">
      <h2>Errors</h2>
      <p>
        An error is the only answer with a field <code>error</code>. A declined card is none: it is answered with 200.{' '}
        <code>TransactionAlreadyStarted</code> comes from the hosted page alone, for a client that prefers JSON and
        sends the form of <code>/pay/{'{order_id}'}/</code> again or too late.
      </p>
      <Code>
        {JSON.stringify(
          {
            error: {
              status: 400,
              type: 'ValidationError',
              value: 'amount: This field is required.',
              property_path: 'amount',
              property_description: 'This field is required.',
            },
          },
          null,
          2,
        )}
      </Code>
      <ul class="fields">
        {names.map((name) => (
          <li key={name} id={`error-${typeOf(name)}-${ERRORS[name].status}`}>
            <span class="status">{ERRORS[name].status}</span>
            <code class="name">{typeOf(name)}</code>
            <span class="type">{ERRORS[name].meaning}</span>
            <p>{ERRORS[name].remedy}</p>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Scrolls sideways in a narrow window, so it must be reachable by keyboard. */
function Code({ children }: { children: ComponentChildren }) {
  return (
    <pre tabIndex={0}>
      <code>{children}</code>
    </pre>
  );
}

/** Text in which `…` is code. */
function Text({ children }: { children: string }) {
  return <>{children.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>;
}
