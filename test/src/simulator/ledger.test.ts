import { randomUUID } from 'node:crypto';
import { startTestSimulator } from './support';
import { setUp } from '../../support/set-up';

const bench = setUp(startTestSimulator);

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
