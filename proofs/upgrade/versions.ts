import { ALL_OPEN } from '../../src/temporal/visibility';
import { Merchant } from '../../test/support/merchant';
import { startReceiver } from '../../test/support/servers';
import { temporalOf } from '../../test/support/temporal-client';
import { until } from '../../test/support/waits';
import type { ProofInput, ProofOutcome } from '../proof';
import { endsOf } from './ends';
import { OPEN, SteadyOrders, openObjects } from './load';
import { ReleaseProcesses } from './processes';
import { HEAD, versionOf, type CompiledRelease } from './release';
import { Steps } from './steps';

/** Whether both releases know versions of the workflows, and theirs differ. */
export function haveVersions(before: CompiledRelease): boolean {
  const version = versionOf(before);
  return version !== undefined && version !== versionOf(HEAD);
}

/**
 * Deploys head as a version beside the release before, as an operator does (docs/operations.md, Versions of the
 * workers), under five orders a second: a tenth of the new orders, none, all, none, all. Then moves the open ones to
 * head and stops the worker of the release before.
 */
export async function deployVersion(input: ProofInput, before: CompiledRelease): Promise<ProofOutcome> {
  const { size, say } = input;
  const older = versionOf(before)!;
  const receiver = await startReceiver();
  receiver.answer((response) => void response.writeHead(500).end());
  const processes = new ReleaseProcesses(before);
  const steps = new Steps(input);
  const violations: string[] = [];
  const deploy = async (release: CompiledRelease, ...args: string[]): Promise<Record<string, unknown>> => {
    const answer = await processes.admin(release, 'deploy', ...args);
    if (answer.failed) violations.push(`${release.name}: deploy ${args.join(' ')}: ${JSON.stringify(answer)}`);
    return answer;
  };
  try {
    const stack = await processes.start({ DEPLOYMENT_VERSIONING: 'operator' });
    await deploy(before, 'current');
    say(`opening ${OPEN[size]} orders, links and webhooks with version ${older}`);
    const open = await openObjects(stack, OPEN[size], receiver.url);
    const orders = new SteadyOrders(new Merchant(stack), () => steps.current);
    const temporal = temporalOf(stack);
    const begunWith = async (release: CompiledRelease, filter = '') => {
      const version = `TemporalWorkerDeploymentVersion = 'payments:${versionOf(release)}'`;
      return (await temporal.workflow.count(version + filter)).count;
    };
    const ramp = { before: 0, head: 0 };
    let checked: Record<string, unknown> = {};
    let drained: Record<string, unknown> = {};
    try {
      await steps.take('the load before');
      await steps.take('the migration', () => processes.migrate());
      await steps.take('the check', async () => (checked = await deploy(HEAD, 'check')));
      await steps.take('the workers of head', () => processes.startWorker(HEAD));
      ramp.before = -(await begunWith(before));
      await steps.take('10 % of new orders', () => deploy(HEAD, 'ramp', '--percentage', '10'));
      await until('an order begins with head', async () => (ramp.head = await begunWith(HEAD)) > 0);
      ramp.before += await begunWith(before);
      await steps.take('0 % of new orders', () => deploy(HEAD, 'ramp', '--percentage', '0'));
      await steps.take('head is current', () => deploy(HEAD, 'current'));
      await steps.take('the release before is current', () => deploy(HEAD, 'current', '--version', older));
      await steps.take('head is current again', () => deploy(HEAD, 'current'));
      await steps.take('the drain', async () => (drained = await deploy(HEAD, 'drain')));
      const isOpen = ` and ${ALL_OPEN}`;
      await until('no open workflow is of the release before', async () => (await begunWith(before, isOpen)) === 0);
      await steps.take('head alone', () => processes.replaceSupervisedWorker(HEAD));
    } finally {
      await orders.stop();
      await temporal.connection.close();
    }
    receiver.answer((response) => void response.writeHead(200).end());
    say('ending all that is open');
    const ends = await endsOf(stack, open);
    const answers = Object.entries(orders.answers);
    return {
      counts: {
        'open objects': OPEN[size],
        'webhooks received': receiver.received.length,
        'requests under load': answers.reduce((sum, [, count]) => sum + count, 0),
        histories: ends.histories,
        'failed workflow tasks': ends.failed,
      },
      injections: { 'versions chosen': 5 },
      violations: [...violations, ...orders.wrong, ...ends.violations],
      details: [
        `${before.name} and head as versions ${older} and ${versionOf(HEAD)}, under 5 orders a second:`,
        `${String(checked['replayed'])} open workflows replay with head;`,
        `at 10 % ${ramp.head} of ${ramp.head + ramp.before} workflows began with it;`,
        `${String(drained['moved'])} were moved to it at the end.`,
        `Answers: ${answers.map(([status, count]) => `${count} ${status}`).join(', ')}.`,
      ].join(' '),
    };
  } finally {
    await processes.close();
    await receiver.close();
  }
}
