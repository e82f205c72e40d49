import { setTimeout as sleep } from 'node:timers/promises';
import { numbersFrom } from './random';
import type { Merchant } from '../../test/support/merchant';
import { createTestProject } from '../../test/support/operator';
import { Shop, countUp, type Load, type LoadOptions, type ShopStory } from './shop';
import { STORIES } from './stories';

/** Orders of all kinds at a steady rate, as many merchants and their customers make them. */

const CURRENCIES = ['EUR', 'USD', 'JPY', 'KWD'];

/** Begins stories until all orders are begun, and returns when the last one has ended. */
export async function runLoad(options: LoadOptions): Promise<Load> {
  const { stack, seed, orders, per_second, merchants, webhook_url, say = () => undefined } = options;
  const { under_way_max = Number.POSITIVE_INFINITY } = options;
  const load: Load = { requests: [], processor_faults: {}, begun: {}, order_ids: [], unfinished: [] };
  const random = numbersFrom(seed);
  const shops: Merchant[] = [];
  for (let n = 0; n < merchants; n += 1) {
    const fields = { webhook_url, currencies: CURRENCIES, payment_methods: ['credit-card', 'apple-pay', 'google-pay'] };
    shops.push((await createTestProject(fields, stack)).merchant);
  }
  const stories = Object.entries(STORIES).flatMap(([name, { weight, play }]) => Array(weight).fill({ name, play }));
  const playing = new Set<Promise<void>>();
  const began = performance.now();
  for (let n = 0; n < orders; n += 1) {
    await sleep(Math.max(0, began + (n * 1_000) / per_second - performance.now()));
    while (playing.size >= under_way_max) await Promise.race(playing);
    const { name, play } = stories[Math.floor(random() * stories.length)] as { name: string; play: ShopStory };
    const merchant = shops[Math.floor(random() * shops.length)]!;
    const currency = CURRENCIES[Math.floor(random() * CURRENCIES.length)]!;
    // Each story has numbers of its own, so that it does the same whatever the others do meanwhile.
    const amount = 100 + Math.floor(random() * 9_900);
    const shop = new Shop(merchant, numbersFrom(seed * 1_000_003 + n), amount, currency, load, options);
    countUp(load.begun, name);
    const played = play(shop)
      .then(() => shop.finishAsides())
      .catch((error: unknown) => {
        const story = `${name} ${n}: ${String(error)}`;
        say(`not finished: ${story}`);
        load.unfinished.push(story);
      });
    const ended = played.finally(() => playing.delete(ended));
    playing.add(ended);
    if (n % 500 === 499) say(`${n + 1} orders begun, ${playing.size} of them under way`);
  }
  await options.onBegun?.();
  await Promise.all(playing);
  return load;
}
