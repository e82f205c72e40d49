import { CARDS, MINUTE } from '../support/domain';
import { createWorkflowEnvironment, type WorkflowEnvironment } from '../support/temporal';
import { inTheLastSecond, sleepUntil, until } from '../support/waits';
import { createAnOrder, moneySummaryOf, statusesOfOrder, type TestOrder } from '../support/workflow-orders';

let world: WorkflowEnvironment;
beforeAll(async () => {
  world = await createWorkflowEnvironment();
});
afterAll(async () => {
  await world.close();
});

const DAY = 24 * 60 * MINUTE;

/**
 * Lets time pass to that day of February, 12:00, in the next leap year to come: workflow time only goes forward.
 * Answers the year.
 */
async function toLeapYear(day: number): Promise<number> {
  const now = await world.now();
  let year = Math.ceil(new Date(now).getUTCFullYear() / 4) * 4;
  if (Date.UTC(year, 1, day, 12) < now) year += 4;
  await sleepUntil(world, Date.UTC(year, 1, day, 12));
  return year;
}

const becomes = (order: TestOrder, expected: string) =>
  until(`the order is ${expected}`, async () => (await statusesOfOrder(order)) === expected);

test('across a leap day: 30 days are 30 times 24 hours', async () => {
  const period = 30 * DAY;
  const { subject, end, answer } = await inTheLastSecond(world, {
    create: async () => ({ year: await toLeapYear(20), order: await createAnOrder(world, { input: { period } }) }),
    end: async ({ order }) => Date.parse((await order.view()).expires_at ?? ''),
    act: ({ order }) => statusesOfOrder(order),
  });
  const { year, order } = subject;
  const { created, expires_at } = await order.view();
  expect(created < `${year}-02-29` && (expires_at ?? '') > `${year}-03-01`).toBe(true);
  expect(end - Date.parse(created)).toBe(period);
  expect(answer).toBe('new:');
  await sleepUntil(world, end + 1_000);
  await becomes(order, 'expired:');
});

test('across a leap day: a capture window of five days ends after 5 times 24 hours, to the second', async () => {
  const authorize = (capture_mode: 'manual' | 'delayed') =>
    createAnOrder(world, { card_number: CARDS.approved.number, capture_mode, capture_period: 'P5D' });
  const endOf = async (order: TestOrder) => Date.parse((await order.view()).transactions[0]?.capture_ends_at ?? '');
  const {
    subject,
    end: manual_end,
    answer,
  } = await inTheLastSecond(world, {
    create: async () => ({
      year: await toLeapYear(27),
      manual: await authorize('manual'),
      delayed: await authorize('delayed'),
    }),
    end: ({ manual }) => endOf(manual),
    async act({ manual, delayed }) {
      const before = [await moneySummaryOf(manual), await moneySummaryOf(delayed)];
      await manual.follow('capture', 200);
      return before;
    },
  });
  const { year, manual, delayed } = subject;
  const delayed_end = await endOf(delayed);
  for (const [order, end] of [
    [manual, manual_end],
    [delayed, delayed_end],
  ] as const) {
    // When it occurred is the processor's real instant; workflow time is when it was noticed.
    const accepted =
      (await order.view()).transactions[0]?.events.find(({ event }) => event === 'accepted')?.noticed ?? '';
    expect([accepted.slice(0, 10), new Date(end).toISOString().slice(0, 10), end - Date.parse(accepted)]).toEqual([
      `${year}-02-27`,
      `${year}-03-03`,
      5 * DAY,
    ]);
  }
  expect(answer).toEqual(['nothing', 'nothing']);
  await sleepUntil(world, manual_end);
  await expect(manual.follow('capture', 100)).rejects.toThrow();
  await sleepUntil(world, delayed_end + 1_000);
  const ended = ['200 captured, 300 voided: capture completed, void completed', '500 captured: capture completed'];
  await until(
    'both windows are closed',
    async () => (await moneySummaryOf(manual)) === ended[0] && (await moneySummaryOf(delayed)) === ended[1],
  );
  expect([await statusesOfOrder(manual), await statusesOfOrder(delayed)]).toEqual([
    'completed: accepted',
    'completed: accepted',
  ]);
});

test('across a leap day: a transaction that is to be paid within its order', async () => {
  const { subject, end, answer } = await inTheLastSecond(world, {
    create: async () => ({
      year: await toLeapYear(28),
      order: await createAnOrder(world, { input: { period: 3 * DAY }, transaction_period: 2 * DAY }),
    }),
    end: async ({ order }) => Date.parse((await order.view()).transactions[0]?.expires_at ?? ''),
    act: ({ order }) => statusesOfOrder(order),
  });
  const { year, order } = subject;
  expect(new Date(end).toISOString().slice(0, 10)).toBe(`${year}-03-01`);
  expect(end - Date.parse((await order.view()).created)).toBe(2 * DAY);
  expect(answer).toBe('new: new');
  await sleepUntil(world, end + 1_000);
  await becomes(order, 'expired: expired');
});
