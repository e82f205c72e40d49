import { createServer } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { postWebhook, type WebhookRequest } from '../../../src/webhook/post';
import { aReceiver, type Receiver } from '../../support/receiver';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const aWebhook = (fields: Partial<WebhookRequest>): WebhookRequest => ({
  url: 'http://127.0.0.1:1/',
  webhook_id: 'webhook:o:1',
  body: { event: 'status_changed', order_id: 'o', project_id: 'p' },
  secret,
  time_limit_ms: 5_000,
  private_addresses: true,
  ...fields,
});

let receiver: Receiver;
beforeAll(async () => {
  receiver = await aReceiver();
});
afterAll(() => receiver.close());

test('is signed as Standard Webhooks: a receiver that knows the secret verifies it', async () => {
  receiver.answer((response) => response.writeHead(202).end('thanks'));
  expect(await postWebhook(aWebhook({ url: receiver.url }))).toMatchObject({ status_code: 202 });
  const { body, headers } = receiver.received.at(-1)!;
  expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toEqual({
    event: 'status_changed',
    order_id: 'o',
    project_id: 'p',
  });
  expect(() =>
    new Webhook(`whsec_${Buffer.alloc(32, 8).toString('base64')}`).verify(body, headers as Record<string, string>),
  ).toThrow();
});

test.each([400, 410, 500, 301, 307])('%i is a failure', async (status) => {
  receiver.answer((response) => response.writeHead(status, { location: receiver.url }).end());
  const before = receiver.received.length;
  expect(await postWebhook(aWebhook({ url: receiver.url }))).toMatchObject({
    status_code: status,
    failure: `answered ${status}`,
  });
  expect(receiver.received).toHaveLength(before + 1);
});

test('a receiver that does not answer in time is a failure', async () => {
  receiver.answer(() => {});
  expect(await postWebhook(aWebhook({ url: receiver.url, time_limit_ms: 2_000 }))).toMatchObject({
    failure: 'reading took too long',
  });
});

test('a receiver that drips its answer is a failure', async () => {
  receiver.answer((response) => {
    response.writeHead(200);
    const drip = setInterval(() => response.write(' '), 50);
    response.on('close', () => clearInterval(drip));
  });
  expect(await postWebhook(aWebhook({ url: receiver.url, time_limit_ms: 2_000 }))).toMatchObject({
    failure: 'reading took too long',
  });
});

test('a refused connection is a failure', async () => {
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  const { port } = closed.address() as { port: number };
  await new Promise((resolve) => closed.close(resolve));
  expect(await postWebhook(aWebhook({ url: `http://127.0.0.1:${port}/` }))).toMatchObject({
    failure: 'connection refused',
  });
});

test('private addresses are refused unless allowed, by literal and by name', async () => {
  const before = receiver.received.length;
  for (const url of [
    receiver.url,
    receiver.url.replace('127.0.0.1', 'localhost'),
    receiver.url.replace('127.0.0.1', '[::ffff:127.0.0.1]'),
  ]) {
    expect(await postWebhook(aWebhook({ url, private_addresses: false }))).toMatchObject({
      failure: 'the address is private',
    });
  }
  expect(receiver.received).toHaveLength(before);
});
