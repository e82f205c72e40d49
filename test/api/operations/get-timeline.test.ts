import { v7 as uuidv7 } from 'uuid';
import type { Timeline } from '../../../src/client';
import { recordRows } from '../../support/database';
import { Merchant, type RefusalName } from '../../support/merchant';
import { startReceiver } from '../../support/servers';
import { stack } from '../../support/stack';
import { until } from '../../support/waits';

const merchant = new Merchant();
const get = (who: Merchant, id: string) =>
  who.send<Timeline & { error: RefusalName }>('GET', `/v1/orders/${id}/timeline/`);
const read = ({ entries }: Timeline) => entries.map(({ event, by, text }) => `${event} ${by}: ${text}`);

test('rules 23.1: an order that waits to be paid: it was created, and expires unless it is paid', async () => {
  const order = await merchant.createOrder();
  const { status, body } = await get(merchant, order.id);
  expect([status, body]).toEqual([
    200,
    {
      entries: [{ at: order.created, event: 'order.new', text: 'Order of 12.50 EUR created', by: 'merchant' }],
      next: [{ at: order.expires_at, event: 'order.expired', text: 'Expires, unless the customer pays' }],
    },
  ]);
});

test('rules 23.1: a delayed authorization, partly voided, with webhooks: what happened and what is captured when', async () => {
  const receiver = await startReceiver();
  const order = await merchant.createOrder({
    webhook_url: receiver.url,
    transactions: [{ ...(await merchant.cardTransaction('approved')), capture_mode: 'delayed' }],
  });
  const voids = `/v1/orders/${order.id}/transactions/${order.transactions![0]!.id}/voids/amount/`;
  const { body: voided } = await merchant.send<{ id: string }>('POST', voids, {
    body: { amount: 250, description: 'One less' },
  });
  const timeline = await until('both webhooks were sent', async () => {
    const { body } = await get(merchant, order.id);
    const isAttempt = ({ event }: { event: string }) => event === 'webhook.attempt';
    // What happened is read a moment after what comes next.
    return body.entries.filter(isAttempt).length === 2 && !body.next.some(isAttempt) && body;
  });
  await receiver.close();
  expect(read(timeline).toSorted()).toEqual(
    [
      'order.new merchant: Order of 12.50 EUR created',
      'transaction.new merchant: Attempt 1 of 1',
      'transaction.accepted processor: Authorization approved with 411111******1111: 00 Approved',
      'order.completed processor: Order completed',
      'webhook.attempt service: Webhook attempt 1 of 10: received, answered 200',
      'order.new merchant: Void of 2.50 EUR requested',
      'transaction.new merchant: Transaction created',
      'transaction.accepted processor: Approved: 00 Approved',
      'order.completed processor: Void completed',
      'webhook.attempt service: Webhook attempt 1 of 10: received, answered 200',
    ].toSorted(),
  );
  expect(new Set(timeline.entries.map(({ order_id }) => order_id))).toEqual(new Set([undefined, voided.id]));
  expect(timeline.next).toEqual([
    { at: expect.any(String), event: 'order.new', text: 'Captures 10.00 EUR automatically' },
  ]);
  // A follow-up order has a timeline of its own.
  const { body: own } = await get(merchant, voided.id);
  expect([own.next, own.entries.length, own.entries.some((entry) => 'order_id' in entry)]).toEqual([[], 5, false]);
});

test('rules 23.2: while the outcome is unknown it says when the processor was asked, and when it is asked next', async () => {
  const order = await merchant.paidOrder('processing_approved');
  const { entries, next } = await until('it was asked', async () => {
    const { body } = await get(merchant, order.id);
    return body.entries.some(({ event }) => event === 'processor.asked') && body;
  });
  const asked = entries.find(({ event }) => event === 'processor.asked');
  expect(asked?.text).toMatch(/^The processor was asked for the outcome.*: not known yet$/);
  expect(next).toEqual([{ at: expect.any(String), event: 'processor.asked', text: 'Asks the processor again' }]);
  expect(Date.parse(next[0]!.at!)).toBeGreaterThan(Date.parse(asked!.at));
});

test('rules 23.2: nothing of the customer; 401 for another project, 404 for an unknown id', async () => {
  const order = await merchant.paidOrder('approved', {
    customer: { first_name: 'Grace', email_address: 'grace@example.com' },
    description: 'For Grace',
  });
  expect(JSON.stringify((await get(merchant, order.id)).body)).not.toMatch(/Grace|\bAda\b|example\.com|vt_/i);
  const refused = [await get(new Merchant(stack(), stack().live_api_key), order.id), await get(merchant, uuidv7())];
  expect(refused.map(({ status, body }) => [status, body.error.type])).toEqual([
    [401, 'Unauthorized'],
    [404, 'NotFound'],
  ]);
});

describe('rules 23.10: a long timeline is paged', () => {
  let id: string;
  const page = async (query: string, of = id) => {
    const path = `/v1/orders/${of}/timeline/${query}`;
    return (await merchant.send<Timeline & { error: RefusalName }>('GET', path)).body;
  };
  /** All pages of so many entries. */
  async function pagesOf(limit: number, of = id): Promise<Timeline['entries'][]> {
    const pages = [];
    let cursor: string | undefined;
    do {
      const { entries, cursor: next }: Timeline = await page(`?limit=${limit}${cursor ? `&cursor=${cursor}` : ''}`, of);
      pages.push(entries);
      cursor = next;
    } while (cursor !== undefined);
    return pages;
  }
  beforeAll(async () => {
    const order = await merchant.paidOrder('approved');
    ({ id } = order);
    for (const amount of [1, 2, 3]) await merchant.send('POST', `/v1/orders/${id}/refunds/`, { body: { amount } });
    // 110 webhooks with ten attempts each; ten of the attempts begin in the same millisecond.
    await recordRows(
      `with d as (
         insert into webhook_deliveries (order_id, n, url, status, created)
         select :id, n, 'https://shop.example/', 'failed', now() from generate_series(101, 210) n returning n
       )
       insert into webhook_attempts (order_id, n, attempt, time_limit_ms, started, duration_ms, failure)
       select :id, n, a, 4000, date_trunc('second', now()) + make_interval(secs => n / 10 * 10 + a), 1, 'no answer'
       from d, generate_series(1, 10) a`,
      { id },
    );
  });

  it('the pages of any size are the whole, in its order', async () => {
    const whole = await pagesOf(1_000);
    expect(whole.map(({ length }) => length)).toEqual([1_000, expect.any(Number)]);
    const all = whole.flat();
    expect(all.filter(({ event }) => event === 'webhook.attempt').length).toBeGreaterThanOrEqual(1_100);
    expect(new Set(all.map(({ order_id }) => order_id)).size).toBe(4);
    expect(all.map(({ at }) => at)).toEqual(all.map(({ at }) => at).toSorted());
    for (const limit of [73, 250]) {
      const pages = await pagesOf(limit);
      expect(pages.slice(0, -1).every(({ length }) => length === limit)).toBe(true);
      expect(pages.flat()).toEqual(all);
    }
    expect(await page('')).toMatchObject({ entries: whole[0], cursor: expect.any(String) as unknown });
  });

  it('changes of follow-up orders that are no entry, such as settlements at one instant, end no page early', async () => {
    const order = await merchant.paidOrder('approved');
    const refund = (amount: number) =>
      merchant.send<{ id: string }>('POST', `/v1/orders/${order.id}/refunds/`, { body: { amount } });
    const settled = [];
    for (const amount of [1, 2, 3]) settled.push((await refund(amount)).body.id);
    await recordRows('update orders set modified = now() where id = any(:settled)', { settled });
    for (const amount of [4, 5]) await refund(amount);
    const whole = (await page('', order.id)).entries;
    for (const limit of [1, 2, 5]) expect((await pagesOf(limit, order.id)).flat()).toEqual(whole);
  });

  it.each(['?limit=0', '?limit=1001', '?cursor=x', '?cursor=1-', '?cursor=0-10000', '?page=2'])(
    '%s is a ValidationError',
    async (query) => {
      expect((await page(query)).error.type).toBe('ValidationError');
    },
  );

  it.each(['?cursor=9999999999999-0', '?cursor=0-9999'])('%s is a place without entries', async (query) => {
    expect((await page(query)).entries).toEqual([]);
  });
});
