import { Router } from 'express';
import { z } from 'zod';
import { parse } from './parse';
import { presentLedgerEntry } from './present';
import type { Store } from './store';

const querySchema = z.object({
  transaction_id: z.uuid().optional(),
  order_id: z.uuid().optional(),
  limit: z.coerce.number().int().min(1).max(10_000).default(1_000),
  /** Idempotency key of the last entry of the page before. */
  after: z.string().min(1).max(600).optional(),
});

/** `GET /ledger/`: what the processor did, oldest first; the next page is in the `Link` header. */
export function ledger(store: Store): Router {
  const router = Router();
  router.get('/', async (req, res) => {
    const { limit, ...filter } = parse(querySchema, req.query);
    const rows = await store.ledger({ ...filter, limit: limit + 1 });
    const entries = rows.slice(0, limit).map(presentLedgerEntry);
    const last = entries.at(-1);
    if (rows.length > limit && last) {
      const next = new URLSearchParams({ ...withoutAbsent(filter), limit: String(limit), after: last.idempotency_key });
      res.set('Link', `<${req.protocol}://${req.get('host') ?? ''}${req.baseUrl}/?${next}>; rel="next"`);
    }
    res.json(entries);
  });
  return router;
}

function withoutAbsent(filter: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(filter).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
