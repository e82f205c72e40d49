import { spawnSync } from 'node:child_process';
import { Webhook } from 'standardwebhooks';
import * as manage from '../../src/client/manage';
import { text } from '../guards/repository';
import type { Merchant } from '../support/client';
import { Operator } from '../support/manager';
import { startReceiver, type Received, type Receiver } from '../support/receiver';

/** A webhook secret is rolled while deliveries fly (rules 13.11, 21.16). */

let operator: Operator;
let receiver: Receiver;
let project: manage.Project;
let shop: Merchant;
// Longer than a webhook may take that a busy machine took too late: it is sent again after two minutes.
jest.setTimeout(330_000);
beforeAll(async () => {
  operator = await Operator.signIn();
  receiver = await startReceiver();
  project = await operator.aProject({ webhook_url: receiver.url });
  shop = await operator.aShop(project);
});
afterAll(() => receiver.close());
beforeEach(() => receiver.received.splice(0));

const secretOf = async () => await manage.ok(manage.getWebhookSecret({ projectId: project.id }, operator.options));
const roll = async (overlap: string) =>
  await manage.ok(
    manage.rollWebhookSecret({ projectId: project.id, webhookSecretRollRequest: { overlap } }, operator.options),
  );

/** Whether the public library of Standard Webhooks accepts it. */
function libraryAccepts({ headers, body }: Received, secret: string): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

/** Whether the Python program of docs/webhooks.md, which uses Python's standard library only, accepts each. */
function pythonAccepts(requests: readonly Received[], secret: string): boolean[] {
  const code = /<!-- verify:python -->\n```\w+\n([^]*?)```/.exec(text('docs/webhooks.md'))![1]!;
  const main = `import json, sys\nsent = json.load(sys.stdin)\nprint(json.dumps([is_webhook(one["headers"], one["body"].encode(), sent["secret"]) for one in sent["requests"]]))\n`;
  const { stdout, stderr, error } = spawnSync('python3', ['-c', `${code}\n${main}`], {
    input: JSON.stringify({ requests, secret }),
    encoding: 'utf8',
  });
  if (error) throw error;
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as boolean[];
}

const accepted = (requests: readonly Received[], secret: string) => ({
  library: requests.map((one) => libraryAccepts(one, secret)),
  python: pythonAccepts(requests, secret),
});
const all = (requests: readonly Received[], is: boolean) => ({
  library: requests.map(() => is),
  python: requests.map(() => is),
});

test('while a secret is rolled, a receiver that knows the old one and one that knows the new one accept every webhook', async () => {
  const { secret: old } = await secretOf();
  const pay = () => Promise.all(Array.from({ length: 4 }, () => shop.paidOrder('approved')));
  const before = pay();
  const { secret: next, previous_expires } = await roll('PT1H');
  expect(next).not.toBe(old);
  expect(Date.parse(previous_expires!)).toBeGreaterThan(Date.now());
  expect(await secretOf()).toEqual({ project_id: project.id, secret: next, previous_expires });
  await before;
  await receiver.waitFor(4);
  expect(accepted(receiver.received, old)).toEqual(all(receiver.received, true));

  receiver.received.splice(0);
  await pay();
  const during = await receiver.waitFor(4);
  expect(accepted(during, old)).toEqual(all(during, true));
  expect(accepted(during, next)).toEqual(all(during, true));
  expect(during.map(({ headers }) => String(headers['webhook-signature']).split(' ').length)).toEqual([2, 2, 2, 2]);
});

test('without an overlap the old secret signs nothing any more', async () => {
  const { secret: old } = await secretOf();
  const { secret: next, previous_expires } = await roll('PT0S');
  expect(previous_expires).toBeUndefined();
  await shop.paidOrder('approved');
  const sent = await receiver.waitFor(1);
  expect(accepted(sent, old)).toEqual(all(sent, false));
  expect(accepted(sent, next)).toEqual(all(sent, true));
});

test('the secret is not in the audit trail, which says who rolled it', async () => {
  const { secret } = await secretOf();
  const { items } = await manage.ok(manage.listAuditTrail({ $object: project.id }, operator.options));
  expect(items[0]).toMatchObject({ action: 'webhook_secret.roll', object: { kind: 'project', id: project.id } });
  expect(JSON.stringify(items)).not.toContain(secret);
});
