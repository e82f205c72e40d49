import { spawnSync } from 'node:child_process';
import { Webhook } from 'standardwebhooks';
import * as manage from '../../src/client/manage';
import { textOfFile } from '../guards/repository';
import { recordRows } from '../support/database';
import type { Merchant } from '../support/merchant';
import { Operator } from '../support/operator';
import { startReceiver, type Received } from '../support/servers';
import { setUp } from '../support/set-up';
import { stack } from '../support/stack';

/** A webhook secret is rolled while deliveries fly (rules 13.11, 21.16). */

let operator: Operator;
const receiver = setUp(startReceiver);
let project: manage.Project;
let shop: Merchant;
// Longer than a webhook may take that a busy machine took too late: it is sent again after two minutes.
jest.setTimeout(330_000);
beforeAll(async () => {
  operator = await Operator.signIn();
  project = await operator.aProject({ webhook_url: receiver.url });
  shop = await operator.aShop(project);
});
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
  const code = /<!-- verify:python -->\n```\w+\n([^]*?)```/.exec(textOfFile('docs/webhooks.md'))![1]!;
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

test('rules 13.11 and 21.16: while a secret is rolled, a receiver that knows the old one and one that knows the new one accept every webhook', async () => {
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

test('rules 21.16: without an overlap the old secret signs nothing any more', async () => {
  const { secret: old } = await secretOf();
  const { secret: next, previous_expires } = await roll('PT0S');
  expect(previous_expires).toBeUndefined();
  await shop.paidOrder('approved');
  const sent = await receiver.waitFor(1);
  expect(accepted(sent, old)).toEqual(all(sent, false));
  expect(accepted(sent, next)).toEqual(all(sent, true));
});

test('rules 21.22: the audit trail says who read and who rolled the secret, without it', async () => {
  const { secret } = await secretOf();
  const { items } = await manage.ok(manage.listAuditTrail({ $object: project.id }, operator.options));
  const object = { kind: 'project', id: project.id };
  expect(items[0]).toMatchObject({ action: 'webhook_secret.read', object });
  expect(items).toContainEqual(expect.objectContaining({ action: 'webhook_secret.roll', object }));
  expect(JSON.stringify(items)).not.toContain(secret);
});

test('rules 21.22: who may not read the secret makes no entry', async () => {
  const entries = async () =>
    (await manage.ok(manage.listAuditTrail({ $object: project.id }, operator.options))).items.length;
  const before = await entries();
  const { merchant_id } = await operator.aProject();
  const clientRequest = { name: 'Another shop', role: 'merchant' as const, merchant_id };
  const { client_id, client_secret } = await manage.ok(manage.createClient({ clientRequest }, operator.options));
  const other = await manage.manager({ url: stack().manage_url, client_id, client_secret });
  expect((await manage.getWebhookSecret({ projectId: project.id }, other)).status).toBe(404);
  const { Authorization: _token, ...headers } = other.headers as Record<string, string>;
  expect((await manage.getWebhookSecret({ projectId: project.id }, { ...other, headers })).status).toBe(401);
  expect(await entries()).toBe(before);
});

test('rules 21.22: the database has the secrets encrypted', async () => {
  await roll('PT1H');
  const { secret } = await secretOf();
  const [row] = await recordRows<Record<string, unknown>>('select * from projects where id = :id', { id: project.id });
  expect(row!['previous_webhook_secret']).toBeInstanceOf(Buffer);
  const stored = Object.values(row!).map((value) =>
    Buffer.isBuffer(value) ? value.toString('latin1') : String(value),
  );
  expect(stored.filter((text) => text.includes('whsec_') || text.includes(secret.slice(6)))).toEqual([]);
});
