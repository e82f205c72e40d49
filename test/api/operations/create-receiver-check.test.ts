import { recordRows } from '../../support/database';
import { createTestProject, type TestProject } from '../../support/operator';
import { startReceiver } from '../../support/servers';

const CHECK = '/v1/projects/self/receiver-check/';

test('rules 27.1: a live project, a private or missing address, and a second check at the same time are refused', async () => {
  const post = async ({ merchant }: TestProject, body: object = {}) => {
    const answer = await merchant.send<{ error?: { type: string } }>('POST', CHECK, { body });
    return `${answer.status} ${answer.body.error?.type ?? ''}`.trim();
  };
  const receiver = await startReceiver();
  try {
    const live = await createTestProject({ is_test: false, webhook_url: 'https://shop.example.com/' });
    const project = await createTestProject();
    expect([
      await post(live),
      await post(await createTestProject({ payment_methods: ['apple-pay'] }), { webhook_url: receiver.url }),
      await post(project),
      await post(project, { webhook_url: 'ftp://shop.example.com/' }),
    ]).toEqual(['403 Forbidden', '403 Forbidden', '400 ValidationError', '400 ValidationError']);
    await recordRows(
      `insert into receiver_checks (id, project_id, webhook_url, created)
       values (gen_random_uuid(), :project_id, :webhook_url, now())`,
      { project_id: project.id, webhook_url: receiver.url },
    );
    expect(await post(project, { webhook_url: receiver.url })).toBe('409 Conflict');
    await recordRows(
      `update receiver_checks set reason = 'A test stopped it.', completed = now() where project_id = :project_id`,
      { project_id: project.id },
    );
    expect(await post(project, { webhook_url: receiver.url })).toBe('201');
  } finally {
    await receiver.close();
  }
});
