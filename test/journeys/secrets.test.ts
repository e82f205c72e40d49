import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { WorkflowNotFoundError, isGrpcServiceError } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { EncryptingCodec } from '../../src/temporal/payload-codec';
import { holdsCardNumber } from '../../src/domain/card';
import { cancelOrderUpdate, orderWorkflowId } from '../../workflows/messages';
import { CARD, Client } from '../support/customer';
import { recordRows } from '../support/database';
import { aRequest, CARDS, CUSTOMER } from '../support/domain';
import { Merchant } from '../support/merchant';
import { createAuthorization } from '../support/merchant-payments';
import { stack } from '../support/stack';
import { payloadsIn, withTemporal } from '../support/temporal-client';

/**
 * Card numbers stop at the door, keys are kept as hashes: nothing of either is in the record, in the histories of
 * Temporal or in a log, neither of these payments nor of any that other tests have made on this stack so far.
 */
const place = stack();
const live = new Merchant(place, place.live_api_key);
const merchant = new Merchant();
/** A card of no table, as a customer has one. */
const REAL_CARD = '4242424242424242';
/** What account funding loads money into: a card of no table, and an account. */
const RECEIVERS = { 'card-account': '5105105105105100', iban: 'DE89370400440532013000' };
const SHOWN_RECEIVERS = ['510510******5100', 'DE8937************3000'];

const secretsOf = (key: string) => [key, key.slice(-40), Buffer.from(`${key}:`).toString('base64')];
const KEYS = [...secretsOf(place.test_api_key), ...secretsOf(place.live_api_key), place.processor_key];

beforeAll(async () => {
  const paid = await live.createOrder();
  const customer = new Client();
  await customer.postForm(`/pay/${paid.id}/`, {
    ...CARD,
    number: '4242 4242 4242 4242',
    security_code: '987',
    ...(await customer.openPage(paid)),
  });
  await live.untilStatus(paid.id, 'completed');

  for (const [receiver_account_number_type, receiver_account_number] of Object.entries(RECEIVERS)) {
    const details = { receiver_account_number, receiver_account_number_type };
    await merchant.createOrder({
      customer: CUSTOMER,
      transactions: [{ payment_method: 'credit-card', payment_method_details: details }],
    });
  }

  // What is refused goes through other doors.
  const refused = await merchant.createOrder();
  const form = { ...CARD, ...(await customer.openPage(refused)) };
  await customer.postForm(`/pay/${refused.id}/`, { ...form, number: REAL_CARD, card_expiry: '01 / 20' });
  await customer.postForm(`/pay/${refused.id}/`, { ...form, number: '4242424242424243' });
  await customer.postForm(`/pay/${refused.id}/`, { ...form, number: CARDS.do_not_honor.number });
  await merchant.send('POST', '/v1/orders/', {
    body: { currency: 'EUR', amount: 1, description: REAL_CARD, extra: { [REAL_CARD]: REAL_CARD } },
  });
  await merchant.send('GET', `/v1/orders/${REAL_CARD}/`);
  await merchant.send('POST', '/v1/orders/', {
    body: `{"currency": ${REAL_CARD}`,
    headers: { 'idempotency-key': REAL_CARD },
  });
  // A workflow refuses: its failure is in a history.
  const authorized = await createAuthorization(merchant);
  await withTemporal(place, ({ workflow }) =>
    workflow
      .getHandle(orderWorkflowId(authorized.id))
      .executeUpdate(cancelOrderUpdate, { args: [{ source: 'merchant', request: aRequest() }] }),
  ).catch(() => undefined);
  await new Merchant(place, `${place.test_api_key.slice(0, -1)}x`).send('GET', '/v1/orders/');
});

/** Card numbers and keys in a text, each with what stands around it. */
function found(text: string): string[] {
  const numbers = [...text.matchAll(/(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-])/g)]
    .map(([number]) => number)
    .filter((number) => holdsCardNumber(number));
  const published = Object.values(CARDS)
    .map(({ number }) => number)
    .filter((number) => text.includes(number));
  const others = [...Object.values(RECEIVERS), ...KEYS].filter((secret) => text.includes(secret));
  return [...new Set([...numbers, ...published, ...others])];
}

test('the search finds what it looks for', () => {
  expect(found(`{"a":"${REAL_CARD}"}`)).toEqual([REAL_CARD]);
  expect(found(`x ${CARDS.do_not_honor.number} y`)).toEqual([CARDS.do_not_honor.number]);
  expect(found(`Basic ${Buffer.from(`${place.test_api_key}:`).toString('base64')}`)).toHaveLength(1);
});

/** Every table of a database as text, by its name. */
async function dump(database: string): Promise<Record<string, string>> {
  const tables = await recordRows<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`,
    {},
    { database },
  );
  const dumped: Record<string, string> = {};
  for (const { name } of tables) {
    const text = `select row_to_json(t)::text as line from ${name} t`;
    const lines = await recordRows<{ line: string }>(text, {}, { database });
    dumped[name] = lines.map(({ line }) => line).join('\n');
  }
  return dumped;
}

test.each(['payments', 'simulator'])('rules 12.3, 14.6 and 15.3: the database %s: every table', async (database) => {
  const tables = await dump(database);
  // What may be kept of a card or account is there, so that it was.
  for (const kept of ['424242******4242', ...SHOWN_RECEIVERS]) {
    expect(Object.values(tables).join('\n')).toContain(kept);
  }
  const secrets = Object.entries(tables).flatMap(([name, text]) => found(text).map((secret) => `${name}: ${secret}`));
  expect(secrets).toEqual([]);
});

/** Other tests let Temporal forget what they have made: it is listed a little longer. */
function ifForgotten(error: unknown): undefined {
  if (error instanceof WorkflowNotFoundError || (isGrpcServiceError(error) && error.code === GRPC_NOT_FOUND)) {
    return undefined;
  }
  throw error;
}
const GRPC_NOT_FOUND = 5;

test('rules 12.3, 14.6 and 15.3: the histories of Temporal, as they are kept and as an operator reads them', async () => {
  const codec = new EncryptingCodec(place.payload_keys);
  const History = temporal.api.history.v1.History;
  let workflows = 0;
  let readable = '';
  const leaks: string[] = [];
  const failures: string[] = [];
  await withTemporal(place, async ({ workflow }) => {
    for await (const { workflowId } of workflow.list()) {
      const history = await workflow.getHandle(workflowId).fetchHistory().catch(ifForgotten);
      if (history === undefined) continue;
      const payloads = payloadsIn(history);
      const texts = (await codec.decode(payloads)).map(({ data }) => Buffer.from(data ?? []).toString());
      // Encrypted: nothing of a payload can be read as it is kept.
      for (const [i, payload] of payloads.entries()) {
        if (
          texts[i]!.length > 20 &&
          Buffer.from(payload.data ?? [])
            .toString()
            .includes(texts[i]!)
        ) {
          readable += `${workflowId}: ${texts[i]}\n`;
        }
      }
      const kept = Buffer.from(History.encode(history).finish()).toString('latin1');
      leaks.push(...found(`${kept}\n${texts.join('\n')}`).map((secret) => `${workflowId}: ${secret}`));
      failures.push(...failuresIn(history).map(({ message, stackTrace }) => `${message}${stackTrace}`));
      workflows += 1;
      if (workflows >= 400) break;
    }
  });
  expect(workflows).toBeGreaterThanOrEqual(2);
  expect(leaks).toEqual([]);
  expect([...new Set(failures)]).toEqual(['Encoded failure']);
  expect(readable.split('\n').filter((line) => /order_id|vault_token|amount/.test(line))).toEqual([]);
}, 120_000);

test('rules 12.3, 14.6 and 15.3: the logs of every process', () => {
  const folder = path.join(place.data_dir, 'logs');
  const logs = readdirSync(folder).map((name) => ({ name, text: readFileSync(path.join(folder, name), 'utf8') }));
  expect(logs.map(({ name }) => name)).toEqual(expect.arrayContaining(['api.log', 'worker.log', 'simulator.log']));
  expect(logs.flatMap(({ name, text }) => found(text).map((secret) => `${name}: ${secret}`))).toEqual([]);
});

type Failure = temporal.api.failure.v1.IFailure;

/** Every failure of a history that our code made, with its causes. Those of the server have texts of its own. */
function failuresIn(value: unknown): Failure[] {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return [];
  const inside = Object.values(value).flatMap(failuresIn);
  return 'source' in value && value.source === 'TypeScriptSDK' ? [value as Failure, ...inside] : inside;
}

test('rules 3.9: a report, which is streamed and compressed, writes no warning of Node beside the lines of the log', async () => {
  const merchant = new Merchant();
  await merchant.createOrder();
  const report = await fetch(`${merchant.stack.api_url}/v1/search/orders/?format=csv`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${merchant.api_key}:`).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: '{"query": "*"}',
  });
  expect([report.status, report.headers.get('content-encoding')]).toEqual([200, 'gzip']);
  await report.text();
  const folder = path.join(stack().data_dir, 'logs');
  expect(readFileSync(path.join(folder, 'api.log'), 'utf8')).not.toContain('MaxListenersExceededWarning');
});
