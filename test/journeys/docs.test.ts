import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { transformSync } from '@swc/core';
import { Webhook } from 'standardwebhooks';
import { repositoryRoot } from '../../src/stack/files';
import { CARD, Client } from '../support/customer';
import { Merchant } from '../support/merchant';
import { startReceiver } from '../support/servers';
import { stack } from '../support/stack';

/** The documentation does what it says: its commands and its code, copied from the page. */

const page = (file: string) => readFileSync(path.join(repositoryRoot(), file), 'utf8');

/** The commands of a page, by the name in `<!-- call:NAME -->`; `pay` is where the customer pays. */
function callsOf(file: string): { name: string; commands: string }[] {
  const marked = page(file).matchAll(/<!-- (?:call:(\w+) -->\n```sh\n([\s\S]*?)```|pay -->)/g);
  return [...marked].map(([, name = 'pay', commands = '']) => ({ name, commands }));
}

/** A terminal in which one command after the other is typed; `answers` are what each has printed. */
async function typeIn(folder: string, calls: { name: string; commands: string }[]): Promise<Record<string, string>> {
  const shell = spawn('bash', ['-euo', 'pipefail'], { cwd: folder, stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: shell.stdout })[Symbol.asyncIterator]();
  const answers: Record<string, string> = {};
  const type = async (commands: string): Promise<string> => {
    shell.stdin.write(`${commands}\necho; echo end-of-answer\n`);
    const printed: string[] = [];
    for (;;) {
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`these commands fail:\n${commands}`);
      if (value === 'end-of-answer') return printed.join('\n').trim();
      printed.push(value);
    }
  };
  for (const { name, commands } of calls) {
    answers[name] = name === 'pay' ? await payByCard(await type('echo $ID')) : await type(commands);
  }
  shell.stdin.end();
  await once(shell, 'close');
  return answers;
}

/** The customer's part: the card form of the hosted page. */
async function payByCard(order_id: string): Promise<string> {
  const customer = new Client();
  const answer = await customer.postForm(`/pay/${order_id}/`, {
    ...CARD,
    ...(await customer.openPage({ id: order_id })),
  });
  return String(answer.status);
}

const folder = mkdtempSync(path.join(tmpdir(), 'payments-docs-'));
beforeAll(() => symlinkSync(stack().data_dir, path.join(folder, '.data')));
afterAll(() => rmSync(folder, { recursive: true }));

const answered = (text: string | undefined) => JSON.parse(text ?? '') as { id: string };
const APPROVED = { status: 'accepted', outcomes: { processing: { response_code: '00' } } };

test('README makes a payment, charges the card again, gives money back and sends a payment link', async () => {
  const { create, read, charge, refund, link, linkStatus, search } = await typeIn(folder, callsOf('README.md'));
  const order = answered(create);
  expect(order).toMatchObject({ status: 'new', merchant_order_id: 'M-1001' });
  expect(answered(read)).toMatchObject({ id: order.id, status: 'completed', transactions: [APPROVED] });
  expect(answered(charge)).toMatchObject({ status: 'completed', amount: 900, transactions: [APPROVED] });
  expect(answered(refund)).toMatchObject({ status: 'completed', amount: 500, refund_of_order_id: order.id });
  expect(answered(link)).toMatchObject({ status: 'new', orders: {}, payment_url: expect.stringMatching(/^http/) });
  expect(answered(linkStatus)).toEqual(answered(link));
  expect(readFileSync(path.join(folder, 'link.svg'), 'utf8')).toContain('<svg');
  expect(answered(search)).toMatchObject({ hits: expect.any(Number), orders: expect.any(Array) });
  expect(readFileSync(path.join(folder, 'report.csv'), 'utf8')).toMatch(
    new RegExp(`^id,merchant_order_id,[^]*^${order.id},`, 'm'),
  );
});

test('the sandbox gives a first card token, and the walkthroughs use it', async () => {
  const sandbox = callsOf('docs/sandbox.md');
  const walkthroughs = callsOf('docs/walkthroughs.md').map((call) => ({ ...call, name: `walk ${call.name}` }));
  const answers = await typeIn(folder, [...sandbox, ...walkthroughs]);
  expect(answers['create']).toMatch(/^http.*\/pay\/[\w-]+\/$/);
  expect(answered(answers['charge'])).toMatchObject({ status: 'completed', transactions: [APPROVED] });
  expect(answers['settle']).toBe('{"settled":1}');
  expect(answers['settled']).toBe('"settlement_amount":1212');
  expect(answered(answers['advance'])).toMatchObject({ status: 'completed', test_clock: expect.any(String) });
  const timeline = answers['timeline']!.split('\n');
  expect(timeline.filter((line) => line.includes('Webhook attempt 10 of 10'))).toHaveLength(2);
  expect(timeline).toContainEqual(expect.stringContaining('Capture of 25.00 EUR requested'));
  expect(answered(answers['release'])).toMatchObject({ status: 'completed', transactions: [{ status: 'expired' }] });
  expect(answered(answers['expire'])).toMatchObject({ status: 'expired' });
  expect(answered(answers['walk refund'])).toMatchObject({ status: 'completed', amount: 1000 });
  expect(answers['walk left']).toBe('1500');
  expect(answered(answers['walk authorize'])).toMatchObject({ amount: 2500, flags: ['is-test', 'is-capture'] });
  expect(answered(answers['walk void'])).toMatchObject({ amount: 1500, flags: ['is-test', 'is-void'] });
  const [first, again] = answers['walk repeat']!.split('\n');
  expect([first, again]).toEqual([expect.stringMatching(/^[\w-]{36}$/), first]);
  expect(answers['walk change']).toBe('Two books\nPreconditionFailed');
  expect(answers['walk cancel']).toBe('cancelled');
  expect(answered(answers['walk fund'])).toMatchObject({
    status: 'completed',
    transactions: [
      { transaction_type: 'aft', payment_method_details: { receiver_account_number: 'DE8937************3000' } },
    ],
  });
  expect(answers['walk timeline']).toMatch(/^Order cancelled\n\[\]$/);
});

test('search finds the order of the page, and all pages of a query', async () => {
  const setup = callsOf('README.md').filter(({ name }) => name === 'setup');
  const { find, pages, report } = await typeIn(folder, [...setup, ...callsOf('docs/search.md')]);
  expect(JSON.parse(find ?? '')).toMatchObject({ hits: 1, orders: [{ merchant_order_id: 'S-1001' }] });
  expect(pages).toBe('1');
  expect(report).toBe('id,merchant_order_id,created,completed,currency,amount,status');

  const { api_url: API, test_api_key: KEY } = stack();
  const program = clientProgram(path.join(folder, 'shop'));
  const { stdout } = spawnSync(process.execPath, [program], { env: { ...process.env, API, KEY }, encoding: 'utf8' });
  expect(stdout).toMatch(/^S-1001\nid,merchant_order_id,[^]*,"S-1001",/);
});

/** The program of the client's README in a new folder with a copy of the client, both compiled to ES modules of Node. */
function clientProgram(folder: string): string {
  const compile = (code: string, file: string) => {
    const options = { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'es6' } } as const;
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), transformSync(code, options).code);
  };
  const source = path.join(repositoryRoot(), 'src/client');
  for (const file of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    if (file.endsWith('.ts')) compile(page(`src/client/${file}`), `client/${file.replace(/ts$/, 'js')}`);
  }
  symlinkSync(path.join(repositoryRoot(), 'node_modules'), path.join(folder, 'node_modules'));
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
  const [, code = ''] = /<!-- typescript:client -->\n```ts\n([^]*?)```/.exec(page('src/client/README.md'))!;
  compile(`${code}\nawait import('./client/manage/index.js');`, 'search.js');
  return path.join(folder, 'search.js');
}

test('a receiver on this machine gets the webhook of its order', async () => {
  // The port of the page may be taken here.
  const free = await startReceiver();
  await free.close();
  const calls = callsOf('docs/webhooks.md').map(({ name, commands }) => ({
    name,
    commands: commands.replace('PORT=4000', `PORT=${new URL(free.url).port}`),
  }));
  const cleanup = { name: 'cleanup', commands: "trap 'kill ${!:-} 2> /dev/null || true' EXIT" };
  const { create, arrived } = await typeIn(folder, [cleanup, ...calls]);
  const order_id = /\/pay\/([\w-]+)\//.exec(create ?? '')?.[1];
  expect(arrived).toContain(`webhook:${order_id}:1 {"event":"status_changed","order_id":"${order_id}"`);
});

describe('the code that verifies a webhook', () => {
  /** How each language runs the code of the page and prints which of the requests on its standard input are webhooks. */
  const LANGUAGES = {
    typescript: {
      program: process.execPath,
      file: (code: string) =>
        `${transformSync(code, { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'commonjs' } }).code}
const requests = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
process.stdout.write(JSON.stringify(requests.map(({ headers, body, secret }) => isWebhook(headers, body, secret))));`,
    },
    python: {
      program: 'python3',
      file: (code: string) => `${code}
import json, sys
print(json.dumps([is_webhook(r["headers"], r["body"].encode(), r["secret"]) for r in json.load(sys.stdin)]))`,
    },
    php: {
      program: 'php',
      file: (code: string) => `<?php
${code}
$requests = json_decode(file_get_contents('php://stdin'), true);
echo json_encode(array_map(fn ($r) => is_webhook($r['headers'], $r['body'], $r['secret']), $requests));`,
    },
  };
  const installed = (Object.keys(LANGUAGES) as (keyof typeof LANGUAGES)[]).filter(
    (language) => spawnSync(LANGUAGES[language].program, ['--version']).status === 0,
  );
  let request: { headers: Record<string, unknown>; body: string; secret: string };
  beforeAll(async () => {
    const receiver = await startReceiver();
    await new Merchant().paidOrder('approved', { webhook_url: receiver.url });
    const [{ headers, body }] = (await receiver.waitFor(1)) as [(typeof receiver.received)[number]];
    await receiver.close();
    request = { headers, body, secret: stack().test_webhook_secret };
  });

  test.each(installed)('accepts a webhook and refuses a forged or old one: %s', (language) => {
    const { program, file } = LANGUAGES[language];
    const code = new RegExp(`<!-- verify:${language} -->\\n\`\`\`\\w+\\n([^]*?)\`\`\``).exec(
      page('docs/webhooks.md'),
    )![1]!;
    const script = path.join(folder, `verify-${language}`);
    writeFileSync(script, file(code));
    const changed = (fields: object, headers: object = {}) => ({
      ...request,
      ...fields,
      headers: { ...request.headers, ...headers },
    });
    const signed = (at: Date) => ({
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(request.secret).sign(String(request.headers['webhook-id']), at, request.body),
    });
    const seconds_ago = (seconds: number) => new Date(Date.now() - seconds * 1_000);
    const webhooks = [
      changed({}),
      changed({}, { 'webhook-signature': `v1,AAAA ${String(request.headers['webhook-signature'])}` }),
      changed({}, signed(seconds_ago(200))),
    ];
    const others = [
      changed({ body: `${request.body} ` }),
      changed({ secret: stack().live_webhook_secret }),
      changed({}, signed(seconds_ago(301))),
      changed({}, { 'webhook-signature': '' }),
      changed({}, { 'webhook-signature': undefined, 'webhook-timestamp': undefined, 'webhook-id': undefined }),
    ];
    const input = JSON.stringify([...webhooks, ...others]);
    const { stdout } = spawnSync(program, [script], { input, encoding: 'utf8' });
    expect(JSON.parse(stdout)).toEqual([...webhooks.map(() => true), ...others.map(() => false)]);
  });
});
