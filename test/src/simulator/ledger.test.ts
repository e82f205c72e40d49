import { randomUUID } from 'node:crypto';
import { ledgerEntrySchema } from '../../../src/processor/wire';
import { CONTROL_KEY, followUp, startTestSimulator, type TestSimulator } from './support';

let bench: TestSimulator;
beforeAll(async () => void (bench = await startTestSimulator()));
afterAll(() => bench.close());

test('fields of a follow-up: the ids of the payment order, its own in follow_up_order_id', async () => {
  const charge = await bench.charge('approved', { operation: 'authorize' });
  await bench.processor.execute(charge, `${charge.transaction_id}:charge`);
  const capture = followUp(charge, 'capture', 400);
  await bench.processor.execute(capture, `${charge.transaction_id}:capture`);
  const [, entry] = await bench.ledger(`?transaction_id=${charge.transaction_id}`);
  expect(entry).toEqual({
    operation: 'capture',
    idempotency_key: `${charge.transaction_id}:capture`,
    order_id: charge.order_id,
    transaction_id: charge.transaction_id,
    follow_up_order_id: capture.follow_up_order_id,
    amount: 400,
    currency: 'EUR',
    result: 'approved',
    response_code: '00',
    occurred: expect.any(String),
    requests: 1,
  });
  expect(ledgerEntrySchema.strict().parse(entry)).toEqual(entry);
});

test('pages hold everything once, oldest first, and the last one has no next', async () => {
  const keys = Array.from({ length: 5 }, () => randomUUID());
  const order_id = randomUUID();
  for (const key of keys) await bench.processor.execute(await bench.charge('approved', { order_id }), key);

  const seen: string[] = [];
  let next: string | undefined = `/ledger/?order_id=${order_id}&limit=2`;
  let pages = 0;
  while (next !== undefined) {
    const answer: Response = await bench.call(next);
    for (const entry of (await answer.json()) as { idempotency_key: string }[]) seen.push(entry.idempotency_key);
    next = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1];
    pages += 1;
  }
  expect({ seen, pages }).toEqual({ seen: keys, pages: 3 });
  expect((await bench.ledger()).map((entry) => entry.idempotency_key)).toEqual(expect.arrayContaining(keys));
});

test('a malformed query is refused', async () => {
  const headers = { authorization: `Bearer ${CONTROL_KEY}` };
  const answer = await fetch(`${bench.simulator.url}/ledger?transaction_id=x`, { headers });
  expect({ status: answer.status, body: await answer.json() }).toEqual({
    status: 400,
    body: { error: expect.any(String), field: 'transaction_id' },
  });
});
