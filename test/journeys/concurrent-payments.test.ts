import { CARD, Client, createPageOrder, readStatuses } from '../support/customer';
import { CARDS } from '../support/domain';
import { Merchant } from '../support/merchant';
import { RACES, until } from '../support/waits';

const ORDERS = Math.min(RACES, 200);
const AT_ONCE = 4;
/** Orders under way at a time: as many as two cores answer within the page's ten seconds. */
const LANES = 8;

/** In a run that kills its worker every order waits for the next one. */
const TIME_LIMIT_MS = process.env['KILL_WORKER'] === 'true' ? 600_000 : 300_000;

/** The same form sent several times at once, as double clicks and tabs do, each with another card. */
async function payAtOnce(): Promise<{ id: string; statuses: string }> {
  const { id } = await createPageOrder();
  const customer = new Client();
  const form = await customer.openPage({ id });
  const cards = [CARDS.approved, CARDS.approved_mastercard, CARDS.frictionless, CARDS.approved];
  await Promise.all(
    cards.slice(0, AT_ONCE).map(({ number }) => customer.postForm(`/pay/${id}/`, { ...CARD, number, ...form })),
  );
  // Known at once, unless the worker is killed meanwhile: whoever was told that nothing was charged presses again.
  const statuses = await until(
    `the order ${id} is paid`,
    async () => {
      const now = await readStatuses(id);
      if (now.startsWith('new')) {
        await customer.postForm(`/pay/${id}/`, {
          ...CARD,
          number: CARDS.approved.number,
          ...(await customer.openPage({ id })),
        });
      }
      return now.startsWith('completed') && now;
    },
    60_000,
  );
  return { id, statuses };
}

test(
  `${ORDERS} orders, each paid ${AT_ONCE} times at once: one charge each, counted at the processor`,
  async () => {
    const ended: Awaited<ReturnType<typeof payAtOnce>>[] = [];
    let begun = 0;
    const lane = async () => {
      while (begun < ORDERS) {
        begun += 1;
        ended.push(await payAtOnce());
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    expect(ended.map(({ statuses }) => statuses)).toEqual(Array(ORDERS).fill('completed: accepted'));
    const ids = new Set(ended.map(({ id }) => id));
    const charges = (await new Merchant().ledger()).filter(({ order_id }) => ids.has(order_id));
    expect(charges.map(({ operation, result }) => `${operation} ${result}`)).toEqual(
      Array(ORDERS).fill('sale approved'),
    );
    expect(new Set(charges.map(({ order_id }) => order_id))).toEqual(ids);
  },
  TIME_LIMIT_MS,
);
