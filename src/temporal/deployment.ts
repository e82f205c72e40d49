import { isGrpcServiceError, type Client } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import type { Config } from '../config';
import { ServiceError } from '../errors';
import { grpcStatusOf } from './grpc-status';

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

/** What Temporal knows of the deployment; nothing before the first worker of a version. */
async function describeDeployment({
  client,
  name,
}: WorkerDeployment): Promise<temporal.api.deployment.v1.IWorkerDeploymentInfo> {
  const { namespace } = client.options;
  try {
    const described = await client.workflowService.describeWorkerDeployment({ namespace, deploymentName: name });
    return described.workerDeploymentInfo ?? {};
  } catch (error) {
    if (grpcStatusOf(error) === 'not_found') return {};
    throw error;
  }
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
export async function findCurrentVersion(deployment: WorkerDeployment): Promise<string | undefined> {
  const { versionSummaries } = await describeDeployment(deployment);
  const current = versionSummaries?.find(({ status }) => status === Status.WORKER_DEPLOYMENT_VERSION_STATUS_CURRENT);
  return current && (current.deploymentVersion?.buildId ?? '');
}

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

/** Open workflows, by a query of Temporal's visibility. */
export const ALL_OPEN = `ExecutionStatus = 'Running'`;
const openOf = (name: string, version: string) =>
  `TemporalWorkerDeploymentVersion = '${name}:${version}' and ${ALL_OPEN}`;
/** Open workflows of all other versions, those of a deployment with another name included. */
export const openOfOthers = ({ name }: WorkerDeployment, version: string): string =>
  `TemporalWorkerDeployment is not null and TemporalWorkerDeploymentVersion != '${name}:${version}' and ${ALL_OPEN}`;

/** A run of a workflow. */
export interface WorkflowRun {
  workflow_id: string;
  run_id: string;
}

/**
 * Has a version continue an open workflow from its next task on. Its history must replay with that version. `false`: it
 * has just ended.
 */
export async function moveWorkflow(
  { client, name }: WorkerDeployment,
  { workflow_id, run_id }: WorkflowRun,
  version: string,
): Promise<boolean> {
  const { PINNED_OVERRIDE_BEHAVIOR_PINNED: behavior } =
    temporal.api.workflow.v1.VersioningOverride.PinnedOverrideBehavior;
  try {
    await client.workflowService.updateWorkflowExecutionOptions({
      namespace: client.options.namespace,
      workflowExecution: { workflowId: workflow_id, runId: run_id },
      workflowExecutionOptions: {
        versioningOverride: { pinned: { behavior, version: { deploymentName: name, buildId: version } } },
      },
      updateMask: { paths: ['versioning_override'] },
      identity: IDENTITY,
    });
    return true;
  } catch (error) {
    if (grpcStatusOf(error) === 'not_found') return false;
    throw error;
  }
}
