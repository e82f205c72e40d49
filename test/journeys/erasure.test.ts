import { randomBytes } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { WithStartWorkflowOperation } from '@temporalio/client';
import { v7 as uuidv7 } from 'uuid';
import { KINDS, startOptions } from '../../src/temporal/kinds';
import { EncryptingCodec } from '../../src/temporal/payload-codec';
import { FOLLOW_UP_WORKFLOW, ORDER_WORKFLOW, createOrderUpdate } from '../../workflows/messages';
import { CARD, Client } from '../support/customer';
import { recordRows } from '../support/database';
import { CARDS, aLateRequest, aRequest, anOrder } from '../support/domain';
import { newIdempotencyKey, statusesOf } from '../support/merchant';
import { capturePart, createAuthorization, part, payingTransactionId, refund } from '../support/merchant-payments';
import { answerOfAdmin } from '../support/admin';
import { createTestProject, type TestProject } from '../support/operator';
import { setUp } from '../support/set-up';
import { stack } from '../support/stack';
import { payloadsIn, temporalOf } from '../support/temporal-client';
import { until } from '../support/waits';

/**
 * A customer is erased (rules 29): a word that stands in every field of theirs is nowhere afterwards. Of letters only:
 * a cardholder's name with six digits in a row is refused.
 */
const WORD = `zora${randomBytes(6)
  .toString('hex')
  .replaceAll(/\d/g, (digit) => 'ghijklmnop'.charAt(Number(digit)))}`;
const EMAIL = `${WORD}@shop.example`;
const CUSTOMER = { merchant_customer_id: WORD, email_address: EMAIL, first_name: WORD, last_name: WORD, address: WORD };
const PERSONAL = { customer: CUSTOMER, extra: { note: WORD }, order_lines: [{ name: WORD }], description: WORD };

let project: TestProject;
const temporal = setUp(async () => {
  const client = temporalOf();
  return { client, close: () => client.connection.close() };
});
beforeAll(async () => {
  project = await createTestProject();
});
jest.setTimeout(120_000);

/** The tables of the record in which the word stands. */
async function tablesWithWord(): Promise<string[]> {
  const tables = await recordRows<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public'`,
  );
  const found = tables.map(
    ({ name }) => `select '${name}' as name where exists (select from ${name} t where t::text ilike '%${WORD}%')`,
  );
  return (await recordRows<{ name: string }>(found.join(' union all '))).map(({ name }) => name).toSorted();
}

/** The workflows of the project in whose histories the word stands. */
async function workflowsWithWord(): Promise<string[]> {
  const codec = new EncryptingCodec(stack().payload_keys);
  const found = new Set<string>();
  const { workflow } = temporal.client;
  for await (const { workflowId, runId } of workflow.list({ query: `ProjectId = '${project.id}'` })) {
    const history = await workflow
      .getHandle(workflowId, runId)
      .fetchHistory()
      .catch(() => undefined);
    const texts = (await codec.decode(payloadsIn(history))).map(({ data }) => Buffer.from(data ?? []).toString());
    if (texts.some((text) => text.includes(WORD))) found.add(workflowId);
  }
  return [...found].toSorted();
}

const foundBySearch = async () => {
  const body = { query: WORD };
  const answer = await project.merchant.send<{ orders?: unknown[] }>('POST', '/v1/search/orders/', { body });
  return JSON.stringify(answer.body).split(WORD).length - 1;
};
const totals = async () => {
  const day = new Date().toISOString().slice(0, 10);
  return (await project.merchant.send('GET', `/v1/reports/totals/?day=${day}`)).body;
};
const payOnPage = async (id: string) => {
  const customer = new Client();
  const form = { ...CARD, cardholder_name: WORD, ...(await customer.openPage({ id })) };
  return (await customer.postForm(`/pay/${id}/`, { ...form, number: CARDS.approved.number })).status;
};
/** A refund that the API sent on, and its workflow refused; its id. */
async function refusedRefund({ id: original_order_id }: { id: string }): Promise<string> {
  const original_transaction_id = payingTransactionId(await project.merchant.getOrder(original_order_id));
  const input = {
    ...({ id: uuidv7(), kind: 'refund', requested_by: 'merchant', request: aRequest(), amount: 2_000 } as const),
    ...{ description: WORD, project_id: project.id, original_order_id, original_transaction_id },
  };
  expect(await temporal.client.workflow.execute(FOLLOW_UP_WORKFLOW, startOptions(KINDS.follow_up, input))).toBe(
    'refused',
  );
  return input.id;
}
/** An order that came too late to be created; its id. */
async function refusedCreation(): Promise<string> {
  const order = anOrder({ project_id: project.id, ...PERSONAL });
  const input = { request: aLateRequest(), order, period: 60_000, is_test: true };
  const creation = temporal.client.workflow.executeUpdateWithStart(createOrderUpdate, {
    args: [input],
    startWorkflowOperation: new WithStartWorkflowOperation(ORDER_WORKFLOW, {
      ...startOptions(KINDS.order, { order_id: order.id, project_id: project.id }),
      workflowIdConflictPolicy: 'FAIL',
    }),
  });
  await expect(creation).rejects.toThrow();
  return order.id;
}
interface Erasure {
  id: string;
  status: string;
  orders: number;
}
const erase = async (...named: string[]) => {
  const { id } = await answerOfAdmin<Erasure>(['customer', 'erase', '--project-id', project.id, ...named]);
  return await until('the erasure is completed', async () => {
    const erasure = await answerOfAdmin<Erasure>(['customer', 'erasure', id]);
    return erasure.status === 'completed' && erasure;
  });
};

test('rules 29.3, 29.4, 29.5: nothing of an erased customer stays; money, ids and open orders do', async () => {
  const { merchant } = project;
  const key = {
    headers: { 'idempotency-key': newIdempotencyKey() },
    body: { currency: 'EUR', amount: 1_250, ...PERSONAL },
  };
  const created = await merchant.send<{ id: string }>('POST', '/v1/orders/', key);
  const paid = created.body;
  expect(await payOnPage(paid.id)).toBe(200);
  const refunded = await refund(merchant, paid, { amount: 100, description: WORD, extra: { note: WORD } });
  const held = await createAuthorization(merchant, PERSONAL);
  const open = await merchant.createOrder(PERSONAL);
  const other = await merchant.createOrder({
    ...PERSONAL,
    customer: { merchant_customer_id: 'another' },
    description: 'Kept',
  });
  await until('all is in the index', async () => (await foundBySearch()) > 4);
  expect(await tablesWithWord()).toEqual(expect.arrayContaining(['idempotency_keys', 'orders', 'transactions']));
  const refused = [await refusedRefund(paid), await refusedCreation()];
  const ids = [paid.id, refunded.body.id, held.id, open.id, ...refused].map((id) => `order:${id}`).toSorted();
  await until('Temporal lists the workflows of all', async () => {
    const found = await workflowsWithWord();
    return ids.every((id) => found.includes(id));
  });
  const before = await totals();

  const { orders } = await erase('--email-address', EMAIL.toUpperCase());
  expect(orders).toBe(3);
  expect((await erase('--order-id', other.id)).orders).toBe(1);
  expect(await tablesWithWord()).toEqual([]);
  expect(await workflowsWithWord()).toEqual([]);
  await until('the index has no word', async () => (await foundBySearch()) === 0);
  const logs = readdirSync(path.join(stack().data_dir, 'logs')).filter((name) =>
    readFileSync(path.join(stack().data_dir, 'logs', name), 'utf8').includes(WORD),
  );
  expect(logs).toEqual([]);
  for (const url of Object.values(stack().metrics_urls)) expect(await (await fetch(url)).text()).not.toContain(WORD);

  expect(await totals()).toEqual(before);
  const after = await merchant.getOrder(paid.id);
  expect([statusesOf(after), after.amount, after.refunded_amount]).toEqual(['completed: accepted', 1_250, 100]);
  expect(after.transactions![0]!.payment_method_details).toMatchObject({ truncated_pan: '411111******1111' });
  const repeated = await merchant.send<{ id: string; customer?: object }>('POST', '/v1/orders/', key);
  expect([repeated.status, repeated.body.id, repeated.body.customer]).toEqual([created.status, paid.id, undefined]);
  expect((await capturePart(merchant, held, part(300))).status).toBe(200);
  expect(await payOnPage(open.id)).toBe(200);
  expect(statusesOf(await merchant.getOrder(open.id))).toBe('completed: accepted');
  const trail = await answerOfAdmin<{ items: { action: string }[] }>(['audit', 'list', '--object', 'erasure']);
  expect(trail.items.map(({ action }) => action)).toContain('erasure.start');
});

test('rules 29.3: a customer is named by one field, and an order by its project', async () => {
  const refused = (...named: string[]) =>
    answerOfAdmin<{ error: string }>(['customer', 'erase', '--project-id', project.id, ...named]);
  expect((await refused()).error).toBe('ValidationError');
  expect((await refused('--email-address', 'a@b.example', '--merchant-customer-id', 'C-1')).error).toBe(
    'ValidationError',
  );
  const elsewhere = await createTestProject();
  const { id } = await elsewhere.merchant.createOrder();
  expect((await refused('--order-id', id)).error).toBe('NotFound');
});
