import { randomUUID } from 'node:crypto';
import { findMerchant, updateMerchant } from '../../../../src/db/projects/merchants';
import { findProject, findStoredProject, updateProject, upsertProject } from '../../../../src/db/projects/projects';
import { createTestDatabase, secrets } from '../../../support/database';
import { PROJECT } from '../../../support/domain';
import { setUp } from '../../../support/set-up';

const database = setUp(() => createTestDatabase());
const NOW = new Date(0);

test('a project that is there keeps all but its webhook address', async () => {
  const project = {
    id: randomUUID(),
    name: 'One',
    is_test: true,
    payment_methods: ['credit-card'],
    currencies: ['EUR'],
  };
  await upsertProject({ db: database.db, secrets }, PROJECT.merchant_id, project, NOW);
  const secret = await database.db('projects').where({ id: project.id }).first('webhook_secret');
  await upsertProject(
    { db: database.db, secrets },
    PROJECT.merchant_id,
    {
      ...project,
      name: 'Two',
      webhook_url: 'https://shop.example/',
      payment_methods: ['apple-pay'],
      account_funding: true,
    },
    NOW,
  );
  expect(await findProject(database.db, project.id)).toMatchObject({
    name: 'One',
    webhook_url: 'https://shop.example/',
    payment_methods: ['credit-card'],
    account_funding: false,
    expiration_period: 'PT30M',
    capture_expiration_period: 'P5D',
  });
  expect(await database.db('projects').where({ id: project.id }).first('webhook_secret')).toEqual(secret);
});

test('a change by a machine whose clock is behind does not set `modified` back', async () => {
  const { db } = database;
  const behind = new Date(0);
  const merchant = (await findMerchant(db, PROJECT.merchant_id))!;
  const project = (await findStoredProject(db, PROJECT.id))!;
  const { created: _created, modified: _modified, ...fields } = merchant;
  await updateMerchant(db, { ...fields, name: 'Renamed' }, behind);
  await updateProject(db, PROJECT.id, { name: 'Renamed' }, behind);
  expect(await findMerchant(db, PROJECT.merchant_id)).toEqual({ ...merchant, name: 'Renamed' });
  expect(await findStoredProject(db, PROJECT.id)).toMatchObject({ name: 'Renamed', modified: project.modified });
});
