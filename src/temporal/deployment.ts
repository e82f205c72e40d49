import { isGrpcServiceError, type Client } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config';
import { ServiceError } from '../errors';
import { grpcStatusOf } from './grpc-status';
import { ALL_OPEN, listRuns, type WorkflowRun } from './visibility';
import { undefinedIfNotFound } from './call-errors';

/** The workers of all versions: a Worker Deployment of Temporal, by its name. */
export interface WorkerDeployment {
  client: Client;
  name: string;
}

/** The worker deployment of a configuration. */
export const deploymentOf = (config: Pick<Config, 'TEMPORAL_DEPLOYMENT_NAME'>, client: Client): WorkerDeployment => ({
  client,
  name: config.TEMPORAL_DEPLOYMENT_NAME,
});

const { WorkerDeploymentVersionStatus: Status, VersionDrainageStatus } = temporal.api.enums.v1;

/** A version of the workflows as Temporal knows it (rules 24.21). */
export interface DeployedVersion {
  version: string;
  /** `inactive`: it was never current or ramping. */
  status: 'current' | 'ramping' | 'draining' | 'drained' | 'inactive';
  /** Of new workflows, while it is ramping. */
  percentage?: number;
  /** Open workflows that only its workers continue. */
  open_workflows: number;
}

interface Description extends temporal.api.deployment.v1.IWorkerDeploymentInfo {
  /** The versions with these statuses. */
  current: string | undefined;
  ramping: string | undefined;
}

/** What Temporal knows of the deployment; nothing before the first worker of a version. */
async function describeDeployment({ client, name }: WorkerDeployment): Promise<Description> {
  const { namespace } = client.options;
  const described = await client.workflowService
    .describeWorkerDeployment({ namespace, deploymentName: name })
    .catch(undefinedIfNotFound);
  const info = described?.workerDeploymentInfo;
  const versionOf = (wanted: (typeof Status)[keyof typeof Status]) => {
    const found = info?.versionSummaries?.find(({ status }) => status === wanted);
    return found && (found.deploymentVersion?.buildId ?? '');
  };
  return {
    ...info,
    current: versionOf(Status.WORKER_DEPLOYMENT_VERSION_STATUS_CURRENT),
    ramping: versionOf(Status.WORKER_DEPLOYMENT_VERSION_STATUS_RAMPING),
  };
}

/**
 * The versions, the newest first. Counts of workflows are up to a second old. Rejects when Temporal does not answer.
 */
export async function findVersions(deployment: WorkerDeployment): Promise<DeployedVersion[]> {
  const { routingConfig, versionSummaries } = await describeDeployment(deployment);
  const found: DeployedVersion[] = [];
  for (const { deploymentVersion, status, drainageInfo } of versionSummaries ?? []) {
    const version = deploymentVersion?.buildId ?? '';
    const is_drained = drainageInfo?.status === VersionDrainageStatus.VERSION_DRAINAGE_STATUS_DRAINED;
    const { count: open_workflows } = await deployment.client.workflow.count(openOf(deployment.name, version));
    found.push({
      version,
      status: statusOf(status, is_drained),
      ...(status === Status.WORKER_DEPLOYMENT_VERSION_STATUS_RAMPING && {
        percentage: routingConfig?.rampingVersionPercentage ?? 0,
      }),
      open_workflows,
    });
  }
  return found;
}

function statusOf(
  status: temporal.api.enums.v1.WorkerDeploymentVersionStatus | null | undefined,
  is_drained: boolean,
): DeployedVersion['status'] {
  switch (status) {
    case Status.WORKER_DEPLOYMENT_VERSION_STATUS_CURRENT:
      return 'current';
    case Status.WORKER_DEPLOYMENT_VERSION_STATUS_RAMPING:
      return 'ramping';
    case Status.WORKER_DEPLOYMENT_VERSION_STATUS_DRAINING:
      return is_drained ? 'drained' : 'draining';
    case Status.WORKER_DEPLOYMENT_VERSION_STATUS_DRAINED:
      return 'drained';
    default:
      return 'inactive';
  }
}

/** The version of new workflows; `undefined` before an operator has chosen one. */
export const findCurrentVersion = async (deployment: WorkerDeployment): Promise<string | undefined> =>
  (await describeDeployment(deployment)).current;

/**
 * Makes a version current: new workflows begin with it, and open ones stay where they are. Throws Conflict while no
 * worker of the version polls. Repeat-safe.
 */
export async function makeVersionCurrent({ client, name }: WorkerDeployment, version: string): Promise<void> {
  const { namespace } = client.options;
  await refuseWithoutWorkers(version, () =>
    client.workflowService.setWorkerDeploymentCurrentVersion({
      namespace,
      deploymentName: name,
      buildId: version,
      identity: IDENTITY,
    }),
  );
}

/** Has a share of new workflows begin with a version; with 0 no longer. Throws Conflict while no worker of it polls. */
export async function rampVersion(
  { client, name }: WorkerDeployment,
  version: string,
  percentage: number,
): Promise<void> {
  const { namespace } = client.options;
  await refuseWithoutWorkers(version, () =>
    client.workflowService.setWorkerDeploymentRampingVersion({
      namespace,
      deploymentName: name,
      buildId: percentage === 0 ? '' : version,
      percentage,
      identity: IDENTITY,
    }),
  );
}

const IDENTITY = 'admin deploy';

async function refuseWithoutWorkers(version: string, call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    const status = grpcStatusOf(error);
    if (!isGrpcServiceError(error) || (status !== 'not_found' && status !== 'failed_precondition')) throw error;
    throw new ServiceError('Conflict', `Temporal refuses version ${version}: ${error.details}. Do its workers run?`);
  }
}

/** How far Temporal's lists of workflows may be behind. Milliseconds. */
const LISTED_WITHIN_MS = 2_000;

/**
 * Leaves all work to workers without versions: none is current or ramping, and no open workflow is pinned. Returns what
 * was current, and how many workflows were pinned. Repeat-safe.
 */
export async function endVersions(deployment: WorkerDeployment): Promise<{ before?: string; moved: number }> {
  const { client } = deployment;
  const { current: before, ramping } = await describeDeployment(deployment);
  if (ramping !== undefined) await rampVersion(deployment, ramping, 0);
  if (before !== undefined) await makeVersionCurrent(deployment, '');
  const moved = new Set<string>();
  let is_listed = before === undefined && ramping === undefined;
  do {
    if (!is_listed) await sleep(LISTED_WITHIN_MS);
    is_listed = true;
    for await (const run of listRuns(client, PINNED)) {
      if (moved.has(run.run_id)) continue;
      is_listed = false;
      await overrideVersion(client, run, { autoUpgrade: true });
      moved.add(run.run_id);
    }
  } while (!is_listed);
  return { ...(before !== undefined && { before }), moved: moved.size };
}

/** Why workers without versions do not get all work, in words; `undefined`: they get it. */
export async function workOfVersions(deployment: WorkerDeployment): Promise<string | undefined> {
  const { current, ramping } = await describeDeployment(deployment);
  const { count } = await deployment.client.workflow.count(PINNED);
  const words = [
    ...(current === undefined ? [] : [`version ${current} is current`]),
    ...(ramping === undefined ? [] : [`version ${ramping} is ramping`]),
    ...(count === 0 ? [] : [`${count} open workflows wait for workers of their versions`]),
  ];
  return words.length === 0 ? undefined : words.join(', ');
}

const openOf = (name: string, version: string) =>
  `TemporalWorkerDeploymentVersion = '${name}:${version}' and ${ALL_OPEN}`;
/** Open workflows that only workers of their versions continue. */
const PINNED = `TemporalWorkflowVersioningBehavior = 'Pinned' and ${ALL_OPEN}`;
/**
 * Open workflows of all other versions, those of a deployment with another name included, and those that go on with
 * whatever version is current.
 */
export const openOfOthers = ({ name }: WorkerDeployment, version: string): string =>
  `(TemporalWorkflowVersioningBehavior = 'AutoUpgrade' or TemporalWorkerDeployment is not null and ` +
  `TemporalWorkerDeploymentVersion != '${name}:${version}') and ${ALL_OPEN}`;

/**
 * Has a version continue an open workflow from its next task on. Its history must replay with that version. `false`: it
 * has just ended.
 */
export async function moveWorkflow(
  { client, name }: WorkerDeployment,
  run: WorkflowRun,
  version: string,
): Promise<boolean> {
  const { PINNED_OVERRIDE_BEHAVIOR_PINNED: behavior } =
    temporal.api.workflow.v1.VersioningOverride.PinnedOverrideBehavior;
  return await overrideVersion(client, run, {
    pinned: { behavior, version: { deploymentName: name, buildId: version } },
  });
}

/** Sets which workers continue an open workflow from its next task on. `false`: it has just ended. */
async function overrideVersion(
  client: Client,
  { workflow_id, run_id }: WorkflowRun,
  versioningOverride: temporal.api.workflow.v1.IVersioningOverride,
): Promise<boolean> {
  try {
    await client.workflowService.updateWorkflowExecutionOptions({
      namespace: client.options.namespace,
      workflowExecution: { workflowId: workflow_id, runId: run_id },
      workflowExecutionOptions: { versioningOverride },
      updateMask: { paths: ['versioning_override'] },
      identity: IDENTITY,
    });
    return true;
  } catch (error) {
    if (grpcStatusOf(error) === 'not_found') return false;
    throw error;
  }
}
