import pino from 'pino';
import { v7 as uuidv7 } from 'uuid';
import type { ManageContext, ManageServices } from '../../api/manage/manager';
import { deliveryOperations } from '../../api/manage/operations/deliveries';
import { carryOut, type Write } from '../../api/operation';
import * as manage from '../../src/client/manage';
import type { DeliveryAnswer } from '../../src/contract/delivery';
import { withDatabase } from '../../src/db/connection';
import { insertApiKey, newApiKey } from '../../src/db/projects/api-keys';
import { insertMerchant } from '../../src/db/projects/merchants';
import { upsertProject, type NewProject } from '../../src/db/projects/projects';
import { webhookSecretOf } from '../../src/db/webhooks/webhook-secrets';
import type { DeliveryKey } from '../../src/domain/delivery';
import { SecretKeys } from '../../src/secrets';
import { aRequest } from './domain';
import { Merchant } from './merchant';
import { stack, type RunningStack } from './stack';

export type TestProject = Awaited<ReturnType<typeof createTestProject>>;

/** A merchant of a test's own with one project, on the run's stack or another. */
export async function createTestProject(fields: Partial<NewProject> = {}, on: RunningStack = stack()) {
  return await withDatabase(on.postgres_url, async (db) => {
    const secrets = new SecretKeys(on.secret_keys);
    const [merchant_id, id, now] = [uuidv7(), fields.id ?? uuidv7(), new Date()];
    const { is_test = true } = fields;
    const api_key = newApiKey({ is_test });
    const merchant = { id: merchant_id, name: 'Another merchant', country: 'NL', default_currency: 'EUR' };
    await insertMerchant(db, merchant, now);
    await upsertProject(
      { db, secrets },
      merchant_id,
      { name: 'Another project', payment_methods: ['credit-card'], currencies: ['EUR'], ...fields, id, is_test },
      now,
    );
    await insertApiKey({ db, secrets }, id, api_key, now);
    const { secret } = await webhookSecretOf({ db, secrets }, id, now);
    return { id, merchant: new Merchant(on, api_key), webhook_secret: secret };
  });
}

type Project = Awaited<ReturnType<Operator['aProject']>>;

/** The demo operator of a stack, who makes merchants, projects and keys for tests and looks after their webhooks. */
export class Operator {
  private constructor(readonly options: Parameters<typeof manage.listMerchants>[1]) {}

  /** `on`: the stack; absent, that of the run. */
  static async signIn(on: RunningStack = stack()): Promise<Operator> {
    const { manage_url: url, operator_client_id: client_id, operator_client_secret: client_secret } = on;
    return new Operator(await manage.manager({ url, client_id, client_secret }));
  }

  /** A merchant of its own with a project. */
  async aProject(fields: Partial<manage.ProjectRequest> = {}): Promise<manage.Project> {
    const merchantRequest = { name: 'Map Shop', country: 'NL', default_currency: 'EUR' };
    const merchant = await manage.ok(manage.createMerchant({ merchantRequest }, this.options));
    const projectRequest = { name: 'Map Shop, test', is_test: true, ...fields };
    return await manage.ok(manage.createProject({ merchantId: merchant.id, projectRequest }, this.options));
  }

  async aKey({ id }: Pick<Project, 'id'>): Promise<manage.NewApiKey> {
    return await manage.ok(manage.createApiKey({ projectId: id }, this.options));
  }

  /** A merchant that calls with a new key of the project. */
  async aShop(project: Pick<Project, 'id'>): Promise<Merchant> {
    return new Merchant(stack(), (await this.aKey(project)).key);
  }

  /** The n-th webhook of an order. */
  async delivery(order_id: string, n = 1): Promise<manage.Delivery> {
    return await manage.ok(manage.getDelivery({ id: `${order_id}-${n}` }, this.options));
  }

  /** The answer to a request about the n-th webhook of an order: its status and the status of the delivery. */
  async ask(
    request: 'deliverNow' | 'pauseDelivery' | 'resumeDelivery' | 'redeliver',
    order_id: string,
    n = 1,
  ): Promise<string> {
    const { status, data } = await manage[request]({ id: `${order_id}-${n}` }, this.options);
    return 'error' in data ? `${status} ${data.error.type}` : `${status} ${data.status}`;
  }

  async roll({ id }: Pick<manage.NewApiKey, 'id'>, overlap: string): Promise<manage.NewApiKey> {
    const apiKeyRollRequest = { overlap };
    return await manage.ok(manage.rollApiKey({ id, apiKeyRollRequest }, this.options));
  }

  async revoke({ id }: Pick<manage.NewApiKey, 'id'>): Promise<void> {
    const { status } = await manage.revokeApiKey({ id }, this.options);
    if (status !== 204) throw new Error(`not revoked: ${status}`);
  }

  async update({ id }: Pick<Project, 'id'>, projectUpdate: manage.ProjectUpdate): Promise<manage.Project> {
    return await manage.ok(manage.updateProject({ projectId: id, projectUpdate }, this.options));
  }
}

/** What an operator asks for at the command line, carried out with these services. */
export async function requestOfOperator(
  services: Pick<ManageServices, 'db' | 'deliveries'>,
  { order_id, n }: DeliveryKey,
  operation: 'deliverNow' | 'pauseDelivery' | 'resumeDelivery',
): Promise<DeliveryAnswer> {
  const context = {
    caller: { id: 'tester', log: {}, actor: { kind: 'command_line', id: 'tester' }, role: 'operator' },
    request: aRequest(),
    log: pino({ level: 'silent' }),
  } as unknown as ManageContext;
  const run = deliveryOperations(services)[operation];
  return await carryOut((await run(context, { params: { id: `${order_id}-${n}` } })) as Write<DeliveryAnswer>);
}

/** A Temporal that does not answer: no workflow learns of anything. */
export const UNREACHABLE: ManageServices['deliveries'] = {
  start: () => Promise.reject(new Error('unavailable')),
  resume: () => Promise.reject(new Error('unavailable')),
};
