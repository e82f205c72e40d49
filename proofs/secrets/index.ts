import * as manage from '../../src/client/manage';
import { readVariables } from '../../src/stack/launch';
import { CARDS } from '../../test/support/domain';
import { Merchant } from '../../test/support/merchant';
import { createAuthorization, payingTransactionId } from '../../test/support/merchant-payments';
import { Operator } from '../../test/support/operator';
import { startReceiver } from '../../test/support/servers';
import { OwnStack, type RunningStack } from '../../test/support/stack';
import { until } from '../../test/support/waits';
import type { Proof, ProofInput, ProofOutcome } from '../proof';
import { severalAtOnce } from '../../src/domain/several-at-once';
import { apiDoors } from './api-doors';
import { given, type Door, type Given } from './door';
import { sendKey } from './key-doors';
import { operatorDoors, orderWithoutOutcome, outsideDoors, webUiDoor, type Managed } from './other-doors';
import { pageDoors } from './page-doors';
import { Scanner, type Secret } from './scan';
import { inGroups, makeCards, type SentCard } from './secrets';
import { answersOf, documentsOf, filesOf, historiesOf, tablesOf, type Source } from './sources';

/** Cards: one of each brand, or fifty. */
const CARDS_SENT = { ci: 7, full: 50 };

/** The forms in which a number is written, one for each card in turn. */
const FORMS: ((number: string) => string)[] = [
  (number) => number,
  (number) => inGroups(number, ' '),
  (number) => inGroups(number, '-'),
  (number) => inGroups(number, '.'),
  (number) => number.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
  (number) => `my card ${inGroups(number, ' ')}, thank you`,
];

/** Requests at once. */
const AT_ONCE = 4;

export const secretsProof: Proof = {
  name: 'secrets',
  title:
    'Card numbers, security codes and keys that are sent through every door, the wrong ones too, are stored, logged, reported and answered nowhere beyond first six and last four digits.',
  not_proved: [
    'A security code is three or four digits, which stand anywhere by chance: it is looked for beside its name only. A merchant who writes a code into a free text or into `extra` has it stored.',
    'Numbers in words, reversed, in other groups, split over fields or encoded in base64 by a merchant are not refused (rules 15.7), so they are not sent; nor are numbers whose four groups pass for prices or articles in a list.',
    'Memory of the processes, core dumps and swap are not looked at.',
    "The files in which PostgreSQL keeps its tables and its log of changes are not read; every table is read as text, of the processor simulator too. A real processor's vault keeps numbers by nature.",
    'The files with the keys of the stack (`stack.json`, `stack.env`, `secrets.json`, `demo-keys.json`) hold these keys; only their owner may read them. Answers that show a new key once are not looked at.',
    "Traces are off; test/journeys/metrics looks at what spans hold. Metrics of a deployment's other programs are not looked at.",
    "The Web UI is Temporal's: what its pages show of encrypted payloads is decrypted in the operator's browser. Its server is sent what the codec server encrypts.",
  ],
  seeds: [1],
  in_ci: true,
  async run(input): Promise<ProofOutcome> {
    const own = new OwnStack('proof-secrets', () => ({ LOG_LEVEL: 'debug' }));
    const receiver = await startReceiver();
    try {
      const stack = await own.start();
      return await prove(input, stack, receiver);
    } finally {
      await receiver.close();
      await own.discard();
    }
  },
};

type Receiver = Awaited<ReturnType<typeof startReceiver>>;

async function prove(
  { seed, size, single, say }: ProofInput,
  stack: RunningStack,
  receiver: Receiver,
): Promise<ProofOutcome> {
  const published = Object.values(CARDS).map(({ number }) => number);
  const cards = makeCards(CARDS_SENT[size], seed, published);
  const managed = await prepareManaged(stack);
  const keys = await keysOf(stack, managed);
  const scanner = new Scanner(cards, keys);
  requireFinds(scanner, cards, keys);
  receiver.answer((response, n) => {
    const { number } = cards[n % cards.length]!;
    response.writeHead(n % 3 === 0 ? 500 : n % 3 === 1 ? 302 : 200, `Card ${number}`, {
      location: `http://127.0.0.1:1/${number}`,
      'x-card': number,
    });
    response.end(`${number} ${keys[0]!.text}`);
  });
  const { doors, inTurn, close } = await doorsOf(stack, managed, receiver);
  const chosen = (list: Door[]) => list.filter(({ name }) => single === undefined || name === single);
  const violations: string[] = [];
  const look = ({ door, status, text }: Given, kind: Door['kind']) => {
    for (const hit of scanner.hits(text)) {
      violations.push(`the answer at the door "${door}" shows ${hit} (seed ${seed}, case "${door}")`);
    }
    if (status !== undefined && (status >= 500 || (kind === 'refused' && status < 400))) {
      violations.push(`the answer at the door "${door}" is ${status} (seed ${seed}, case "${door}")`);
    }
  };
  let sent = 0;
  const send = async ({ name, kind, send }: Door, card: SentCard, n: number) => {
    look(await given(name, await send(card, FORMS[n % FORMS.length]!(card.number))), kind);
    sent += 1;
  };
  for (const [n, card] of cards.entries()) {
    await severalAtOnce(AT_ONCE, chosen(doors), (door) => send(door, card, n));
    for (const door of chosen(inTurn)) await send(door, card, n);
    say(`card ${n}: ${sent} sent, ${violations.length} violations`);
  }
  for (const key of keys) {
    for (const { door, answer } of await sendKey(stack, key)) look(await given(door, answer), 'other');
  }
  await close();
  const kept = new Set<SentCard>();
  const scanned = await scan(stack, managed.token, receiver, (source) => {
    for (const hit of scanner.hits(source.text, source)) {
      violations.push(`${source.kind}: ${source.name} holds ${hit} (seed ${seed})`);
    }
    for (const card of cards) if (source.text.includes(maskOf(card))) kept.add(card);
  });
  // A card of which nothing may be found must have come through the right doors.
  if (single === undefined && kept.size < cards.length) {
    violations.push(`${cards.length - kept.size} cards came through no door: no mask of them is stored (seed ${seed})`);
  }
  return {
    counts: {
      cards: cards.length,
      keys: keys.length,
      doors: doors.length + inTurn.length,
      'cards sent': sent,
      'cards of which the mask is stored': kept.size,
      ...scanned,
    },
    violations: [...new Set(violations)],
  };
}

/** What may be stored of a number: its first six and last four digits. */
const maskOf = ({ number }: SentCard) => `${number.slice(0, 6)}${'*'.repeat(number.length - 10)}${number.slice(-4)}`;

async function doorsOf(stack: RunningStack, managed: Managed, receiver: Receiver) {
  const merchant = new Merchant(stack);
  const [order, held, link] = [
    await merchant.createOrder(),
    await createAuthorization(merchant),
    await merchant.createPaymentLink(),
  ];
  const objects = {
    order_id: order.id,
    held: { id: held.id, transaction_id: payingTransactionId(held) },
    link_id: link.id,
  };
  const webUi = webUiDoor(stack, await orderWithoutOutcome(merchant));
  return {
    doors: [...apiDoors(stack, objects), ...pageDoors(stack), ...operatorDoors(stack, managed)],
    inTurn: [...outsideDoors(stack, receiver.url), webUi.door],
    close: webUi.close,
  };
}

async function prepareManaged(stack: RunningStack): Promise<Managed> {
  const operator = await Operator.signIn(stack);
  const project = await operator.aProject();
  const key = await operator.aKey(project);
  const authorization = (operator.options!.headers as Record<string, string>)['Authorization']!;
  return {
    token: authorization.replace('Bearer ', ''),
    project_id: project.id,
    merchant_id: project.merchant_id,
    delivery_id: `${project.id}-1`,
    key_id: key.id,
    api_key: key.key,
  };
}

/** Every key of the stack, by a name that may be shown. */
async function keysOf(stack: RunningStack, { token, project_id, api_key }: Managed): Promise<Secret[]> {
  const { options } = await Operator.signIn(stack);
  const clientRequest = { name: 'Back office', role: 'operator' as const };
  const client = await manage.ok(manage.createClient({ clientRequest }, options));
  const webhook = await manage.ok(
    manage.rollWebhookSecret({ projectId: project_id, webhookSecretRollRequest: {} }, options),
  );
  const variables = readVariables(stack.data_dir);
  return [
    { name: 'test API key', text: stack.test_api_key },
    { name: 'live API key', text: stack.live_api_key },
    { name: 'new API key', text: api_key },
    { name: 'operator client secret', text: stack.operator_client_secret },
    { name: 'new client secret', text: client.client_secret },
    { name: 'access token', text: token },
    { name: 'webhook secret', text: stack.test_webhook_secret },
    { name: 'rolled webhook secret', text: webhook.secret },
    { name: 'processor key', text: stack.processor_key },
    ...['PAYLOAD_KEYS', 'SECRET_KEYS'].map((name) => ({ name, text: variables[name]!.replace(/^\w+:/, '') })),
    ...['PAGE_SECRET', 'SIMULATOR_CONTROL_KEY', 'MEILISEARCH_KEY'].map((name) => ({ name, text: variables[name]! })),
  ];
}

/** Throws if the scanner misses a number or a key in any form: then that nothing is found would show nothing. */
function requireFinds(scanner: Scanner, cards: readonly SentCard[], keys: readonly Secret[]): void {
  for (const { number, security_code } of cards) {
    const texts = [
      ...[
        number,
        inGroups(number, ' '),
        inGroups(number, '-'),
        encodeURIComponent(inGroups(number, ' ')),
        `x${number}y`,
      ],
      ...[
        Buffer.from(number).toString('base64'),
        Buffer.from(`ab${number}c`).toString('base64url'),
        Buffer.from(number).toString('hex'),
      ],
      ...[`${number.slice(0, 8)}****${number.slice(-4)}`, `"security_code":"${security_code}"`],
    ];
    const missed = texts.find((text) => scanner.hits(`{"a": "${text}"}`).length === 0);
    if (missed !== undefined) throw new Error(`the scanner does not find ${missed}`);
    if (scanner.hits(`${number.slice(0, 6)}******${number.slice(-4)}`).length > 0) {
      throw new Error('the scanner finds a mask');
    }
  }
  for (const { name, text } of keys) {
    if (scanner.hits(`"${text}"`).length === 0) throw new Error(`the scanner does not find the ${name}`);
  }
}

/** Calls `look` with everything that is stored or shown, and counts it by kind. */
async function scan(
  stack: RunningStack,
  token: string,
  receiver: Receiver,
  look: (source: Source) => void,
): Promise<Record<string, number>> {
  const merchant = new Merchant(stack);
  await merchant.removeFaults();
  const probe = await merchant.paidOrder('approved');
  await until('the last order is in the search index', async () => {
    const { body } = await merchant.send<{ hits: number }>('POST', '/v1/search/orders/', {
      body: { query: `id:${probe.id}` },
    });
    return body.hits === 1;
  });
  const last = (await merchant.send('GET', '/v1/orders/')).headers.get('x-request-id');
  await until('the last request is in the request log', async () => {
    return (await merchant.send('GET', `/v1/requests/${last}/`)).status === 200;
  });
  const counts: Record<string, number> = {};
  const all = [
    tablesOf(stack, 'payments'),
    tablesOf(stack, 'simulator'),
    historiesOf(stack),
    documentsOf(stack),
    answersOf(stack, token),
    filesOf(stack.data_dir),
    receiver.received.map(({ path, headers, body }) => ({
      kind: 'webhooks',
      name: path,
      text: JSON.stringify([path, headers, body]),
    })),
  ];
  for (const sources of all) {
    for await (const source of sources as AsyncIterable<Source>) {
      look(source);
      counts[source.kind] = (counts[source.kind] ?? 0) + 1;
    }
  }
  return counts;
}
