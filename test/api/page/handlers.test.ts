import { payByWallet, type PageContext } from '../../../api/page/handlers';
import { suspendedState, type Payable, type PaymentState } from '../../../api/page/payable';
import type { FormResult } from '../../../api/page/respond';
import { OutcomeUnknown, ServiceError } from '../../../src/errors';

/** What the page of a form shows when the project was suspended while the form was carried out: `pay` is its answer. */
async function resultOf(pay: (suspended: Payable) => Promise<Payable>): Promise<FormResult> {
  const payable = {
    methods: ['apple-pay'],
    state: { kind: 'payable', attempt: 1 } as PaymentState,
  } as unknown as Payable;
  const suspended = { ...payable, state: suspendedState(undefined) };
  const found = [payable, suspended];
  const shown: FormResult[] = [];
  const context = {
    payables: { find: async () => found.shift(), pay: () => pay(suspended) },
    processor: { vaultWallet: async () => ({}) },
    deadline_ms: 5_000,
    csrf: { isValid: () => true, payer: () => undefined },
    limitForms: () => undefined,
    respond: async (_request: unknown, _response: unknown, _payable: unknown, _cause: unknown, result: FormResult) =>
      void shown.push(result),
  } as unknown as PageContext<Payable>;
  const request = { params: { id: 'o-1' }, body: { attempt: '1', payment_method: 'apple-pay' } };
  const response = { getHeader: () => 'request' };
  await payByWallet(context)(request as never, response as never, () => undefined);
  return shown[0]!;
}

test.each<[string, (suspended: Payable) => Promise<Payable>, FormResult['waiting_for']]>([
  ['without an outcome', () => Promise.reject(new OutcomeUnknown()), 'unknown_charge'],
  ['that the record does not show in time', async (suspended) => suspended, 'unknown_charge'],
  ['that was refused', () => Promise.reject(new ServiceError('Forbidden', 'Why.')), undefined],
])('rules 21.10: the project was suspended during a form %s', async (_title, pay, waiting_for) => {
  expect((await resultOf(pay)).waiting_for).toBe(waiting_for);
});
