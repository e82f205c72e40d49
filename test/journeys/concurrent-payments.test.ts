import { CARD, Client, charges, createOrder, statusesOf } from '../api/page/hosted-page';
import { CARDS } from '../support/cards';
import { until } from '../support/until';

const ORDERS = 200;
const AT_ONCE = 4;
/** Orders under way at a time: as many as two cores answer within the page's ten seconds. */
const LANES = 8;

/** In a run that kills its worker every order waits for the next one. */
const TIME_LIMIT_MS = process.env['KILL_WORKER'] === 'true' ? 600_000 : 300_000;

/** The same form sent several times at once, as double clicks and tabs do, each with another card. */
async function payAtOnce(): Promise<{ story: string; charges: string[] }> {
  const { id } = await createOrder();
  const customer = new Client();
  const form = await customer.openPage({ id });
  const cards = [CARDS.approved, CARDS.approved_mastercard, CARDS.frictionless, CARDS.approved];
  await Promise.all(
    cards.slice(0, AT_ONCE).map(({ number }) => customer.postForm(`/pay/${id}/`, { ...CARD, number, ...form })),
  );
  // Known at once, unless the worker is killed meanwhile: whoever was told that nothing was charged presses again.
  await until(
    `the order ${id} is paid`,
    async () => {
      const now = await statusesOf(id);
      if (now.startsWith('new')) {
        await customer.postForm(`/pay/${id}/`, {
          ...CARD,
          number: CARDS.approved.number,
          ...(await customer.openPage({ id })),
        });
      }
      return now.startsWith('completed');
    },
    60_000,
  );
  return {
    story: await statusesOf(id),
    charges: (await charges(id)).map(({ operation, result }) => `${operation} ${result}`),
  };
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
    expect(ended).toHaveLength(ORDERS);
    expect(new Set(ended.map((one) => JSON.stringify(one)))).toEqual(
      new Set([JSON.stringify({ story: 'completed: accepted', charges: ['sale approved'] })]),
    );
  },
  TIME_LIMIT_MS,
);
