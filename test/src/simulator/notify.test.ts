import { Webhook } from 'standardwebhooks';
import { notificationSchema, type OperationResult } from '../../../src/processor/wire';
import { startReceiver } from '../../support/servers';
import { setUp } from '../../support/set-up';
import { until } from '../../support/waits';
import { SECRET, startTestSimulator } from './support';

const receiver = setUp(startReceiver);
const bench = setUp(() => startTestSimulator({ notification_url: receiver.url }));
beforeEach(() => {
  receiver.received.splice(0);
  receiver.answer((response) => response.writeHead(204).end());
});

const about = (transaction_id: string): OperationResult[] =>
  receiver.received.flatMap(({ body }) => {
    const notification = notificationSchema.parse(JSON.parse(body));
    if (notification.type !== 'operation.updated') return [];
    return notification.operation.transaction_id === transaction_id ? [notification.operation] : [];
  });

test('rules 17.3: a late outcome is told, signed as Standard Webhooks, again until it is received', async () => {
  receiver.answer((response, n) => response.writeHead(n === 1 ? 500 : 204).end());
  const charge = await bench.charge('processing_approved');
  await bench.processor.execute(charge, charge.transaction_id);
  await bench.control('due', { transaction_id: charge.transaction_id });
  await until('two notifications came', () => receiver.received.length === 2);

  const [first, second] = receiver.received;
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  for (const { headers, body } of receiver.received) {
    expect(() => new Webhook(SECRET).verify(body, headers as Record<string, string>)).not.toThrow();
  }
  expect(about(charge.transaction_id)).toEqual(
    Array(2).fill(await bench.processor.findOperation(charge.transaction_id, {})),
  );
  expect(bench.lines.join('')).toContain('notification was not received');
});

test('a chargeback and its reversal are told and in the ledger, once each', async () => {
  const charge = await bench.charge('chargeback_won');
  await bench.processor.execute(charge, charge.transaction_id);
  await Promise.all([bench.control('due', charge), bench.control('due', charge)]);
  await bench.control('due', charge);
  await bench.control('due', charge);
  const told = await until('the chargeback is notified', () =>
    about(charge.transaction_id).length === 2 ? about(charge.transaction_id) : undefined,
  );
  expect(told.map(({ operation }) => operation).sort()).toEqual(['chargeback', 'chargeback_reversal']);
  expect(await bench.ledger(`?order_id=${charge.order_id}`)).toMatchObject([
    { operation: 'sale', result: 'approved' },
    { operation: 'chargeback', result: 'approved', amount: 1_000 },
    { operation: 'chargeback_reversal', result: 'approved', amount: 1_000 },
  ]);
});

test('the control API charges back any payment, beyond what is there too, and repeats a notification', async () => {
  const charge = await bench.charge('approved');
  await bench.processor.execute(charge, charge.transaction_id);
  await bench.control('chargebacks', { transaction_id: charge.transaction_id, amount: 1_500 });
  const [told] = await until('the notification came', () =>
    about(charge.transaction_id).length ? about(charge.transaction_id) : undefined,
  );
  expect(told).toMatchObject({ operation: 'chargeback', amount: 1_500 });
  await bench.control('notifications', { idempotency_key: told?.idempotency_key });
  await until('both notifications came', () => (about(charge.transaction_id).length === 2 ? true : undefined));
  await expect(bench.control('notifications', { idempotency_key: 'nobody' })).rejects.toThrow('404');
});
