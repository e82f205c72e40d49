import { projectSchema } from '../../../src/contract/project';
import { Merchant } from '../../support/merchant';
import { createTestProject, Operator } from '../../support/operator';
import { stack } from '../../support/stack';

const get = async (merchant: Merchant) =>
  projectSchema.parse((await merchant.send('GET', '/v1/merchants/self/projects/self/')).body);

test('is the project of the key: the test project with its key, the live one with the other', async () => {
  const [test, live] = [await get(new Merchant()), await get(new Merchant(stack(), stack().live_api_key))];
  expect([test.status, test.is_test, live.status, live.is_test]).toEqual(['active-testing', true, 'active', false]);
  expect(test.id).not.toBe(live.id);
  expect(test.merchant_id).toBe(live.merchant_id);
});

test('rules 16.1: answers the methods, currencies and webhook address of the project', async () => {
  const { id, merchant } = await createTestProject({
    name: 'Café ☕',
    webhook_url: 'https://shop.example/hook',
    currencies: ['EUR', 'KWD'],
    payment_methods: ['credit-card'],
  });
  expect(await get(merchant)).toMatchObject({
    id,
    name: 'Café ☕',
    webhook_url: 'https://shop.example/hook',
    currencies: ['EUR', 'KWD'],
    payment_methods: ['credit-card'],
    permissions: { '/payment-methods/credit-card/': { POST: true } },
  });
  expect(await get((await createTestProject()).merchant)).not.toHaveProperty('webhook_url');
});

test('rules 16.1, 21.10: a suspended project may make no payments', async () => {
  const operator = await Operator.signIn();
  const project = await operator.aProject();
  const merchant = await operator.aShop(project);
  await operator.update(project, { status: 'suspended' });
  const { status, permissions } = await get(merchant);
  expect([status, permissions]).toEqual(['suspended', { '/payment-methods/credit-card/': { POST: false } }]);
});
