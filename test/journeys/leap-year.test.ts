import { CARDS } from '../support/cards';
import { MINUTE, createAnOrder, moneyStory, story, type TestOrder } from '../support/orders';
import { aWorld, type World } from '../support/temporal';

let world: World;
beforeAll(async () => {
  world = await aWorld();
});
afterAll(async () => {
  await world.close();
});

const DAY = 24 * 60 * MINUTE;

test('across a leap day: 30 days are 30 times 24 hours', async () => {
  await world.env.sleep(Date.UTC(2028, 1, 20) - (await world.now()));
  const period = 30 * DAY;
  const order = await createAnOrder(world, { input: { period } });
  const { created, expires_at: end } = await order.view();
  const expires_at = end ?? '';
  expect(created < '2028-02-29' && expires_at > '2028-03-01').toBe(true);
  expect(Date.parse(expires_at) - Date.parse(created)).toBe(period);
  await world.env.sleep(period - 1_000);
  expect(await story(order)).toBe('new:');
  await world.env.sleep(2_000);
  expect(await story(order)).toBe('expired:');
});

/** Workflow time only goes forward: this one is of the next leap year. */
test('across a leap day: a capture window of five days ends after 5 times 24 hours, to the second', async () => {
  await world.env.sleep(Date.UTC(2032, 1, 27, 12) - (await world.now()));
  const authorize = (capture_mode: 'manual' | 'delayed') => createAnOrder(world, { card_number: CARDS.approved.number, capture_mode, capture_period: 'P5D' });
  const endOf = async (order: TestOrder) => Date.parse((await order.view()).transactions[0]?.capture_ends_at ?? '');
  const [manual, delayed] = [await authorize('manual'), await authorize('delayed')];
  const [manual_end, delayed_end] = [await endOf(manual), await endOf(delayed)];
  for (const [order, end] of [[manual, manual_end], [delayed, delayed_end]] as const) {
    // When it occurred is the processor's real instant; workflow time is when it was noticed.
    const accepted = (await order.view()).transactions[0]?.events.find(({ event }) => event === 'accepted')?.noticed ?? '';
    expect([accepted.slice(0, 10), new Date(end).toISOString().slice(0, 10), end - Date.parse(accepted)]).toEqual(['2032-02-27', '2032-03-03', 5 * DAY]);
  }
  await world.env.sleep(manual_end - 1_000 - (await world.now()));
  expect([await moneyStory(manual), await moneyStory(delayed)]).toEqual(['nothing', 'nothing']);
  await manual.follow('capture', 200);
  await world.env.sleep(Math.max(1, manual_end - (await world.now())));
  await expect(manual.follow('capture', 100)).rejects.toThrow();
  await world.env.sleep(Math.max(1, delayed_end + 1_000 - (await world.now())));
  expect([await moneyStory(manual), await moneyStory(delayed)]).toEqual(['200 captured, 300 voided: capture completed, void completed', '500 captured: capture completed']);
  expect([await story(manual), await story(delayed)]).toEqual(['completed: accepted', 'completed: accepted']);
});

test('across a leap day: a transaction that is to be paid within its order', async () => {
  await world.env.sleep(Date.UTC(2036, 1, 28, 12) - (await world.now()));
  const order = await createAnOrder(world, { input: { period: 3 * DAY }, transaction_period: 2 * DAY });
  const { created, transactions } = await order.view();
  const end = Date.parse(transactions[0]?.expires_at ?? '');
  expect(end - Date.parse(created)).toBe(2 * DAY);
  await world.env.sleep(end - 1_000 - (await world.now()));
  expect(await story(order)).toBe('new: new');
  await world.env.sleep(2_000);
  expect(await story(order)).toBe('expired: expired');
});
