import { webhookRecoverySchema } from '../../../src/contract/webhook-recovery';
import type { RefusalName } from '../../support/merchant';
import { createTestProject } from '../../support/operator';
import { aRecovery } from '../../support/database';
import { NOBODY } from '../../support/shapes';

test('rules 13.18: a recovery of the project is shown; one of another project is 401, an unknown one 404', async () => {
  const [{ id: project_id, merchant }, other] = [await createTestProject(), await createTestProject()];
  const id = await aRecovery(project_id);
  const path = `/v1/webhooks/recoveries/${id}/`;
  const { status, body } = await merchant.send('GET', path);
  expect(status).toBe(200);
  expect(webhookRecoverySchema.parse(body)).toMatchObject({ id, project_id, status: 'paused', paused_by: 'request' });
  const refused = async (who: typeof merchant, at: string) => {
    const { status: code, body: answer } = await who.send<{ error: RefusalName }>('GET', at);
    return [code, answer.error.type];
  };
  expect(await refused(other.merchant, path)).toEqual([401, 'Unauthorized']);
  expect(await refused(merchant, `/v1/webhooks/recoveries/${NOBODY}/`)).toEqual([404, 'NotFound']);
});
