import { isDeepStrictEqual } from 'node:util';
import { v7 as uuidv7 } from 'uuid';
import type { ManageRoutes } from '../../../src/contract/manage/manage-api';
import type { Input } from '../../../src/contract/routes';
import type { SqlTransaction } from '../../../src/db/query';
import { findMerchant } from '../../../src/db/projects/merchants';
import {
  countProjects,
  findStoredProject,
  insertProject,
  listProjects,
  updateProject,
  type ProjectChange,
  type StoredProject,
} from '../../../src/db/projects/projects';
import { rollWebhookSecret, webhookSecretOf } from '../../../src/db/webhooks/webhook-secrets';
import { overlapEnd } from '../../../src/domain/duration';
import { ServiceError } from '../../../src/errors';
import { carryOut } from '../../operation';
import { requireProjectAccepts } from '../../requests/project-rules';
import { presentPage } from '../../present/format';
import { requireOperator, requireOwn, type ManageOperations, type ManageServices, type Manager } from '../manager';
import { audited, changeOf } from '../../requests/audited';
import { authorOf } from '../../requests/author';
import { presentProject, presentWebhookSecret } from '../present';
import { ownMerchant } from './merchants';

type Update = Input<ManageRoutes['updateProject']>['body'];

/**
 * Projects of a merchant up to which its own clients make further ones (rules 21.24): many limits count for each
 * project.
 */
const PROJECTS_MAX = 100;

/** The accounts of a merchant (rules 21.9, 21.10, 21.20, 21.24). */
export function projectOperations(services: ManageServices) {
  const { db, secrets } = services;
  const stored = async (trx: SqlTransaction, id: string) => presentProject((await findStoredProject(trx, id))!);

  return {
    async listProjects({ caller }, { params: { merchant_id }, query }) {
      ownMerchant(caller, await findMerchant(db, merchant_id));
      return presentPage(await listProjects(db, merchant_id, query), presentProject);
    },

    createProject: async (context, { params: { merchant_id }, body }) =>
      audited(services, authorOf(context), async (trx, now) => {
        const { default_currency } = ownMerchant(context.caller, await findMerchant(trx, merchant_id, 'lock'));
        if (body.account_funding === true) requireOperator(context.caller, 'enable account funding');
        if (context.caller.role === 'merchant' && (await countProjects(trx, merchant_id)) >= PROJECTS_MAX) {
          throw new ServiceError(
            'Conflict',
            `The merchant has ${PROJECTS_MAX} projects. Ask an operator for further ones.`,
          );
        }
        const { payment_methods = ['credit-card'], currencies = [default_currency], ...fields } = body;
        const project = { ...fields, id: uuidv7(), payment_methods, currencies };
        requireProjectAccepts(services, project, { webhook_url: body.webhook_url });
        await insertProject({ db: trx, secrets }, merchant_id, project, now);
        const after = await stored(trx, project.id);
        return { answer: after, change: changeOf('project.create', after, { after }) };
      }),

    getManagedProject: async ({ caller }, { params: { project_id } }) =>
      presentProject(ownProject(caller, await findStoredProject(db, project_id))),

    updateProject: async (context, { params: { project_id }, body }) =>
      audited(services, authorOf(context), async (trx, now) => {
        const project = ownProject(context.caller, await findStoredProject(trx, project_id, 'lock'));
        const before = presentProject(project);
        const wanted = changeWanted(context.caller, project, body);
        requireProjectAccepts(services, project, { webhook_url: wanted.webhook_url });
        if (Object.keys(wanted).length === 0) return { answer: before };
        await updateProject(trx, project_id, wanted, now);
        const after = await stored(trx, project_id);
        return { answer: after, change: changeOf('project.update', after, { before, after }) };
      }),

    // Reading it is an entry, too (rules 21.22).
    getWebhookSecret: async (context, { params: { project_id } }) =>
      carryOut(
        audited(services, authorOf(context), async (trx, now) => {
          const { merchant_id } = ownProject(context.caller, await findStoredProject(trx, project_id));
          const answer = presentWebhookSecret(project_id, await webhookSecretOf({ db: trx, secrets }, project_id, now));
          const object = { kind: 'project', id: project_id };
          return { answer, change: { action: 'webhook_secret.read', object, merchant_id } };
        }),
      ),

    rollWebhookSecret: async (context, { params: { project_id }, body: { overlap = 'PT24H' } }) =>
      audited(services, authorOf(context), async (trx, now) => {
        const { merchant_id } = ownProject(context.caller, await findStoredProject(trx, project_id, 'lock'));
        await rollWebhookSecret({ db: trx, secrets }, project_id, overlapEnd(overlap, now));
        const answer = presentWebhookSecret(project_id, await webhookSecretOf({ db: trx, secrets }, project_id, now));
        const { secret: _secret, ...after } = answer;
        const object = { kind: 'project', id: project_id };
        return { answer, change: { action: 'webhook_secret.roll', object, merchant_id, after } };
      }),
  } satisfies Partial<ManageOperations>;
}

/** The changed fields. Throws Forbidden for fields that only an operator may change. */
function changeWanted(caller: Manager, before: StoredProject, body: Update): ProjectChange {
  const { status } = body;
  const wanted = status === undefined ? body : { ...body, suspended_by: suspendedBy(caller, before, status) };
  const changed = Object.fromEntries(
    Object.entries(wanted).filter(([field, value]) => !isDeepStrictEqual(value, before[field as keyof StoredProject])),
  ) as ProjectChange;
  if (changed.account_funding !== undefined) requireOperator(caller, 'change account_funding');
  return changed;
}

/**
 * Who has suspended the project when it has this status. An operator who suspends what the merchant has suspended takes
 * the suspension over, never the other way round (rules 21.20). Throws Forbidden when the caller may not activate it.
 */
function suspendedBy(
  caller: Manager,
  before: StoredProject,
  status: StoredProject['status'],
): StoredProject['suspended_by'] {
  const isOperators = before.suspended_by === 'operator';
  if (status === 'suspended') return isOperators ? 'operator' : caller.role;
  if (isOperators && caller.role !== 'operator') {
    throw new ServiceError('Forbidden', 'An operator has suspended the project, and only an operator can activate it.');
  }
  return null;
}

/** The project, when it is of the caller's merchant. Throws NotFound. */
export function ownProject(caller: Manager, project: StoredProject | undefined): StoredProject {
  return requireOwn(caller, project, project?.merchant_id, 'project');
}
