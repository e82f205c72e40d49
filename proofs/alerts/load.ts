import { Loop } from '../../src/loop';
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
  private readonly loop = new Loop(() => {
    if (this.in_flight.size < IN_FLIGHT_MAX) this.sendNext();
    return Promise.resolve(1_000 / this.rate);
  });

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
    load.loop.start();
    return load;
  }

  async stop(): Promise<void> {
    await this.loop.stop();
    await Promise.all(this.in_flight);
  }

  private sendNext(): void {
    const payment_method_details = { vault_token: this.tokens[this.card] };
    const transactions = [{ payment_method: 'credit-card', payment_method_details }];
    this.begin('/v1/orders/', { currency: 'EUR', amount: 1_250, transactions });
    if (this.sent % 8 === 0) this.begin('/v1/search/orders/', { query: 'status:completed' });
    this.sent += 1;
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
