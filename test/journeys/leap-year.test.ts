import { MINUTE, createAnOrder, story } from '../support/orders';
import { aWorld, type World } from '../support/temporal';

let world: World;
beforeAll(async () => {
  world = await aWorld();
});
afterAll(async () => {
  await world.close();
});

test('across a leap day: 30 days are 30 times 24 hours', async () => {
  await world.env.sleep(Date.UTC(2028, 1, 20) - (await world.now()));
  const period = 30 * 24 * 60 * MINUTE;
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
