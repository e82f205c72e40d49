import { recordRows } from './database';

/** A recovery of a project, of the last hour, on the run's stack; its id. A project has one that is paused at most. */
export async function aRecovery(project_id: string, status: 'paused' | 'stopped' = 'paused'): Promise<string> {
  const [made] = await recordRows<{ id: string }>(
    `insert into webhook_recoveries (id, project_id, since, until, status, paused_by, request_id, created, modified)
     select gen_random_uuid(), :project_id, now() - interval '1 hour', now(), cast(:status as text), case when :status = 'paused' then 'request' end, gen_random_uuid(), t, t
     from clock_timestamp() t returning id`,
    { project_id, status },
  );
  return made!.id;
}
