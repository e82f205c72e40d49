import { randomUUID } from 'node:crypto';
import { recordRows } from '../../support/database';
import { createTestProject, type TestProject } from '../../support/operator';

const path = (id: string) => `/v1/projects/self/receiver-checks/${id}/`;

test('rules 27.7: an unknown check is NotFound, one of another project Unauthorized', async () => {
  const [mine, other] = [await createTestProject(), await createTestProject()];
  const id = randomUUID();
  await recordRows(
    `insert into receiver_checks (id, project_id, webhook_url, reason, created, completed)
     values (:id, :project_id, 'https://shop.example/', 'A test stopped it.', now(), now())`,
    { id, project_id: mine.id },
  );
  const status = async ({ merchant }: TestProject, of: string) => (await merchant.send('GET', path(of))).status;
  expect(await status(mine, id)).toBe(200);
  expect([await status(other, id), await status(mine, randomUUID()), await status(mine, 'x')]).toEqual([401, 404, 400]);
});
