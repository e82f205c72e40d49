import { connectDatabase } from '../../src/db/connection';
import { withDatabaseName } from '../support/database';
import { CARDS } from '../support/domain';
import { Merchant, type RefusalName, type Request } from '../support/merchant';
import { createTestProject } from '../support/operator';
import { stack } from '../support/stack';

/** Rules 3.2: what is refused is not stored and not charged, whichever part of the service refuses it. */
const db = connectDatabase(stack().postgres_url, { pool_max: 2 });
/** The processor's own database, whose operations have the project. */
const simulator = connectDatabase(withDatabaseName(stack().postgres_url, 'simulator'), { pool_max: 2 });
afterAll(() => Promise.all([db.destroy(), simulator.destroy()]));

let merchant: Merchant;
let project_id: string;
let vault_token: string;
let foreign_token: string;
beforeAll(async () => {
  ({ merchant, id: project_id } = await createTestProject({ currencies: ['EUR', 'JPY'] }));
  vault_token = await merchant.vaultToken(CARDS.approved.number);
  foreign_token = await new Merchant().vaultToken(CARDS.approved.number);
});

/** A good order that would be charged at once, but for what `over` makes of it. */
const order = (over: Record<string, unknown>, token = vault_token): Request => ({
  body: {
    currency: 'EUR',
    amount: 100,
    transactions: [{ payment_method: 'credit-card', payment_method_details: { vault_token: token } }],
    ...over,
  },
});
const TOKEN = 'transactions.0.payment_method_details.vault_token';

test.each<[title: string, request: () => Request, property_path: string]>([
  ['by the project: a currency', () => order({ currency: 'USD' }), 'currency'],
  [
    'by the project: a method',
    () => order({ transactions: [{ payment_method: 'apple-pay' }] }),
    'transactions.0.payment_method',
  ],
  ['by the vault: an unknown token', () => order({}, 'nobody'), TOKEN],
  ['by the vault: the token of another project', () => order({}, foreign_token), TOKEN],
  ['by the contract: a card number', () => order({ description: `paid with ${CARDS.approved.number}` }), 'description'],
  ['by its headers', () => ({ ...order({}), headers: { 'idempotency-key': 'k'.repeat(256) } }), 'Idempotency-Key'],
])('rules 3.2: refused %s', async (_title, request, property_path) => {
  const { status, body } = await merchant.send<{ error: RefusalName }>('POST', '/v1/orders/', request());
  expect([status, body.error]).toMatchObject([400, { type: 'ValidationError', property_path }]);
  expect(JSON.stringify(body)).not.toMatch(/4111[\d ]{8}/);
});

test('rules 3.2: the record and the ledger are as empty as before', async () => {
  expect(await db('orders').where({ project_id })).toEqual([]);
  expect(await simulator('operations').where({ project_id })).toEqual([]);
  // And the same request, in order, is charged.
  const paid = await merchant.send<{ status: string }>('POST', '/v1/orders/', order({}));
  expect([paid.status, paid.body.status]).toEqual([200, 'completed']);
  expect(await simulator('operations').where({ project_id })).toHaveLength(1);
});
