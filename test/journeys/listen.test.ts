import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Webhook } from 'standardwebhooks';
import { listenSecret, type Place } from '../../src/cli/place';
import { TRIGGERS, trigger } from '../../src/cli/trigger';
import { severalAtOnce } from '../../src/domain/several-at-once';
import { repositoryRoot } from '../../src/stack/files';
import { CARDS } from '../support/domain';
import { Merchant, webhookOf } from '../support/merchant';
import { createTestProject, Operator, type TestProject } from '../support/operator';
import { startProcess } from '../support/process';
import { startReceiver, type Received } from '../support/servers';
import { setUp } from '../support/set-up';
import { stack } from '../support/stack';
import { until } from '../support/waits';

/** The command `payments` (rules 13.21 to 13.23), as a developer runs it: a process that knows an address and a key. */

const folder = mkdtempSync(path.join(tmpdir(), 'payments-listen-'));
const running = new Set<ChildProcess>();
afterAll(() => {
  running.forEach((child) => child.kill('SIGKILL'));
  rmSync(folder, { recursive: true });
});

/** Starts `payments` with these arguments. */
function start(place: Place, ...args: string[]) {
  const child = spawn(process.execPath, [path.join(repositoryRoot(), 'dist/src/main/payments.js'), ...args], {
    cwd: folder,
    env: { ...process.env, PAYMENTS_API_URL: place.url, PAYMENTS_API_KEY: place.api_key, XDG_STATE_HOME: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let text = '';
  for (const output of [child.stdout, child.stderr]) output.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, text }));
  return {
    ended,
    text: () => text,
    printed: (words: string) => until(`it prints ${words}`, () => text.includes(words)),
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

const placeOf = ({ merchant }: TestProject, url = stack().api_url): Place => ({ url, api_key: merchant.api_key });

/** The orders that the webhooks are about, each once; all have to be signed. */
function ordersOf(received: readonly Received[], secret: string): string[] {
  return [
    ...new Set(
      received.map(({ body, headers }) => {
        new Webhook(secret).verify(body, headers as Record<string, string>);
        return webhookOf(body).order_id;
      }),
    ),
  ];
}

describe('rules 13.21: payments listen', () => {
  const receiver = setUp(startReceiver);

  test('a key that is revoked ends it, also while it waits for a receiver that is away', async () => {
    const operator = await Operator.signIn();
    const key = await operator.aKey(await operator.aProject());
    const merchant = new Merchant(stack(), key.key);
    const place = { url: stack().api_url, api_key: key.key };
    const listening = start(place, 'listen', '--forward-to', 'http://127.0.0.1:1/');
    await listening.printed('Webhook secret');
    await until('it waits for its receiver', async () => {
      await merchant.cancelOrder((await merchant.createOrder()).id);
      return listening.text().includes('waiting for it');
    });
    await operator.revoke(key);
    const { code, text } = await listening.ended;
    expect(text).toContain('answered 401 Unauthorized');
    expect(code).toBe(1);
  });

  test('sends each webhook, signed, and loses none while it, the receiver or the API is away', async () => {
    const project = await createTestProject();
    const { merchant } = project;
    let api = await startProcess('api');
    const place = placeOf(project, api.url);
    const secret = listenSecret(place);
    const cancelled: string[] = [];
    const cancelOne = async (fields = {}) => {
      const { id } = await merchant.createOrder(fields);
      await merchant.cancelOrder(id);
      cancelled.push(id);
      return id;
    };
    const arrived = () =>
      until('the webhooks of all orders have arrived', () => {
        const seen = new Set(ordersOf(receiver.received, secret));
        return cancelled.every((id) => seen.has(id));
      });
    try {
      const arguments_ = ['listen', '--forward-to', receiver.url];
      const first = start(place, ...arguments_);
      await first.printed(secret);
      // A webhook before the first cursor is not among those of the listener.
      await until('it has its first cursor', async () => {
        cancelled.splice(0);
        await cancelOne();
        return ordersOf(receiver.received, secret).length > 0;
      });
      await arrived();
      await first.kill();
      await cancelOne();
      const second = start(place, ...arguments_);
      await arrived();
      await api.stop();
      await cancelOne();
      await second.printed('cannot be reached. Trying again.');
      api = await startProcess('api', { env: { API_PORT: new URL(place.url).port } });
      await arrived();
      const sent = receiver.received.length;
      receiver.answer((response) => void response.writeHead(receiver.received.length > sent + 1 ? 204 : 500).end());
      const of_project = await cancelOne({ webhook_url: 'http://127.0.0.1:1/' });
      await until('it is accepted', () => receiver.received.length >= sent + 2);
      const ids = receiver.received.slice(sent).map(({ headers }) => headers['webhook-id']);
      expect(new Set(ids)).toEqual(new Set([`webhook:${of_project}:1`]));
      expect(ordersOf(receiver.received, secret)).toEqual(expect.arrayContaining(cancelled));
      await second.kill();
    } finally {
      await api.stop();
    }
  });

  test.each<[what: string, place: () => Promise<Place>, says: RegExp]>([
    ['a live project', async () => placeOf(await createTestProject({ is_test: false })), /of a live project/],
    ['a wrong key', () => Promise.resolve({ url: stack().api_url, api_key: 'wrong' }), /answered 401 Unauthorized/],
    [
      'a wrong address',
      () => Promise.resolve({ url: 'http://127.0.0.1:1', api_key: stack().test_api_key }),
      /cannot be reached/,
    ],
  ])('%s ends it with the reason', async (_what, place, says) => {
    const { code, text } = await start(await place(), 'listen', '--forward-to', receiver.url).ended;
    expect(code).toBe(1);
    expect(text).toMatch(says);
  });
});

/** A card of each kind: its order and transaction then. Others differ by their number alone. */
const CARD_ENDS: Record<string, RegExp> = {
  approved: /^completed accepted$/,
  do_not_honor: /^processing error$/,
  // The right code is sent to the issuer.
  challenge: /^completed accepted$/,
  // On a busy machine its outcome has come already.
  processing_approved: /^processing processing$|^completed accepted$/,
};
const EVENT_ENDS: Record<string, RegExp> = {
  cancel: /^cancelled$/,
  capture: /^completed accepted$/,
  refund: /^completed accepted$|^processing processing$/,
  void: /^completed cancelled$/,
};

test('rules 13.22: payments trigger makes an order of cards of each kind and every event', async () => {
  const events = Object.keys(TRIGGERS).filter((name) => !Object.hasOwn(CARDS, name));
  expect(events.toSorted()).toEqual(Object.keys(EVENT_ENDS).toSorted());
  // The first currency of the project, as it does not take EUR.
  const place = placeOf(await createTestProject({ currencies: ['USD', 'GBP'] }));
  const ends = Object.entries({ ...CARD_ENDS, ...EVENT_ENDS });
  const made = await severalAtOnce(4, ends, async ([name, expected]) => {
    const { status, currency, transactions = [] } = await trigger(place, name);
    expect(currency).toBe('USD');
    const end = `${status} ${transactions.map((one) => one.status).join(' ')}`.trim();
    return `${name} ${expected.test(end) ? 'as expected' : end}`;
  });
  expect(made).toEqual(ends.map(([name]) => `${name} as expected`));
});

test('rules 13.22: payments trigger refuses an unknown card and a live project', async () => {
  const live = placeOf(await createTestProject({ is_test: false }));
  await expect(trigger(live, 'approved')).rejects.toThrow('The API key is of a live project');
  await expect(trigger(live, 'unknown_card')).rejects.toThrow('There is no unknown_card. Known: approved,');
  const { code, text } = await start(placeOf(await createTestProject()), 'trigger', 'approved').ended;
  expect(text).toMatch(/^[0-9a-f-]{36} {2}completed {2}accepted\nEvery operation is approved\.\n$/);
  expect(code).toBe(0);
});

test('payments check prints a line for each case, and exits with 1 unless all have passed', async () => {
  const receiver = await startReceiver();
  receiver.answer((response) => void response.writeHead(500).end());
  try {
    const place = placeOf(await createTestProject());
    const { code, text } = await start(place, 'check', '--receiver', receiver.url).ended;
    expect(text.match(/^failed +[a-z0-9_]+ /gm)).toHaveLength(12);
    expect(text).toContain('Verify the signature over the raw body');
    expect(code).toBe(1);
  } finally {
    await receiver.close();
  }
});
