import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { transformSync } from '@swc/core';
import type { DeliveryAnswer } from '../../src/contract/delivery';
import type { ReceiverCheckAnswer } from '../../src/contract/receiver-check';
import { RECEIVER_CASES, type ReceiverCase, type ReceiverResult } from '../../src/domain/receiver-check';
import { freePort } from '../../src/stack/ports';
import { textOfFile } from '../guards/repository';
import { recordRows } from '../support/database';
import { newIdempotencyKey, webhookOf, type Merchant } from '../support/merchant';
import { createTestProject } from '../support/operator';
import { startReceiver } from '../support/servers';
import { stack } from '../support/stack';
import { withTemporal } from '../support/temporal-client';
import { until } from '../support/waits';

/** The check of merchants' webhook receivers, against receivers that are right and wrong (rules 27). */

const CHECK = '/v1/projects/self/receiver-check/';
const checkPath = (id: string) => `/v1/projects/self/receiver-checks/${id}/`;
jest.setTimeout(120_000);

async function begin(merchant: Merchant, body: object, headers = {}): Promise<ReceiverCheckAnswer> {
  const begun = await merchant.send<ReceiverCheckAnswer>('POST', CHECK, { body, headers });
  expect(begun).toMatchObject({ status: 201, body: { status: 'running', cases: [] } });
  return begun.body;
}

/** Longer than an answer of these receivers takes, unless the machine is busy with something else. Milliseconds. */
const STALL_MS = 1_500;

/** Whether the machine stalled during a check: a slow answer is a finding, and here it is not meant. */
const hasStalled = ({ status, cases }: ReceiverCheckAnswer): boolean =>
  status === 'stopped' ||
  cases.some(
    ({ case: name, result, webhooks }) =>
      result === 'not_played' ||
      webhooks.some(({ duration_ms }) => duration_ms - (name === 'slow_body' ? 1_000 : 0) > STALL_MS),
  );

/** The report of a check in which the machine did not stall. */
async function check(
  merchant: Merchant,
  body: object,
  beginOne = () => begin(merchant, body),
): Promise<ReceiverCheckAnswer> {
  for (let tries = 1; tries <= 4; tries += 1) {
    const report = await reportOf(merchant, await beginOne());
    if (!hasStalled(report)) return report;
  }
  throw new Error(`this machine stalls for more than ${STALL_MS} ms`);
}

async function reportOf(merchant: Merchant, { id }: { id: string }): Promise<ReceiverCheckAnswer> {
  return await until('the check has ended', async () => {
    const { body } = await merchant.send<ReceiverCheckAnswer>('GET', checkPath(id));
    return body.status !== 'running' && body;
  });
}

const resultsOf = ({ cases }: ReceiverCheckAnswer) =>
  Object.fromEntries(cases.map(({ case: name, result }) => [name, result])) as Record<ReceiverCase, ReceiverResult>;
const all = (result: ReceiverResult, but: Partial<Record<ReceiverCase, ReceiverResult>> = {}) => ({
  ...Object.fromEntries(RECEIVER_CASES.map((name) => [name, result])),
  ...but,
});

/** After an answer that came too early: longer than the check needs to note the answer. Milliseconds. */
const LATER_MS = 400;

/** What a check has to find, and texts of its cases. */
interface Findings {
  finds: object;
  says: Partial<Record<ReceiverCase, RegExp>>;
}

function expectFindings(report: ReceiverCheckAnswer, { finds, says }: Findings): void {
  expect({ status: report.status, reason: report.reason }).toEqual({ status: 'done' });
  expect(resultsOf(report)).toEqual(finds);
  for (const [name, words] of Object.entries(says)) {
    expect(report.cases.find((one) => one.case === name)?.text).toMatch(words);
  }
  for (const { result, mend } of report.cases) expect(mend === undefined).toBe(result === 'passed');
  expect(report.workflow_id).toBe(`receiver-check:${report.id}`);
}

test('rules 27.2, 27.5 and 27.6: the check finds in twelve cases that a receiver ignores signatures, and answers one before it has stored', async () => {
  const receiver = await startReceiver();
  const { merchant } = await createTestProject({ webhook_url: receiver.url });
  const answer = async (response: ServerResponse, { order_id }: { order_id: string }) => {
    const sql = 'select merchant_order_id as name from orders where id = :order_id';
    const [order] = await recordRows<{ name: string }>(sql, { order_id });
    const is_early = order!.name === 'receiver-check-once';
    if (is_early) {
      response.writeHead(200).end();
      await sleep(LATER_MS);
    }
    await merchant.getOrder(order_id);
    if (!is_early) response.writeHead(200).end();
  };
  const answering: Promise<unknown>[] = [];
  receiver.answer((response, _n, { body }) => void answering.push(answer(response, webhookOf(body))));
  try {
    expectFindings(await check(merchant, {}), {
      finds: all('passed', { once: 'warning', wrong_signature: 'failed', old_timestamp: 'failed' }),
      says: {
        once: /before it retrieved the order/,
        wrong_signature: /anybody who knows its address/,
        old_timestamp: /send it again for ever/,
      },
    });
  } finally {
    await Promise.allSettled(answering);
    await receiver.close();
  }
});

/** The report of a check of a receiver of the documentation, what it was checked for, and a repeat of its request. */
interface Checked {
  merchant: Merchant;
  report: ReceiverCheckAnswer;
  repeated: ReceiverCheckAnswer;
}

describe('the receivers of the documentation', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'payments-receivers-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  /** How each language runs the program of the page. */
  const LANGUAGES = {
    typescript: {
      program: process.execPath,
      arguments: (file: string) => [file],
      file: 'receiver.mjs',
      code: (code: string) =>
        transformSync(code, { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'es6' } })
          .code,
    },
    python: {
      program: 'python3',
      arguments: (file: string) => [file],
      file: 'receiver.py',
      code: (code: string) => code,
    },
    php: {
      program: 'php',
      arguments: (file: string, port: string) => ['-S', `127.0.0.1:${port}`, file],
      file: 'receiver.php',
      code: (code: string) => code,
    },
  };
  type Language = keyof typeof LANGUAGES;
  const OTHERS = (Object.keys(LANGUAGES) as Language[]).filter(
    (language) => language !== 'typescript' && spawnSync(LANGUAGES[language].program, ['--version']).status === 0,
  );

  async function checkReceiverIn(language: Language): Promise<Checked> {
    const { program, arguments: argumentsOf, file, code } = LANGUAGES[language];
    const [, of_page = ''] = new RegExp(`<!-- receiver:${language} -->\\n\`\`\`\\w+\\n([^]*?)\`\`\``).exec(
      textOfFile('docs/receivers.md'),
    )!;
    const script = path.join(folder, file);
    writeFileSync(script, code(of_page));
    const project = await createTestProject();
    const port = String(await freePort());
    const { merchant, webhook_secret: SECRET } = project;
    const env = { ...process.env, API: merchant.stack.api_url, KEY: merchant.api_key, SECRET, PORT: port };
    const running = spawn(program, argumentsOf(script, port), {
      env: { ...env, PHP_CLI_SERVER_WORKERS: '16', TMPDIR: folder },
      stdio: ['ignore', 'ignore', 'ignore'],
      // A process group of its own: PHP's server has workers, which outlive it.
      detached: true,
    });
    try {
      await until('it listens', () => listens(Number(port)));
      const body = { webhook_url: `http://127.0.0.1:${port}/` };
      let repeated!: ReceiverCheckAnswer;
      const report = await check(merchant, body, async () => {
        const key = { 'idempotency-key': newIdempotencyKey() };
        const begun = await begin(merchant, body, key);
        repeated = await begin(merchant, body, key);
        return begun;
      });
      return { merchant, report, repeated };
    } finally {
      await end(running);
    }
  }

  function expectPassed({ report }: Checked): void {
    // With what is told of the others.
    expect(report.cases.filter(({ result }) => result !== 'passed')).toEqual([]);
    expectFindings(report, { finds: all('passed'), says: { once: /retrieved the order/ } });
  }

  test.each(OTHERS)('rules 27.6: the receiver in %s passes the check', async (language) => {
    expectPassed(await checkReceiverIn(language));
  });

  describe('in typescript', () => {
    let checked: Checked;
    beforeAll(async () => {
      checked = await checkReceiverIn('typescript');
    });

    test('rules 27.2, 27.5 and 27.6: all twelve cases pass', () => {
      expectPassed(checked);
    });

    test('rules 11.2: a repeat with the same Idempotency-Key gets the same check', () => {
      expect(checked.repeated.id).toBe(checked.report.id);
    });

    test('rules 27.4 and 27.9: it is done within 20 seconds, in a workflow of its own', async () => {
      const { report } = checked;
      expect(Date.parse(report.completed!) - Date.parse(report.created)).toBeLessThan(20_000);
      const { status, type } = await withTemporal(stack(), (client) =>
        client.workflow.getHandle(report.workflow_id).describe(),
      );
      expect({ status: status.name, type }).toEqual({ status: 'COMPLETED', type: 'receiverCheck' });
    });

    test('rules 27.3: its orders are paid, and its webhooks are delivered and recorded', async () => {
      const { merchant, report } = checked;
      const sent = report.cases.flatMap(({ webhooks }) => webhooks);
      const order_ids = [...new Set(sent.map(({ order_id }) => order_id))];
      expect(order_ids).toHaveLength(22);
      for (const order_id of order_ids) {
        const order = await merchant.getOrder(order_id);
        expect(order).toMatchObject({
          status: 'completed',
          merchant_order_id: expect.stringMatching(/^receiver-check-/),
        });
        const { body } = await merchant.send<DeliveryAnswer[]>('GET', `/v1/orders/${order_id}/webhooks/`);
        expect(body.map(({ status }) => status)).toEqual(body.map(() => 'delivered'));
      }
      const again = report.cases.find((one) => one.case === 'answered_500')!.webhooks;
      expect(new Set(again.map(({ webhook_id }) => webhook_id)).size).toBe(1);
      const { body } = await merchant.send<DeliveryAnswer[]>('GET', `/v1/orders/${again[0]!.order_id}/webhooks/`);
      expect(body[0]!.attempts.map(({ error }) => error)).toEqual([
        'the receiver check counts it as answered 500',
        undefined,
      ]);
    });

    test('rules 27.5: the report has each read with its key, instant and answer', () => {
      for (const { case: name, reads, webhooks } of checked.report.cases) {
        const orders = new Set(webhooks.map(({ order_id }) => order_id));
        expect(new Set(reads.map(({ order_id }) => order_id))).toEqual(orders);
        expect({ name, statuses: new Set(reads.map(({ status }) => status)) }).toEqual({
          name,
          statuses: new Set([200]),
        });
      }
    });
  });

  async function listens(port: number): Promise<boolean> {
    const socket = connect(port, '127.0.0.1');
    const is_open = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    return is_open;
  }

  async function end(running: ChildProcess): Promise<void> {
    if (running.exitCode !== null) return;
    const closed = once(running, 'close');
    process.kill(-running.pid!, 'SIGKILL');
    await closed;
  }
});
