import { setTimeout as sleep } from 'node:timers/promises';
import { createTestProject } from '../../test/support/operator';
import { CARDS, type CardName } from '../../test/support/domain';
import { newIdempotencyKey, type Merchant } from '../../test/support/merchant';
import type { RunningStack } from '../../test/support/stack';

/** More requests than this are not under way at once: a stopped server holds each for seconds. */
const IN_FLIGHT_MAX = 250;

/** Orders a second, unless a fault changes it. */
export const RATE = 4;

/** A merchant that charges card tokens and searches at a steady rate, whatever the answers are. */
export class SteadyLoad {
  /** Of the following orders. */
  card: CardName = 'approved';
  /** Orders a second. */
  rate = RATE;
  /** Orders that were sent. */
  sent = 0;
  private in_flight = new Set<Promise<void>>();
  private readonly over = new AbortController();
  private running: Promise<void> = Promise.resolve();

  private constructor(
    private readonly merchant: Merchant,
    private readonly tokens: Readonly<Partial<Record<CardName, string>>>,
  ) {}

  /** `webhook_url`: where its webhooks go. */
  static async start(stack: RunningStack, webhook_url: string): Promise<SteadyLoad> {
    const { merchant } = await createTestProject({ webhook_url }, stack);
    const cards: CardName[] = ['approved', 'do_not_honor'];
    const tokens: Partial<Record<CardName, string>> = {};
    for (const card of cards) tokens[card] = await merchant.vaultToken(CARDS[card].number);
    const load = new SteadyLoad(merchant, tokens);
    load.running = load.run();
    return load;
  }

  async stop(): Promise<void> {
    this.over.abort();
    await this.running;
    await Promise.all(this.in_flight);
  }

  private async run(): Promise<void> {
    for (let n = 0; !this.over.signal.aborted; n += 1) {
      const pause = sleep(1_000 / this.rate, undefined, { signal: this.over.signal }).catch(() => undefined);
      if (this.in_flight.size < IN_FLIGHT_MAX) {
        this.begin('/v1/orders/', {
          currency: 'EUR',
          amount: 1_250,
          transactions: [
            { payment_method: 'credit-card', payment_method_details: { vault_token: this.tokens[this.card] } },
          ],
        });
        this.sent += 1;
        if (n % 8 === 0) this.begin('/v1/search/orders/', { query: 'status:completed' });
      }
      await pause;
    }
  }

  /** Sends a request, and takes any answer, or none. */
  private begin(path: string, body: object): void {
    const headers = { 'idempotency-key': newIdempotencyKey() };
    const sent: Promise<void> = this.merchant
      .send('POST', path, { body, headers })
      .then(
        () => undefined,
        () => undefined,
      )
      .finally(() => this.in_flight.delete(sent));
    this.in_flight.add(sent);
  }
}
