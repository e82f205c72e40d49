import type { ReceiverCheckAnswer } from '../../../src/contract/receiver-check';
import { createTestProject, type TestProject } from '../../support/operator';
import { startReceiver } from '../../support/servers';
import { until } from '../../support/waits';

const CHECK = '/v1/projects/self/receiver-check/';
jest.setTimeout(120_000);

test('rules 27.1: a live project, a private or missing address, and a second check at the same time are refused', async () => {
  const post = async ({ merchant }: TestProject, body: object = {}) => {
    const answer = await merchant.send<{ error?: { type: string } }>('POST', CHECK, { body });
    return `${answer.status} ${answer.body.error?.type ?? ''}`.trim();
  };
  const receiver = await startReceiver();
  receiver.answer((response) => void response.writeHead(500).end());
  try {
    const live = await createTestProject({ is_test: false, webhook_url: 'https://shop.example.com/' });
    const project = await createTestProject();
    expect([
      await post(live),
      await post(await createTestProject({ payment_methods: ['apple-pay'] }), { webhook_url: receiver.url }),
      await post(project),
      await post(project, { webhook_url: 'ftp://shop.example.com/' }),
    ]).toEqual(['403 Forbidden', '403 Forbidden', '400 ValidationError', '400 ValidationError']);
    const { body: running } = await project.merchant.send<ReceiverCheckAnswer>('POST', CHECK, {
      body: { webhook_url: receiver.url },
    });
    expect(await post(project, { webhook_url: receiver.url })).toBe('409 Conflict');
    await until('the check has ended', async () => {
      const { body } = await project.merchant.send<ReceiverCheckAnswer>(
        'GET',
        `/v1/projects/self/receiver-checks/${running.id}/`,
      );
      return body.status === 'done' && body.result === 'failed';
    });
    expect(await post(project, { webhook_url: receiver.url })).toBe('201');
  } finally {
    await receiver.close();
  }
});
