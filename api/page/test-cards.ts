import type { Logger } from '../../src/log';
import type { Processor } from '../../src/processor/client';
import type { TestCard } from '../../src/processor/wire';

/** How long the processor's table, or its absence, is remembered, in milliseconds. */
const FRESH_MS = 60_000;
const MISSING_MS = 5_000;

/** The processor's published test cards; if it does not answer, the last known ones, or undefined if there are none. */
export function createTestCards(
  processor: Pick<Processor, 'testCards'>,
  log: Logger,
): () => Promise<readonly TestCard[] | undefined> {
  let known: readonly TestCard[] | undefined;
  let until = 0;
  let asking: Promise<void> | undefined;

  async function ask(): Promise<void> {
    try {
      known = await processor.testCards();
      until = Date.now() + FRESH_MS;
    } catch {
      // The processor's client has logged why; the page works without the table.
      log.warn('cannot refresh the test cards of the hosted page');
      until = Date.now() + MISSING_MS;
    }
  }

  return async () => {
    if (Date.now() >= until) {
      asking ??= ask().finally(() => {
        asking = undefined;
      });
      await asking;
    }
    return known;
  };
}

/** The values that one click on a test card puts into the form; published values only. */
export interface Prefilled {
  number: string;
  card_expiry: string;
  security_code: string;
  cardholder_name: string;
}

/** A test card as the form shows it. `now` in epoch milliseconds: any future expiry works. */
export function prefill(card: TestCard, cardholder_name: string, now: number): Prefilled {
  const year = String(new Date(now).getUTCFullYear() + 2).slice(2);
  return {
    number: grouped(card.number),
    card_expiry: `12 / ${year}`,
    security_code: card.brand === 'american-express' ? '1234' : '123',
    cardholder_name,
  };
}

/** A card number in groups of four, as it is printed. */
export function grouped(number: string): string {
  return number.replace(/(\d{4})(?=\d)/g, '$1 ');
}
