import { v7 as uuidv7 } from 'uuid';
import { createWorkflowClients, type WorkflowClients } from '../../src/temporal/workflows';
import { sandboxClockWorkflowId } from '../../workflows/messages';
import { aRequest, CARDS, MINUTE, PROJECT } from '../support/domain';
import { createWorkflowEnvironment, type WorkflowEnvironment } from '../support/temporal';
import { sleepUntil, until } from '../support/waits';
import { createAnOrder, moneySummaryOf, statusesOfOrder, type TestOrder } from '../support/workflow-orders';

let world: WorkflowEnvironment;
let workflows: WorkflowClients;
beforeAll(async () => {
  world = await createWorkflowEnvironment();
  workflows = createWorkflowClients({ client: world.env.client, db: world.database.db });
});
afterAll(() => world?.close());
jest.setTimeout(120_000);

const DAY = 24 * 60 * MINUTE;
const advance = ({ id }: TestOrder, advance_ms: number, request_id: string = uuidv7()) =>
  workflows.sandbox_clocks.advanceOrder(
    { id, project_id: PROJECT.id },
    { request_id, advance: { advance_ms } },
    aRequest(),
  );

test('an order expires by its own clock, and the next order notices nothing', async () => {
  const [order, other] = [await createAnOrder(world), await createAnOrder(world)];
  const { expires_at } = await order.view();
  const advanced = await advance(order, 31 * MINUTE);
  expect([advanced.status, await statusesOfOrder(other)]).toEqual(['expired', 'new:']);
  const late = Date.parse(advanced.modified) - Date.parse(expires_at!);
  expect([late >= 0, late < MINUTE]).toEqual([true, true]);
  await other.cancel();
});

test('the same request is one advance, also when the workflow of the first has ended', async () => {
  const order = await createAnOrder(world, { input: { period: 30 * DAY } });
  await advance(order, DAY, 'once');
  const handle = world.env.client.workflow.getHandle(sandboxClockWorkflowId(order.id));
  // Not by its result: that would let the time of the order pass.
  await until('its workflow has ended', async () => (await handle.describe()).status.name === 'COMPLETED');
  expect((await advance(order, DAY, 'once')).clock_offset_ms).toBe(DAY);
  expect((await advance(order, DAY, 'twice')).clock_offset_ms).toBe(2 * DAY);
  await order.cancel();
});

test('an advance that was lost is carried on from the record', async () => {
  const order = await createAnOrder(world);
  const { database } = world;
  const now = new Date(await world.now());
  await database.db('sandbox_clocks').insert({ id: order.id, project_id: PROJECT.id, modified: now });
  await database.db('sandbox_clock_advances').insert({
    clock_id: order.id,
    n: 1,
    request_id: 'lost',
    from_offset_ms: 0,
    to_offset_ms: DAY,
    started: now,
  });
  await order.handle.terminate('lost');
  await workflows.sandbox_clocks.start({ clock_id: order.id, project_id: PROJECT.id });
  await world.env.client.workflow.getHandle(sandboxClockWorkflowId(order.id)).result();
  expect([await statusesOfOrder(order), (await order.view()).clock_offset_ms]).toEqual(['expired:', DAY]);
});

test('over 29 February: two days are two times 24 hours', async () => {
  const now = await world.now();
  let year = Math.ceil(new Date(now).getUTCFullYear() / 4) * 4;
  if (Date.UTC(year, 1, 28, 12) < now) year += 4;
  await sleepUntil(world, Date.UTC(year, 1, 28, 12));
  const order = await createAnOrder(world, {
    card_number: CARDS.approved.number,
    capture_mode: 'delayed',
    capture_period: 'P2D',
  });
  const window_end = Date.parse((await order.view()).transactions[0]!.capture_ends_at!);
  expect(new Date(window_end).toISOString()).toMatch(new RegExp(`^${year}-03-01T12:0`));
  await advance(order, DAY);
  expect(await moneySummaryOf(order)).toBe('nothing');
  await advance(order, DAY + MINUTE);
  expect(await moneySummaryOf(order)).toBe('500 captured: capture completed');
});
