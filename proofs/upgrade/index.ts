import path from 'node:path';
import { bundleHash } from '../../src/temporal/bundle-hash';
import { startReceiver } from '../../test/support/servers';
import { sumsOf, type Proof, type ProofInput, type ProofOutcome } from '../proof';
import { endsOf } from './ends';
import { UpgradeLoad, OPEN, openObjects } from './load';
import { ReleaseProcesses } from './processes';
import {
  HEAD,
  buildRelease,
  commitBeforeMigration,
  migrationsOf,
  previousCommit,
  removeRelease,
  type CompiledRelease,
} from './release';
import { Steps } from './steps';
import { deployVersion, haveVersions } from './versions';

export const upgrade: Proof = {
  name: 'upgrade',
  title:
    'The commit before, the last commit with an older schema, and this one replace each other under load (schema, workers, API, and back; and as versions side by side): no workflow task fails, no request gets a 5xx, and everything open ends right.',
  not_proved: [
    'The API runs in one process here, as with `npm start`: while it restarts, connections are refused or end without an answer. They are counted apart, as `no connection`; a deployment with several API processes is not tried.',
    'Without versions, workers go back only if both commits have the same workflow bundle. Otherwise the table says so: histories may hold steps that the old code does not know (docs/operations.md). With versions they go back too: new orders begin with the older one again.',
    'The schema does not go back: migrations are not reversed, and the older release runs on the newer schema.',
    'The bearer-token host, the codec server and the simulator stay at the commit before, and with versions the API does too.',
    'A task that Temporal refuses because a message has just come (UNHANDLED_COMMAND) is not counted as failed: it is done again with the message.',
    'The leases of workers of an older build, which has them ten minutes after the last worker of a newer one (rules 24.20).',
    'Older commits run with the packages of this checkout.',
  ],
  seeds: [1],
  in_ci: false,
  async run(input): Promise<ProofOutcome> {
    const { seed, single, say } = input;
    const commits = single === undefined ? [previousCommit(), commitBeforeMigration()] : [single];
    const outcomes: ProofOutcome[] = [];
    for (const commit of new Set(commits)) {
      say(`building ${commit}`);
      const before = await buildRelease(commit);
      try {
        const done = [await replaceProcesses(input, before)];
        if (haveVersions(before)) done.push(await deployVersion(input, before));
        const repeat = (text: string) => `${text} (seed ${seed}, case ${before.name})`;
        outcomes.push(...done.map((one) => ({ ...one, violations: one.violations.map(repeat) })));
      } finally {
        removeRelease(before);
      }
    }
    return {
      counts: sumsOf(outcomes.map(({ counts }) => counts)),
      injections: sumsOf(outcomes.map(({ injections = {} }) => injections)),
      violations: outcomes.flatMap(({ violations }) => violations),
      details: outcomes.map(({ details }) => details).join('\n\n'),
    };
  },
};

/** Replaces schema, workers and API of the release before by those of head, and goes back, under load. */
async function replaceProcesses(input: ProofInput, before: CompiledRelease): Promise<ProofOutcome> {
  const { size, say } = input;
  const receiver = await startReceiver();
  receiver.answer((response) => void response.writeHead(500).end());
  const processes = new ReleaseProcesses(before);
  const steps = new Steps(input);
  try {
    const stack = await processes.start();
    say(`opening ${OPEN[size]} orders, links and webhooks`);
    const open = await openObjects(stack, OPEN[size], receiver.url);
    const load = new UpgradeLoad(stack, () => steps.current);
    const workersGoBack =
      (await bundleHash(path.join(before.folder, 'dist'))) === (await bundleHash(path.join(HEAD.folder, 'dist')));
    try {
      await steps.take('the load before');
      await steps.take('the migration', () => processes.migrate());
      await steps.take('the new workers', () => processes.replaceWorker(HEAD));
      await steps.take('the new API', () => processes.replaceApi(HEAD));
      await steps.take('the old API', () => processes.replaceApi(before));
      if (workersGoBack) {
        await steps.take('the old workers', () => processes.replaceWorker(before));
        // Those of an older build would have no leases until ten minutes later (rules 24.20).
        await steps.take('the new workers again', () => processes.replaceWorker(HEAD));
      }
    } finally {
      await load.stop();
    }
    steps.current = 'the end';
    receiver.answer((response) => void response.writeHead(200).end());
    say('ending all that is open');
    const ends = await endsOf(stack, open);
    const answers = Object.entries(load.answers);
    const count = (status: RegExp) => answers.reduce((total, [what, n]) => total + (status.test(what) ? n : 0), 0);
    const [schema_before, schema] = [before, HEAD].map((release) => migrationsOf(release).at(-1));
    return {
      counts: {
        'open objects': OPEN[size],
        'webhooks received': receiver.received.length,
        'requests under load': count(/./),
        'without a connection': count(/^no connection/),
        '5xx': count(/^5/),
        histories: ends.histories,
        'failed workflow tasks': ends.failed,
      },
      injections: { 'processes replaced': workersGoBack ? 5 : 3 },
      violations: [...load.failures, ...ends.violations],
      details: [
        `${before.name} before: ${schema_before === schema ? `both have the schema of migration ${schema}` : `its schema is of migration ${schema_before}, that of head of ${schema}`}.`,
        workersGoBack
          ? 'Both have the same workflow bundle, so the workers went back too, and forth again.'
          : 'The workflow bundles differ, so the workers did not go back.',
        `Answers under load: ${answers.map(([what, n]) => `${n} ${what}`).join(', ')}.`,
      ].join(' '),
    };
  } finally {
    await processes.close();
    await receiver.close();
  }
}
