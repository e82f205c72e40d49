import type { LedgerEntry } from '../../src/processor/wire';
import { callSimulator, stack, type SimulatorPlace } from './stack';

/** Everything the processor did for the order, or for all orders of a stack, oldest first. */
export async function readLedger(order_id?: string, place: SimulatorPlace = stack()): Promise<LedgerEntry[]> {
  const entries: LedgerEntry[] = [];
  let url: string | undefined = `/ledger/?limit=10000${order_id === undefined ? '' : `&order_id=${order_id}`}`;
  while (url !== undefined) {
    const page: Response = await callSimulator(place, url);
    entries.push(...((await page.json()) as LedgerEntry[]));
    url = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
  }
  return entries;
}

/** A merchant, who may read the processor's ledger. */
interface Bookkeeper {
  ledger(order_id?: string): Promise<LedgerEntry[]>;
}

/** What the processor did for an order, as `capture approved 300`, oldest first. */
export async function ledgerOf(merchant: Bookkeeper, { id }: { id: string }): Promise<string[]> {
  return (await merchant.ledger(id)).map(({ operation, result, amount }) => `${operation} ${result} ${amount}`);
}

export const entriesOf = async (
  merchant: Bookkeeper,
  { id }: { id: string },
  operation: string,
): Promise<LedgerEntry[]> => (await merchant.ledger(id)).filter((entry) => entry.operation === operation);
