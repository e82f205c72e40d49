import { z } from 'zod';
import type { ManageContext } from '../../api/manage/manager';
import { formatInstant } from '../../api/present/format';
import type { Input } from '../contract/routes';
import { requireSetting, type Config } from '../config';
import type { Database } from '../db/query';
import { findCurrentBuild, setCurrentVersion } from '../db/builds/current-build';
import { ServiceError } from '../errors';
import { buildOfService } from '../processes/build';
import { dataConverter, type TemporalClient } from '../temporal/connect';
import {
  deploymentOf,
  endVersions,
  findCurrentVersion,
  findVersions,
  makeVersionCurrent,
  rampVersion,
} from '../temporal/deployment';
import type * as OpenHistories from '../temporal/open-histories';
import type { ReplayedRun } from '../temporal/open-histories';
import type * as Replay from '../temporal/replay';
import { ALL_OPEN } from '../temporal/visibility';
import type * as WorkflowBundle from '../temporal/workflow-bundle';
import { auditCommand } from './audit-trail';
import type { CommandRoute } from './commands';

/** Versions of the workflows: which begins new orders, and which continues open ones (rules 24.21). */

interface DeployServices {
  config: Config;
  db: Database;
  client: TemporalClient;
}

const version = z
  .string()
  .regex(/\S/, 'Expected text that is not empty.')
  .optional()
  .describe('As status shows it; by default that of this build.');

const STATUS = {
  summary: 'Show the versions of the workflows',
  description: 'With the open workflows that each still has to continue, and the build that has the leases.',
} as const satisfies CommandRoute;

const CHECK = {
  summary: 'Replay all open workflows with this build',
  description: 'Names those that it could not continue, and ends with 1 if there are any. No worker has to run.',
} as const satisfies CommandRoute;

const CURRENT = {
  summary: 'Make a version current',
  description: 'New workflows begin with it. Open ones stay with the version that they began with.',
  body: z.object({ version }),
} as const satisfies CommandRoute;

const RAMP = {
  summary: 'Have a share of new workflows begin with a version',
  description: 'The others begin with the current one.',
  body: z.object({
    version,
    percentage: z.coerce.number().min(0).max(100).describe('0 ends it.'),
  }),
} as const satisfies CommandRoute;

const DRAIN = {
  summary: 'Move open workflows of other versions to this build',
  description:
    'Moves those whose histories replay with it, and names the others: they need workers of their version. This ' +
    'build has to be of the current version.',
} as const satisfies CommandRoute;

const OFF = {
  summary: 'End the versions',
  description:
    'Workers without versions begin new workflows, and continue open ones: with DEPLOYMENT_VERSIONING=off, once such ' +
    'workers run.',
} as const satisfies CommandRoute;

/** The commands of the noun `deploy`. `failed`: whether an answer means that the command failed. */
export const DEPLOY_COMMANDS = [
  {
    verb: 'status',
    route: STATUS,
    run: async ({ config, db, client }: DeployServices) => {
      const versions = await findVersions(deploymentOf(config, client));
      const holder = await findCurrentBuild(db);
      return {
        items: versions.map((one) => ({
          ...one,
          ...(holder?.version === one.version && {
            leases: `${holder.build ?? 'no build yet'} since ${formatInstant(holder.since)}`,
          }),
        })),
      };
    },
  },
  {
    verb: 'check',
    route: CHECK,
    run: async ({ config, client }: DeployServices) => {
      let replayed = 0;
      const would_stop: string[] = [];
      const { replayOpenWorkflows, options } = await histories(config);
      await replayOpenWorkflows(client, ALL_OPEN, options, (run) => {
        replayed += 1;
        if (run.problem !== undefined) would_stop.push(shownProblem(run));
      });
      return { version: buildOfService(config).version, replayed, would_stop };
    },
    failed: ({ would_stop }: { would_stop: string[] }) => would_stop.length > 0,
  },
  {
    verb: 'current',
    route: CURRENT,
    run: async ({ config, db, client }: DeployServices, context: ManageContext, { body }: Input<typeof CURRENT>) => {
      const deployment = deploymentOf(config, client);
      const own = buildOfService(config);
      const wanted = body.version ?? own.version;
      const before = await findCurrentVersion(deployment);
      await makeVersionCurrent(deployment, wanted);
      await db.transaction(async (trx) => {
        // Workers of the version claim the leases; of two builds of one version the one that is asked has them.
        await setCurrentVersion(trx, wanted, body.version === undefined ? own : undefined);
        await auditCommand(trx, context, {
          ...changeOf('current', wanted),
          before: { version: before ?? null },
        });
      });
      return { current: wanted, ...(before !== undefined && { before }) };
    },
  },
  {
    verb: 'ramp',
    route: RAMP,
    run: async ({ config, db, client }: DeployServices, context: ManageContext, { body }: Input<typeof RAMP>) => {
      const { percentage, version: wanted = buildOfService(config).version } = body;
      await rampVersion(deploymentOf(config, client), wanted, percentage);
      await db.transaction((trx) => auditCommand(trx, context, { ...changeOf('ramp', wanted), after: { percentage } }));
      return { version: wanted, percentage };
    },
  },
  {
    verb: 'drain',
    route: DRAIN,
    run: async ({ config, db, client }: DeployServices, context: ManageContext) => {
      const deployment = deploymentOf(config, client);
      const own = buildOfService(config).version;
      const current = await findCurrentVersion(deployment);
      if (current !== own) {
        throw new ServiceError(
          'Conflict',
          `The current version is ${current ?? 'not chosen'}, this build is ${own}. Run the command of that build.`,
        );
      }
      const { drainOthers, options } = await histories(config);
      const drained = await drainOthers(deployment, own, options);
      const done = { moved: drained.moved, stay: drained.stay.map(shownProblem) };
      await db.transaction((trx) =>
        auditCommand(trx, context, {
          ...changeOf('drain', own),
          after: { moved: done.moved, stay: done.stay.length },
        }),
      );
      return done;
    },
    failed: ({ stay }: { stay: string[] }) => stay.length > 0,
  },
  {
    verb: 'off',
    route: OFF,
    run: async ({ config, db, client }: DeployServices, context: ManageContext) => {
      const { DEPLOYMENT_VERSIONING: versioning } = config;
      if (versioning !== 'off') {
        throw new ServiceError(
          'Conflict',
          `DEPLOYMENT_VERSIONING is ${versioning}: set it to off, and start workers with it before.`,
        );
      }
      const ended = await endVersions(deploymentOf(config, client));
      await db.transaction((trx) =>
        auditCommand(trx, context, {
          ...changeOf('off', ended.before ?? 'none'),
          after: { moved: ended.moved },
        }),
      );
      return ended;
    },
  },
];

/** Of the worker's package, which other commands do not load. */
async function histories(config: Config) {
  const histories = require('../temporal/open-histories') as typeof OpenHistories;
  const { workflowBundlePath } = require('../temporal/workflow-bundle') as typeof WorkflowBundle;
  const { quietRuntime } = require('../temporal/replay') as typeof Replay;
  quietRuntime();
  const options = {
    bundle_path: await workflowBundlePath(),
    dataConverter: dataConverter(requireSetting(config, 'PAYLOAD_KEYS')),
  };
  return { ...histories, options };
}

/** An order's workflow is `order:<id>`. */
const shownProblem = ({ workflow_id, problem }: ReplayedRun) => `${workflow_id}: ${problem}`;

/** The audit trail's name of a change and its object. */
const changeOf = (verb: 'current' | 'ramp' | 'drain' | 'off', version: string) => ({
  action: `deployment.${verb}`,
  object: { kind: 'deployment', id: version },
});
