import { WALLETS, type OperationResult, type Wallet } from '../../../src/processor/wire';
import { KEY, startTestSimulator } from './support';
import { setUp } from '../../support/set-up';

const bench = setUp(startTestSimulator);

const BRANDS: Record<Wallet, string> = { 'apple-pay': 'visa', 'google-pay': 'mastercard' };
const WALLET_MODES = WALLETS.flatMap((payment_method) => [true, false].map((is_test) => ({ payment_method, is_test })));

async function charge(vault_token: string, fields: { is_test: boolean; project_id?: string }): Promise<string> {
  const operation = await bench.charge('approved', { ...fields, vault_token });
  const { result, response_code } = (await bench.processor.execute(
    operation,
    operation.transaction_id,
  )) as OperationResult;
  return [result, response_code].join(' ').trim();
}

async function post(body: unknown, authorization = `Bearer ${KEY}`): Promise<{ status: number; field: unknown }> {
  const headers = { authorization, 'content-type': 'application/json' };
  const answer = await fetch(`${bench.simulator.url}/v1/vault/wallets/`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  return { status: answer.status, field: ((await answer.json()) as { field?: unknown }).field };
}

test.each(WALLET_MODES)(
  '$payment_method, test: $is_test: a device card that is approved in that book and declined in the other',
  async (wallet) => {
    const { project_id } = bench;
    const card = await bench.processor.vaultWallet({ project_id, ...wallet });
    expect(card).toEqual({
      vault_token: expect.stringMatching(/^vt_/),
      brand: BRANDS[wallet.payment_method],
      wallet: wallet.payment_method,
      truncated_pan: expect.stringMatching(/^\d{6}\*{6}\d{4}$/),
      card_expiry: `12${new Date().getUTCFullYear() + 3}`,
    });
    expect(await bench.processor.getVaultedCard(card.vault_token, project_id)).toEqual(card);
    expect(await charge(card.vault_token, { is_test: wallet.is_test })).toBe('approved 00');
    expect(await charge(card.vault_token, { is_test: !wallet.is_test })).toBe('declined 14');
  },
);

test.each<[string, Record<string, unknown>, string]>([
  ['a method that is no wallet', { payment_method: 'credit-card' }, 'payment_method'],
  ['no method', { payment_method: undefined }, 'payment_method'],
  ['no project', { project_id: undefined }, 'project_id'],
  ['a book that is none', { is_test: 'yes' }, 'is_test'],
])('%s is refused by its field', async (_title, over, field) => {
  expect(await post({ project_id: bench.project_id, is_test: true, payment_method: 'apple-pay', ...over })).toEqual({
    status: 400,
    field,
  });
});

test('a forged key gets no token', async () => {
  expect(
    await post({ project_id: bench.project_id, is_test: true, payment_method: 'apple-pay' }, 'Bearer forged'),
  ).toMatchObject({ status: 401 });
});
