import type { Client as Temporal } from '@temporalio/client';
import { v7 as uuidv7 } from 'uuid';
import { copyRecord, restoreCopy } from '../../proofs/restore/record-copy';
import type { Order } from '../../src/client';
import { FOLLOW_UP_WORKFLOW, TASK_QUEUE, orderWorkflowId } from '../../workflows/messages';
import { CARD, Client } from '../support/customer';
import { recordRows } from '../support/database';
import { CARDS, MINUTE, aRequest } from '../support/domain';
import { Merchant, newIdempotencyKey, statusesOf, type RefusalName } from '../support/merchant';
import { answerIssuer } from '../support/processor';
import {
  capturePart,
  controlSimulator,
  createAuthorization,
  part,
  payingTransactionId,
  refund,
  voidAll,
} from '../support/merchant-payments';
import { answerOfAdmin } from '../support/admin';
import { STOP_LIMITS_MS } from '../../src/config';
import { withDatabase } from '../../src/db/connection';
import { transactionId } from '../../src/ids';
import { idle, OwnStack, type RunningStack } from '../support/stack';
import { inNamespace, temporalOf } from '../support/temporal-client';
import { until } from '../support/waits';

/** The record is restored from a copy that lacks everything of this story (rules 28). */
const own = new OwnStack('restored', () => inNamespace('restored'), idle('manage'));
let stack: RunningStack;
let merchant: Merchant;
let temporal: Temporal;
jest.setTimeout(360_000);

beforeAll(async () => {
  stack = await own.start();
  merchant = new Merchant(stack);
  temporal = temporalOf(stack);
});
afterAll(async () => {
  await temporal.connection.close();
  await own.discard();
});

interface Answered {
  since: string;
  error?: string;
  value?: string;
  rewritten: number;
  open: string[];
}
const admin = (...args: string[]) => answerOfAdmin<Answered>(['restore', ...args], { data_dir: stack.data_dir });
const pay = async (path: string, number: string): Promise<number> => {
  const customer = new Client(stack.api_url);
  const form = { ...CARD, ...(await customer.openPage({ id: '' }, path)), number };
  return (await customer.postForm(path, form)).status;
};
const summary = async (id: string) => {
  const order = await merchant.getOrder(id);
  const related = await Promise.all((order.related_orders ?? []).map((one) => merchant.getOrder(one)));
  return [statusesOf(order), ...related.map((one) => `${one.transactions![0]!.transaction_type} ${one.status}`)].join(
    '; ',
  );
};
const descriptionsOfRelated = async ({ id }: { id: string }) => {
  const { related_orders = [] } = await merchant.getOrder(id);
  return await Promise.all(related_orders.map(async (one) => (await merchant.getOrder(one)).description));
};
/** An order that is charged with a card token, and never reaches the processor. */
async function unsentCharge() {
  const card = await merchant.cardTransaction('approved');
  const { vault_token } = card.payment_method_details;
  await merchant.addFault({ operation: 'sale', vault_token, kind: 'outage' });
  return await merchant.createOrder({ transactions: [card], expiration_period: 'P1D' });
}
/** A refund that never reaches the processor, and its payment. */
async function unsentRefund() {
  const payment = await merchant.paidOrder('approved');
  await merchant.addFault({ operation: 'refund', order_id: payment.id, kind: 'outage' });
  return { payment, order: (await refund(merchant, payment, { amount: 100 })).body };
}
/** The customer pays on the page, and the first attempt never reaches the processor. */
async function payUnsent({ id }: { id: string }): Promise<void> {
  await merchant.addFault({ operation: 'sale', transaction_id: transactionId(id, 1), kind: 'outage' });
  await pay(`/pay/${id}/`, CARDS.approved.number);
}
async function setByHand({ id }: { id: string }, outcome: 'approved' | 'declined'): Promise<void> {
  const transaction_id = payingTransactionId(await merchant.getOrder(id));
  const args = ['outcome', 'set', transaction_id, '--outcome', outcome, '--reason', 'The bank says so.'];
  expect(await answerOfAdmin(args, { data_dir: stack.data_dir })).toMatchObject({ set: 'now' });
}
const cardOf = async ({ id }: { id: string }) =>
  (await merchant.getOrder(id)).transactions!.at(-1)!.payment_method_details;
const operations = async (id: string) =>
  (await merchant.ledger(id)).map(({ operation, amount, result }) => `${operation} ${amount} ${result}`).toSorted();
/** The customer, at the issuer, passes 3-D Secure, or does what the form says. */
async function passChallenge(order: { id: string }, form: Record<string, string> = { code: '0101' }): Promise<void> {
  const challenge = 'select challenge_url from transactions where order_id = :id and challenge_url is not null';
  const { challenge_url } = await until('the customer is at the issuer', async () => {
    const rows = await recordRows<{ challenge_url: string }>(challenge, order, stack);
    return rows[0] ?? false;
  });
  await answerIssuer(challenge_url, form);
}
/** Cancels an order whose customer is at the issuer, and then passes: the payment is given back. */
async function giveBack(order: { id: string }): Promise<void> {
  await merchant.cancelOrder(order.id);
  await passChallenge(order);
  await until('it is given back', async () =>
    (await operations(order.id)).some((one) => /^reversal .* approved$/.test(one)),
  );
}

/**
 * The processor refunds the payment, and charges for a new order, while the record cannot be written, and the database
 * is restored before it can. Their workflows will try again without the record. Returns the refund and the new order.
 */
async function loseDatabaseBeforeOutcomes(payment: { id: string }): Promise<{ id: string; kind: string }[]> {
  const card = await merchant.cardTransaction('approved');
  const { vault_token } = card.payment_method_details;
  const slow = { kind: 'latency', milliseconds: 3_000 } as const;
  await merchant.addFault({ ...slow, operation: 'refund', order_id: payment.id });
  await merchant.addFault({ ...slow, operation: 'sale', vault_token });
  const body = { currency: 'EUR', amount: 1_250, merchant_order_id: 'interrupted', transactions: [card] };
  const too_late = Date.now() + STOP_LIMITS_MS.request;
  const unanswered = [refund(merchant, payment, { amount: 100 }), merchant.send('POST', '/v1/orders/', { body })];
  const begun = `select o.id, o.kind from orders o join transactions t on t.order_id = o.id
    where o.related_order_id = :id or o.merchant_order_id = 'interrupted'`;
  const rows = await until('both have begun', async () => {
    const found = await recordRows<{ id: string; kind: string }>(begun, payment, stack);
    return found.length === 2 && found;
  });
  await withDatabase(stack.postgres_url, async (db) => {
    const trx = await db.transaction();
    await trx.raw('lock table orders, transactions in share row exclusive mode');
    const order = rows.find(({ kind }) => kind === 'payment')!;
    await until('the processor has carried out both', async () => {
      const carried_out = [...(await operations(payment.id)), ...(await operations(order.id))];
      return carried_out.length === 3;
    });
    await until('they may not begin any more', () => Date.now() > too_late);
    await restoreCopy(stack);
    await trx.rollback().catch(() => undefined);
  });
  await Promise.allSettled(unanswered);
  return rows;
}
async function untilRefused(orders: { id: string }[]): Promise<void> {
  for (const { id } of orders) {
    const handle = temporal.workflow.getHandle(orderWorkflowId(id));
    await until('it is refused', async () => (await handle.describe()).status.name === 'COMPLETED');
  }
}

/** A refund whose merchant got no answer, and that no worker has begun. */
async function unansweredRefund(payment: Order): Promise<{ id: string }> {
  const id = uuidv7();
  const input = {
    ...{ id, kind: 'refund', requested_by: 'merchant', request: aRequest(), amount: 50 },
    ...{ project_id: payment.project_id, original_order_id: payment.id },
    original_transaction_id: payingTransactionId(payment),
  };
  const workflowId = orderWorkflowId(id);
  const options = { workflowId, taskQueue: TASK_QUEUE, args: [input], startDelay: '1 hour' } as const;
  await temporal.workflow.start(FOLLOW_UP_WORKFLOW, options);
  return { id };
}

test('rules 28.1, 28.2, 28.3, 28.4, 28.5, 28.6, 29.6: what a backup lacks is written again, nothing is done twice, the rest is for a person', async () => {
  const PERSONAL = { customer: { merchant_customer_id: 'C-1', last_name: 'Lovelace' } };
  const known = await merchant.paidOrder('approved', PERSONAL);
  const interrupted = await merchant.paidOrder('approved');
  // Before the backup: what the processor never gets, and what becomes of it after the backup.
  const on_page = { transactions: [{ payment_method: 'credit-card' as const }], expiration_period: 'P1D' };
  const declined_by_hand = await unsentCharge();
  const given_up = await unsentCharge();
  const refund_by_hand = await unsentRefund();
  const second_try = await merchant.createOrder(on_page);
  await payUnsent(second_try);
  const approved_on_page = await merchant.createOrder(on_page);
  const atIssuer = async () =>
    await merchant.createOrder({ transactions: [await merchant.cardTransaction('challenge')] });
  const paid_at_issuer = await atIssuer();
  const second_card = await merchant.createOrder();
  await pay(`/pay/${second_card.id}/`, CARDS.challenge.number);
  const open = [declined_by_hand, given_up, refund_by_hand.order, second_try, paid_at_issuer, second_card];
  for (const order of open) {
    await until('its outcome is awaited', async () => (await merchant.getOrder(order.id)).status === 'processing');
  }
  const known_at_issuer = await atIssuer();
  const known_late = await atIssuer();
  // Its clock is ahead: what it says is not the time of the backup.
  const ahead = await merchant.createOrder();
  const idempotent = { 'idempotency-key': newIdempotencyKey() };
  await merchant.send('POST', `/v1/orders/${ahead.id}/test-clock/`, { body: { advance: 'P1D' }, headers: idempotent });
  await until('it has ended', async () => (await merchant.getOrder(ahead.id)).status === 'expired');
  // Their time is over before the restore, that of the last one last. Two are paid in time, right after the backup.
  const soon = { expiration_period: 'PT1M' };
  const page = await merchant.createOrder({ transactions: [{ payment_method: 'credit-card' }], ...soon });
  const link_of_two = await merchant.createPaymentLink(soon);
  const linked = new URL(link_of_two.payment_url!).pathname;
  const unused = await merchant.createPaymentLink(soon);
  const unpaid = await merchant.createOrder(soon);
  await copyRecord(stack);
  await own.ready();
  expect(await pay(`/pay/${page.id}/`, CARDS.approved.number)).toBe(200);
  // The first attempt is declined, the second pays.
  await pay(linked, CARDS.do_not_honor.number);
  await pay(linked, CARDS.approved.number);

  const project = (await merchant.getProject()).id;
  const erased = await answerOfAdmin<{ id: string }>(
    ['customer', 'erase', '--project-id', project, '--merchant-customer-id', 'C-1'],
    { data_dir: stack.data_dir },
  );
  await until('the customer is erased', async () => (await merchant.getOrder(known.id)).customer === undefined);

  // The processor is away for a charge until its order has ended: nothing was charged, as the merchant was told.
  const away = await merchant.cardTransaction('approved');
  const { vault_token } = away.payment_method_details;
  const fault = { operation: 'sale', vault_token, kind: 'outage', times: 1_000 } as const;
  await merchant.addFault(fault);
  const failing = await merchant.createOrder({ transactions: [away], expiration_period: 'PT5S' });
  for (const order of [declined_by_hand, refund_by_hand.order, second_try]) await setByHand(order, 'declined');
  await pay(`/pay/${second_try.id}/`, CARDS.approved.number);
  await payUnsent(approved_on_page);
  await setByHand(approved_on_page, 'approved');
  const lost_by_hand = await unsentCharge();
  await setByHand(lost_by_hand, 'approved');
  const lost_refund = await unsentRefund();
  await setByHand(lost_refund.order, 'declined');
  const advance = { body: { advance: 'P2D' }, headers: { 'idempotency-key': newIdempotencyKey() } };
  await merchant.send('POST', `/v1/orders/${given_up.id}/test-clock/`, advance);
  const sale = await merchant.paidOrder('approved');
  const key = newIdempotencyKey();
  const refundOnce = () => refund(merchant, sale, { amount: 100 }, { headers: { 'idempotency-key': key } });
  const refunded = await refundOnce();
  const held = await createAuthorization(merchant);
  await capturePart(merchant, held, part(300));
  const released = await createAuthorization(merchant);
  await voidAll(merchant, released);
  const cancelled = await merchant.createOrder({ transactions: [{ payment_method: 'credit-card' }] });
  await merchant.cancelOrder(cancelled.id);
  const declined = await merchant.createOrder({ transactions: [{ payment_method: 'credit-card' }] });
  for (const number of [CARDS.do_not_honor.number, CARDS.approved.number]) await pay(`/pay/${declined.id}/`, number);
  const link = await merchant.createPaymentLink({});
  await pay(new URL(link.payment_url!).pathname, CARDS.approved.number);
  // Customers who were at the issuer at the time of the backup: one pays there, one with another card.
  await passChallenge(paid_at_issuer);
  await until('it is paid', async () => (await summary(paid_at_issuer.id)) === 'completed: accepted');
  await refund(merchant, paid_at_issuer, { amount: 100 });
  await passChallenge(second_card, { action: 'cancel' });
  await until('it may be paid again', async () => (await summary(second_card.id)) === 'processing: error');
  await pay(`/pay/${second_card.id}/`, CARDS.approved.number);
  const by_token = await atIssuer();
  await merchant.cancelOrder(known_late.id);
  const by_page = await merchant.createOrder();
  await pay(`/pay/${by_page.id}/`, CARDS.challenge.number);
  for (const order of [by_token, by_page, known_at_issuer]) await giveBack(order);
  const unknown = await merchant.paidOrder('approved');
  const disputed = await merchant.paidOrder('approved');
  const isFailed = async () => /^(error|expired)$/.test((await merchant.getOrder(failing.id)).status);
  await until('the order without a charge has ended', isFailed, 150_000);
  const hasExpired = async () => (await merchant.getOrder(unpaid.id)).status === 'expired';
  await until('the time of what is in the backup is over', hasExpired, 150_000);
  await merchant.removeFaults();
  const back = [by_token, by_page, known_at_issuer];
  const refunds = [refund_by_hand.payment, lost_refund.payment];
  const paid_later = [paid_at_issuer, second_card];
  const unsent = [declined_by_hand, given_up, second_try, approved_on_page, lost_by_hand, ...refunds];
  const ids = [sale, held, released, cancelled, declined, page, unpaid, ...back, ...paid_later, ...unsent].map(
    ({ id }) => id,
  );
  await until('all have their outcome', async () =>
    (await Promise.all(ids.map(summary))).every((one) => !/new|processing|pending/.test(one)),
  );
  const before = await Promise.all(ids.map(summary));
  const ledger = await Promise.all(ids.map(operations));
  const card = await cardOf(approved_on_page);
  expect(card).toMatchObject({ truncated_pan: expect.any(String), vault_token: expect.any(String) });
  const description = await descriptionsOfRelated(held);
  expect(description).toEqual([part(300).description]);

  const [erasure] = await recordRows<{ row: object }>(
    `select to_jsonb(e) || jsonb_build_object('orders', 0) as row from erasures e where id = :id`,
    erased,
    stack,
  );

  const unanswered = await unansweredRefund(interrupted);
  const under_way = await loseDatabaseBeforeOutcomes(interrupted);
  const charged = under_way.find(({ kind }) => kind === 'payment')!;
  await own.ready();
  await until('the order is gone', async () => (await merchant.send('GET', `/v1/orders/${sale.id}/`)).status === 404);
  // The notification of a chargeback comes while the payment is not in the record.
  await controlSimulator(merchant, 'chargebacks', { transaction_id: payingTransactionId(disputed), amount: 100 });
  await until('the notification is received', async () => {
    const sent = `select 1 from notifications join operations using (idempotency_key)
                  where order_id = :id and operation = 'chargeback' and sent is not null`;
    return (await recordRows(sent, disputed, { ...stack, database: 'simulator' })).length === 1;
  });
  // Temporal has lost the history of one order too.
  const execution = { workflowId: orderWorkflowId(unknown.id) };
  const { namespace } = temporal.options;
  await temporal.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: execution });
  await until('its history is gone', async () =>
    temporal.workflow
      .getHandle(execution.workflowId)
      .describe()
      .then(
        () => false,
        () => true,
      ),
  );

  expect((await merchant.getOrder(known.id)).customer).toEqual(PERSONAL.customer);
  const { since } = await admin('begin');
  await untilRefused(under_way);
  // As if it was under way at the crash, and ended at once on the restored record.
  await recordRows(
    'insert into erasures select * from json_populate_record(null::erasures, :row) returning 1',
    erasure!,
    stack,
  );
  await recordRows('update erasures set completed = clock_timestamp() where id = :id returning 1', erased, stack);
  expect(Date.parse(since)).toBe(Date.parse(unpaid.modified) - 10 * MINUTE);
  expect(await admin('begin')).toMatchObject({ error: 'Conflict', value: expect.stringMatching(/begin --again true/) });
  expect(await admin('begin', '--since', '2100-01-01T00:00:00Z')).toMatchObject({ error: 'ValidationError' });
  const refused = await until('new orders are refused', async () => {
    const answer = await merchant.send<{ error: RefusalName }>('POST', '/v1/orders/', { body: {} });
    return answer.status === 503 && answer;
  });
  expect([refused.body.error.type, refused.headers.get('retry-after')]).toEqual(['ServerError', '1']);
  expect(await pay(`/pay/${page.id}/`, CARDS.approved.number)).toBe(503);
  expect((await merchant.send('GET', '/v1/orders/')).status).toBe(200);
  // Until the reconciliation nobody asks the processor about what is open: it may have ended, and been given back.
  const everything = await answerOfAdmin(['recover', '--all'], { data_dir: stack.data_dir });
  expect(everything).toMatchObject({ error: 'Conflict', value: expect.stringMatching(/run restore reconcile first/) });
  const attempt = known_at_issuer.transactions![0]!.id;
  await new Client(stack.api_url).send(`/pay/${known_at_issuer.id}/${attempt}/?from=issuer`);
  expect(await summary(known_at_issuer.id)).toBe('processing: pending');
  // Its merchant was told that it is cancelled, which the restored record does not know.
  expect(await summary(known_late.id)).toBe('processing: pending');
  await passChallenge(known_late);
  expect(await admin('end')).toMatchObject({ error: 'Conflict', value: expect.stringMatching(/not reconciled yet/) });
  const lost = [sale, unknown].map(({ id }) => orderWorkflowId(id));
  for (const id of lost) {
    const insert = `insert into attentions (object_kind, object_id, reason)
      values ('workflow', :id, 'the record does not exist any more') on conflict do nothing returning 1`;
    await recordRows(insert, { id }, stack);
  }

  const both = await Promise.all([admin('reconcile'), admin('reconcile')]);
  expect(both.flatMap(({ value }) => value ?? [])).toEqual([expect.stringMatching(/^Another reconciliation runs/)]);
  const reconciled = both.find(({ error }) => error === undefined)!;
  const attentions = `select object_id from attentions where object_id = any(:lost::text[]) and until is null`;
  expect(await recordRows(attentions, { lost }, stack)).toEqual([{ object_id: orderWorkflowId(unknown.id) }]);
  // The copy had the customer, and did not know of the erasure.
  expect((await merchant.getOrder(known.id)).customer).toBeUndefined();
  expect(await answerOfAdmin(['customer', 'erasure', erased.id], { data_dir: stack.data_dir })).toMatchObject({
    status: 'completed',
    orders: 1,
  });
  await until('what had expired expires', hasExpired);
  const after = [await Promise.all(ids.map(summary)), await Promise.all(ids.map(operations))];
  expect([...after, await descriptionsOfRelated(held)]).toEqual([before, ledger, description]);
  expect(await cardOf(approved_on_page)).toEqual(card);
  expect([await summary(known_late.id), await operations(known_late.id)]).toEqual([
    'cancelled: cancelled; reversal completed',
    ['reversal', 'sale'].map((operation) => `${operation} ${known_late.amount} approved`),
  ]);
  expect([await summary(interrupted.id), await summary(charged.id)]).toEqual([
    'completed: accepted; refund completed',
    'completed: accepted',
  ]);
  expect([await operations(interrupted.id), await operations(charged.id)]).toEqual([
    ['refund 100 approved', 'sale 1250 approved'],
    ['sale 1250 approved'],
  ]);
  expect(await summary(disputed.id)).toBe('completed: accepted; chargeback completed');
  expect(Date.parse((await merchant.getOrder(sale.id)).created)).toBeGreaterThan(Date.parse(sale.created));
  const paid = await merchant.send<{ status: string }>('GET', `/v1/paymentlinks/${link.id}/`);
  expect(paid.body.status).toBe('completed');
  await until('the link without a payment has expired again', async () => {
    const answer = await merchant.send<{ status: string }>('GET', `/v1/paymentlinks/${unused.id}/`);
    return answer.body.status === 'expired';
  });
  const paid_second = await merchant.send<{ status: string }>('GET', `/v1/paymentlinks/${link_of_two.id}/`);
  expect(paid_second.body.status).toBe('completed');
  const for_a_person = [failing, given_up, unknown, unanswered].map(({ id }) => expect.stringContaining(id) as unknown);
  expect(reconciled.open).toEqual(expect.arrayContaining(for_a_person));
  expect(reconciled.open).toHaveLength(for_a_person.length);
  expect(await operations(failing.id)).toEqual([]);
  // As if the first reconciliation had not been able to write this order.
  const { customer } = PERSONAL;
  await recordRows('update orders set customer = :customer where id = :id returning 1', { ...known, customer }, stack);
  expect((await admin('reconcile')).rewritten).toBe(reconciled.rewritten);
  expect((await merchant.getOrder(known.id)).customer).toBeUndefined();
  expect(await admin('end')).toMatchObject({ error: 'Conflict', value: expect.stringMatching(/^3 objects /) });
  await admin('end', '--accept', 'The merchant gives the money back.');
  await until(
    'new orders are accepted',
    async () => (await merchant.createOrder().catch(() => undefined)) !== undefined,
  );
  expect(await admin('status')).toMatchObject({ error: 'NotFound' });
  expect((await refundOnce()).body.id).toBe(refunded.body.id);
  expect(await operations(sale.id)).toEqual(ledger[0]);

  const audited = await answerOfAdmin<{ items: { action: string; after?: { state?: string } }[] }>(['audit', 'list'], {
    data_dir: stack.data_dir,
  });
  const actions = audited.items
    .filter(({ action }) => action.startsWith('restore.'))
    .map(({ action, after }) => [action, after?.state ?? ''].join(' ').trim());
  const reconciliation = ['restore.reconcile begun', 'restore.reconcile ended'];
  expect(actions.toReversed()).toEqual(['restore.begin', ...reconciliation, ...reconciliation, 'restore.end']);
});
