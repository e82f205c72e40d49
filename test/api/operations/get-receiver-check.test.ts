import { randomUUID } from 'node:crypto';
import type { ReceiverCheckAnswer } from '../../../src/contract/receiver-check';
import { createTestProject, type TestProject } from '../../support/operator';
import { startReceiver } from '../../support/servers';

const path = (id: string) => `/v1/projects/self/receiver-checks/${id}/`;

test('rules 27.7: an unknown check is NotFound, one of another project Unauthorized', async () => {
  const receiver = await startReceiver();
  try {
    const [mine, other] = [await createTestProject({ webhook_url: receiver.url }), await createTestProject()];
    const begun = await mine.merchant.send<ReceiverCheckAnswer>('POST', '/v1/projects/self/receiver-check/');
    const status = async ({ merchant }: TestProject, id: string) => (await merchant.send('GET', path(id))).status;
    const { id } = begun.body;
    expect([begun.status, await status(mine, id)]).toEqual([201, 200]);
    expect([await status(other, id), await status(mine, randomUUID()), await status(mine, 'x')]).toEqual([
      401, 404, 400,
    ]);
  } finally {
    await receiver.close();
  }
});
