import { closeIncident, findIncident, listIncidents, type StoredIncident } from '../../../src/db/audit/incidents';
import type { Database } from '../../../src/db/query';
import { ServiceError } from '../../../src/errors';
import { tellWorkflow } from '../../requests/tell-workflow';
import { presentPage } from '../../present/format';
import type { ManageOperations, ManageServices } from '../manager';
import { audited, changeOf } from '../../requests/audited';
import { authorOf } from '../../requests/author';
import { presentIncident } from '../present';

/** Differences in money, for operators (rules 26.6). */
export function incidentOperations(services: Pick<ManageServices, 'db' | 'incidents'>) {
  const { db, incidents } = services;

  return {
    listIncidents: async (_context, { query: { status, kind, project_id, ...page } }) => {
      const is_open = status === undefined ? undefined : status === 'open';
      return presentPage(await listIncidents(db, { is_open, kind, project_id }, page), presentIncident);
    },

    getIncident: async (_context, { params: { id } }) => presentIncident(await existing(db, id)),

    closeIncident: async (context, { params: { id }, body: { reason } }) => {
      await existing(db, id);
      return {
        ...audited(services, authorOf(context), async (trx, now) => {
          const before = await existing(trx, id);
          const closed = await closeIncident(trx, id, { closed_by: 'operator', reason, now: now.getTime() });
          if (closed === undefined) throw new ServiceError('Conflict', 'The incident is closed already.');
          const [shown, after] = [presentIncident(before), presentIncident(closed)];
          // Without the merchant: incidents are for operators alone.
          const change = changeOf('incident.close', { id, merchant_id: null }, { before: shown, after });
          return { answer: after, change };
        }),
        async afterCommit() {
          await tellWorkflow(context.log, 'the workflow of the incident learns of its end later', (deadline_at) =>
            incidents.resume({ incident_id: id }, deadline_at),
          );
        },
      };
    },
  } satisfies Partial<ManageOperations>;
}

async function existing(db: Database, id: string): Promise<StoredIncident> {
  const incident = await findIncident(db, id);
  if (incident === undefined) throw new ServiceError('NotFound', 'The incident does not exist.');
  return incident;
}
