import { Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { TOKEN_PATH, TOKEN_SCOPE } from '../../src/contract/manage/manage-api';
import { readVariables } from '../../src/stack/launch';
import { FAILURE_CONVERTER } from '../../src/temporal/connect';
import { EncryptingCodec } from '../../src/temporal/payload-codec';
import { Merchant } from '../../test/support/merchant';
import { payingTransactionId } from '../../test/support/merchant-payments';
import { runAdmin } from '../../test/support/admin';
import { callSimulator, postControl, type RunningStack } from '../../test/support/stack';
import { temporalOf } from '../../test/support/temporal-client';
import { orderWorkflowId, setOutcomeUpdate } from '../../workflows/messages';
import { withField } from './api-doors';
import type { Door } from './door';

/** Doors of the bearer-token host and of the command line. */
export function operatorDoors(
  stack: RunningStack,
  { token, project_id, merchant_id, delivery_id, key_id }: Managed,
): Door[] {
  const call = (method: string, path: string, body?: object, authorization = `Bearer ${token}`) =>
    fetch(stack.manage_url + path, {
      method,
      redirect: 'manual',
      headers: { authorization, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const inBody = (name: string, method: string, path: string, body: object, fields: string[]): Door[] =>
    fields.map((field) => ({
      name: `${name}: ${field}`,
      kind: 'refused',
      send: (_card, written) =>
        call(
          method,
          path,
          withField(
            body,
            field,
            field.endsWith('_url') ? `https://shop.example/${encodeURIComponent(written)}` : written,
          ),
        ),
    }));
  const project = { name: 'A project', is_test: true };
  const form = {
    grant_type: 'client_credentials',
    client_id: stack.operator_client_id,
    client_secret: 'x',
    scope: TOKEN_SCOPE,
  };
  const command = (name: string, args: (written: string) => string[]): Door => ({
    name: `command ${name}`,
    kind: 'other',
    send: async (_card, written) => (await runAdmin(args(written), { data_dir: stack.data_dir })).text,
  });
  return [
    ...inBody('new merchant', 'POST', '/v1/merchants/', { name: 'A', country: 'NL', default_currency: 'EUR' }, [
      'name',
      'country',
      'default_currency',
      'x',
    ]),
    ...inBody('change of a merchant', 'PUT', `/v1/merchants/${merchant_id}/`, {}, ['name', 'x']),
    ...inBody('new project', 'POST', `/v1/merchants/${merchant_id}/projects/`, project, [
      'name',
      'webhook_url',
      'currencies.0',
      'payment_methods.0',
      'expiration_period',
      'x',
    ]),
    ...inBody('change of a project', 'PUT', `/v1/projects/${project_id}/`, {}, ['name', 'webhook_url', 'status', 'x']),
    ...inBody('new client', 'POST', '/v1/clients/', { name: 'A', role: 'operator' }, [
      'name',
      'role',
      'merchant_id',
      'x',
    ]),
    ...inBody('roll of a key', 'POST', `/v1/api-keys/${key_id}/roll/`, {}, ['overlap', 'x']),
    ...['cursor', 'actor', 'object', 'since', 'x'].map((name): Door => ({
      name: `query of the audit trail: ${name}`,
      kind: 'refused',
      send: (_card, written) => call('GET', `/v1/audit-trail/?${name}=${encodeURIComponent(written)}`),
    })),
    ...['/v1/merchants/', '/v1/webhook-deliveries/', '/v1/api-keys/', '/'].map((path): Door => ({
      name: `path ${path} of the bearer-token host`,
      kind: 'refused',
      send: (_card, written) => call('GET', `${path}${encodeURIComponent(written)}/`),
    })),
    {
      name: 'bearer token',
      kind: 'refused',
      send: ({ number }) => call('GET', '/v1/merchants/', undefined, `Bearer ${number}`),
    },
    ...Object.keys(form).map((name): Door => ({
      name: `token endpoint: ${name}`,
      kind: 'refused',
      send: ({ number }) =>
        fetch(stack.manage_url + TOKEN_PATH, {
          method: 'POST',
          body: new URLSearchParams({ ...form, [name]: number }),
        }),
    })),
    command('merchant create', (written) => [
      'merchant',
      'create',
      '--name',
      written,
      '--country',
      'NL',
      '--default-currency',
      'EUR',
    ]),
    command('project update', (written) => [
      'project',
      'update',
      project_id,
      '--webhook-url',
      `https://shop.example/${written}`,
    ]),
    command('key roll', (written) => ['key', 'roll', written, '--overlap', written]),
    command('client create, as JSON', (written) => [
      '--json',
      'client',
      'create',
      '--name',
      written,
      '--role',
      'operator',
    ]),
    command('delivery show', (written) => ['delivery', 'show', written]),
    command('delivery pause', (written) => ['delivery', 'pause', `${delivery_id}${written}`]),
    command('audit list', (written) => ['audit', 'list', '--object', written]),
    command('outcome set', (written) => [
      'outcome',
      'set',
      project_id,
      '--outcome',
      'approved',
      '--reason',
      `card ${written}`,
    ]),
  ];
}

/** Objects of the bearer-token host. */
export interface Managed {
  token: string;
  project_id: string;
  merchant_id: string;
  delivery_id: string;
  key_id: string;
  api_key: string;
}

const { Payloads } = temporal.api.common.v1;

/** An order whose outcome is open, so that an operator may set it by hand. */
export async function orderWithoutOutcome(merchant: Merchant): Promise<{ id: string; transaction_id: string }> {
  const order = await merchant.paidOrder('processing_approved');
  await merchant.addFault({ kind: 'outage', operation: 'ask', order_id: order.id });
  return { id: order.id, transaction_id: payingTransactionId(order) };
}

/** The door of an operator in the Web UI: arguments of updates, which the codec server encrypts. */
export function webUiDoor(
  stack: RunningStack,
  order: { id: string; transaction_id: string },
): { door: Door; close: () => Promise<void> } {
  const { CODEC_HOST, CODEC_PORT } = readVariables(stack.data_dir);
  const operator = temporalOf(stack);
  const codec = new EncryptingCodec(stack.payload_keys);
  const encode = async (payloads: Payload[]) => {
    const body = JSON.stringify(Payloads.toObject(Payloads.create({ payloads }), { bytes: String }));
    const answer = await fetch(`http://${CODEC_HOST}:${CODEC_PORT}/encode`, {
      method: 'POST',
      headers: {
        origin: new URL(stack.temporal_ui_url!).origin,
        'content-type': 'application/json',
        'x-namespace': stack.temporal_namespace,
      },
      body,
    });
    if (!answer.ok) throw new Error(`the codec server answers ${answer.status} ${await answer.text()}`);
    return (Payloads.fromObject((await answer.json()) as object).payloads ?? []) as Payload[];
  };
  const client = new Client({
    connection: operator.connection,
    namespace: operator.options.namespace,
    dataConverter: {
      failureConverterPath: FAILURE_CONVERTER,
      payloadCodecs: [{ encode, decode: (payloads, context) => codec.decode(payloads, context) }],
    },
  });
  return {
    door: {
      name: 'update of the Web UI',
      kind: 'other',
      send: async (_card, written) => {
        const input = { transaction_id: order.transaction_id, outcome: 'approved', reason: `the card is ${written}` };
        const handle = client.workflow.getHandle(orderWorkflowId(order.id));
        return await handle.executeUpdate(setOutcomeUpdate, { args: [input as never] }).then(
          () => 'done',
          (error: unknown) => `${String(error)} ${String((error as { cause?: unknown }).cause)}`,
        );
      },
    },
    close: () => operator.connection.close(),
  };
}

/** Doors of the other companies: what the processor and receivers of webhooks answer, and the simulator's own API. */
export function outsideDoors(stack: RunningStack, receiver_url: string): Door[] {
  const merchant = new Merchant(stack);
  /** An order whose processor answers one call with these fields. */
  const fault = async (operation: 'sale' | 'vault', answer: Record<string, unknown>) => {
    const transactions = [await merchant.cardTransaction('approved')];
    await merchant.addFault({ kind: 'altered', operation, times: 1, answer });
    const { status, body } = await merchant.send('POST', '/v1/orders/', {
      body: { currency: 'EUR', amount: 1_250, transactions },
    });
    return `${status} ${JSON.stringify(body)}`;
  };
  const simulator = (path: string, init: RequestInit = {}) =>
    fetch(new URL(path, stack.simulator_url), { redirect: 'manual', ...init });
  const asProcessor = (path: string, body: object, headers = {}) =>
    simulator(path, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.processor_key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  return [
    {
      name: "processor's text of an outcome",
      kind: 'other',
      send: (_card, written) => fault('sale', { response_code_description: `Card ${written} approved` }),
    },
    {
      name: "processor's code of an outcome",
      kind: 'other',
      send: ({ number }) => fault('sale', { response_code: number }),
    },
    {
      name: "processor's masked number",
      kind: 'other',
      send: ({ number }) => fault('vault', { truncated_pan: number }),
    },
    {
      name: "processor's name of the cardholder",
      kind: 'other',
      send: (_card, written) => fault('vault', { cardholder_name: written }),
    },
    { name: "processor's brand", kind: 'other', send: (_card, written) => fault('vault', { brand: written }) },
    {
      name: "processor's challenge",
      kind: 'other',
      send: ({ number }) => fault('sale', { result: 'challenge', challenge_url: `http://127.0.0.1:1/${number}` }),
    },
    {
      name: 'receiver of a webhook',
      kind: 'other',
      send: async ({ number }) =>
        JSON.stringify(
          await merchant.paidOrder('approved', { webhook_url: `${receiver_url}?as=${number.slice(0, 6)}` }),
        ),
    },
    {
      name: 'simulator: an operation',
      kind: 'refused',
      send: ({ number }) =>
        asProcessor('/v1/operations/', { vault_token: number, operation: number }, { 'idempotency-key': number }),
    },
    {
      name: 'simulator: a question',
      kind: 'refused',
      send: ({ number }) =>
        simulator(`/v1/operations/${number}/`, { headers: { authorization: `Bearer ${stack.processor_key}` } }),
    },
    {
      name: 'simulator: its control API',
      kind: 'other',
      send: ({ number }) =>
        callSimulator(stack, '/control/faults/', { method: 'DELETE' }).then(() =>
          postControl(stack, 'notifications', { idempotency_key: number }).catch(String),
        ),
    },
    {
      name: 'simulator: the challenge page',
      kind: 'other',
      send: ({ number }) => simulator(`/challenge/${number}/?number=${number}`),
    },
    {
      name: 'simulator: its key',
      kind: 'refused',
      send: ({ number }) => simulator('/v1/settlements/', { headers: { authorization: `Bearer ${number}` } }),
    },
  ];
}
