import * as manage from '../../src/client/manage';
import { Merchant } from './client';
import { stack, type RunningStack } from './stack';

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
