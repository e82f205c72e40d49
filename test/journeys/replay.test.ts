import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { historyToJson, replayHistories, type RecordedHistory } from '../../src/temporal/replay';
import { FLOWS } from '../support/flows';
import { startReceiver } from '../support/receiver';
import { createWorkflowEnvironment, quietRuntime, workflowBundle } from '../support/temporal';

/**
 * Workflows that are on their way must go on with the code of today: a change that breaks a history is made with
 * `patched()`. `RECORD_HISTORIES=1 npx jest test/journeys/replay` records the flows that have none yet, and no other;
 * to record one anew, which is right only while no workflow of the older code runs anywhere, delete its file first.
 */
const folder = path.join(__dirname, '../histories');

let code: string;
beforeAll(async () => {
  quietRuntime();
  code = readFileSync((await workflowBundle()).codePath, 'utf8');
  if (process.env['RECORD_HISTORIES'] === '1') await record();
}, 300_000);

async function record(): Promise<void> {
  const receiver = await startReceiver();
  const world = await createWorkflowEnvironment({ webhook_url: receiver.url });
  mkdirSync(folder, { recursive: true });
  const there = new Set(histories().map(({ name }) => name));
  for (const [name, flow] of Object.entries(FLOWS).filter(([flowName]) => !there.has(flowName))) {
    receiver.answer((response) => response.writeHead(200).end());
    const history = await world.env.client.workflow.getHandle(await flow(world, receiver)).fetchHistory();
    writeFileSync(
      path.join(folder, `${name}.json`),
      `${JSON.stringify(withoutMachine(historyToJson(history)), null, 1)}\n`,
    );
  }
  await world.close();
  await receiver.close();
}

/** Nothing of the machine that recorded it; none of this is read by a replay. */
function withoutMachine(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMachine);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => key !== 'identity' && key !== 'stackTrace');
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutMachine(inner)]));
}

function histories(): RecordedHistory[] {
  const names = readdirSync(folder).map((file) => path.basename(file, '.json'));
  return names.map((name) => ({
    name,
    history: JSON.parse(readFileSync(path.join(folder, `${name}.json`), 'utf8')) as object,
  }));
}

test('every flow has been recorded', () => {
  expect(
    histories()
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(Object.keys(FLOWS).toSorted());
});

test('every recorded workflow goes on with the code of today', async () => {
  expect(await replayHistories({ code }, histories())).toEqual({});
});

test.each([
  ['another activity for the charge', /createAndCharge/g, 'chargeAndCreate', 'order-paid-by-token'],
  ['another activity for an attempt', /attemptDelivery/g, 'deliver', 'delivery-received-at-third'],
  ['another update', /"cancelOrder"/g, '"stopOrder"', 'order-cancelled'],
  ['another activity for what follows a payment', /executeFollowUp/g, 'carryOut', 'refund-approved'],
  [
    'another activity for an attempt of a payment link',
    /payThroughLink\b/g,
    'chargeLink',
    'payment-link-declined-then-paid',
  ],
  ['another activity at the end of the window', /closeCaptureWindow/g, 'endWindow', 'authorization-lapsed'],
])('a change that breaks running workflows is found: %s', async (_title, now, then, history) => {
  const [program = '', map = ''] = code.split(MAP);
  const changed = program.replaceAll(now, then);
  expect(changed).not.toBe(program);
  // That one alone: to replay all of them for every change takes minutes on a slow machine and proves no more.
  const failures = await replayHistories(
    { code: changed + MAP + map },
    histories().filter(({ name }) => name === history),
  );
  expect(Object.keys(failures)).toEqual([history]);
});

const MAP = '\n//# sourceMappingURL=';
