import { recordRows } from './database';

/** A paused recovery of a project, of the last hour, on the run's stack; its id. */
export async function aPausedRecovery(project_id: string): Promise<string> {
  const [made] = await recordRows<{ id: string }>(
    `insert into webhook_recoveries (id, project_id, since, until, status, paused_by, request_id, created, modified)
     select gen_random_uuid(), :project_id, now() - interval '1 hour', now(), 'paused', 'request', gen_random_uuid(), t, t
     from clock_timestamp() t returning id`,
    { project_id },
  );
  return made!.id;
}
