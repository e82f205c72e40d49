import type { Client } from '@temporalio/client';
import { createLogger } from '../../../src/log';
import { UnreplayableWorkflows } from '../../../src/recovery/unreplayable';
import { createWorkflowClients } from '../../../src/temporal/workflows';
import { createTestDatabase } from '../../support/database';
import { MINUTE, NOW } from '../../support/domain';
import { anAcceptedPayment, aStoredOrder } from '../../support/rows';
import { setUp } from '../../support/set-up';

const database = setUp(() => createTestDatabase());
const log = createLogger({ process: 'test', level: 'silent' });

/** A Temporal that lists these orders, records its calls, and of which calls fail or workflows have recovered. */
function aTemporal(
  listed: readonly string[],
  { fails, recovered }: { fails?: string | undefined; recovered?: string | undefined } = {},
): { client: Client; called: string[] } {
  const called: string[] = [];
  const call = (what: string) => {
    called.push(what);
    return what === fails ? Promise.reject(new Error('refused')) : Promise.resolve();
  };
  const runs = listed.map((id) => ({ workflowId: `order:${id}`, runId: `run of ${id}`, type: 'order' }));
  const client = {
    withDeadline: (_deadline: number, work: () => Promise<unknown>) => work(),
    workflow: {
      async *list() {
        yield* runs;
      },
      getHandle: (id: string, run_id?: string) => ({
        describe: () => {
          const indexedFields = id === recovered ? {} : { TemporalReportedProblems: {} };
          return Promise.resolve({ raw: { workflowExecutionInfo: { searchAttributes: { indexedFields } } } });
        },
        terminate: () => call(`terminate ${run_id}`),
      }),
      signalWithStart: (_type: string, { workflowId }: { workflowId: string }) => call(`start ${workflowId}`),
    },
  } as unknown as Client;
  return { client, called };
}

test('rules 10.13: a workflow whose history does not replay starts again at most once an hour; one that fails stops no other', async () => {
  const { db } = database;
  const [failing, recovered, unpaid, held] = [
    await aStoredOrder(db),
    await aStoredOrder(db),
    await aStoredOrder(db),
    await anAcceptedPayment(db, { mode: 'manual' }),
  ].map(({ id }) => id) as [string, string, string, string];
  const { client, called } = aTemporal([failing, recovered, unpaid, held], {
    fails: `terminate run of ${failing}`,
    recovered: `order:${recovered}`,
  });
  const workflows = createWorkflowClients({ client, db });
  let may_go_on = false;
  const unreplayable = new UnreplayableWorkflows({ client, workflows, log }, () => Promise.resolve(may_go_on));
  await unreplayable.restart(NOW);
  expect(called).toEqual([]);

  may_go_on = true;
  const restarts = [unpaid, held].flatMap((id) => [`terminate run of ${id}`, `start order:${id}`]);
  const round = [`terminate run of ${failing}`, ...restarts];
  await unreplayable.restart(NOW);
  expect(called).toEqual(round);
  await unreplayable.restart(NOW + 59 * MINUTE);
  expect(called).toEqual([...round, round[0]]);
  await unreplayable.restart(NOW + 61 * MINUTE);
  expect(called).toEqual([...round, round[0], ...round]);
});
