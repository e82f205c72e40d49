import { execFile, execFileSync, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttp2Server, createSecureServer as createSecureHttp2Server } from 'node:http2';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { repositoryRoot } from '../../../src/stack/files';
import { postWebhook, type WebhookAnswer, type WebhookRequest } from '../../../src/webhook/post';
import { startReceiver } from '../../support/servers';
import { setUp } from '../../support/set-up';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const aWebhook = (fields: Partial<WebhookRequest>): WebhookRequest => ({
  url: 'http://127.0.0.1:1/',
  webhook_id: 'webhook:o:1',
  body: { event: 'status_changed', order_id: 'o', project_id: 'p' },
  secrets: [secret],
  time_limit_ms: 5_000,
  private_addresses: true,
  ...fields,
});

const receiver = setUp(startReceiver);

test('rules 13.7: is signed as Standard Webhooks: a receiver that knows the secret verifies it', async () => {
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

test('rules 27.2: is signed at a given instant, sent in halves, or cut as soon as the answer begins', async () => {
  receiver.answer((response) => response.writeHead(200).end());
  const signed_at = Date.now() - 600_000;
  await postWebhook(aWebhook({ url: receiver.url, signed_at }));
  const { body, headers } = receiver.received.at(-1)!;
  expect(headers['webhook-timestamp']).toBe(String(Math.floor(signed_at / 1_000)));
  expect(headers['webhook-signature']).toBe(
    new Webhook(secret).sign(String(headers['webhook-id']), new Date(signed_at), body),
  );
  const halves = await postWebhook(aWebhook({ url: receiver.url, manner: 'in_halves' }));
  expect([halves.status_code, halves.duration_ms >= 1_000, receiver.received.at(-1)!.body]).toEqual([200, true, body]);
  receiver.answer((response) => void response.writeHead(200, { 'content-length': '10' }).write('half'));
  expect(await postWebhook(aWebhook({ url: receiver.url, manner: 'cut' }))).toMatchObject({ status_code: 200 });
});

test('no compressed answer and no connection to keep are asked for', async () => {
  receiver.answer((response) => response.writeHead(200).end());
  await postWebhook(aWebhook({ url: receiver.url }));
  const { headers } = receiver.received.at(-1)!;
  expect([headers['accept-encoding'], headers['connection']]).toEqual([undefined, 'close']);
});

test.each([400, 410, 500, 301, 307])('rules 13.4: %i is a failure', async (status) => {
  receiver.answer((response) => response.writeHead(status, { location: receiver.url }).end());
  const before = receiver.received.length;
  expect(await postWebhook(aWebhook({ url: receiver.url }))).toMatchObject({
    status_code: status,
    failure: `answered ${status}`,
  });
  expect(receiver.received).toHaveLength(before + 1);
});

test('rules 13.8: private addresses are refused unless allowed, by literal and by name', async () => {
  const before = receiver.received.length;
  for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '[::127.0.0.1]', '[::7f00:1]']) {
    const url = receiver.url.replace('127.0.0.1', host);
    expect(await postWebhook(aWebhook({ url, private_addresses: false }))).toMatchObject({
      failure: 'the address is private',
    });
  }
  expect(receiver.received).toHaveLength(before);
});

/** A busy machine needs seconds to agree on TLS with so many servers at once. Milliseconds. */
const SLOWEST_MS = 8_000;
/** Shorter than the resolver's own limit. Milliseconds. */
const BEFORE_THE_RESOLVER_MS = 1_500;

/** What a server does with each connection. */
type Behavior = (socket: Socket) => void;

/** Answers once the request has come. */
const answer = (...parts: string[]): Behavior => {
  return (socket) => socket.once('data', () => parts.forEach((part) => socket.write(part)));
};
/** Sends the start, then the rest again and again until the connection is closed. */
const drip = (start: string, rest: string, every_ms = 20): Behavior => {
  return (socket) =>
    socket.once('data', () => {
      socket.write(start);
      const timer = setInterval(() => socket.write(rest), every_ms);
      socket.once('close', () => clearInterval(timer));
    });
};
/** Sends the start, then the rest as fast as it is read. */
const flood = (start: string, rest: string): Behavior => {
  return (socket) =>
    socket.once('data', () => {
      const more = () => {
        while (!socket.destroyed && socket.write(rest)) continue;
      };
      socket.write(start);
      socket.on('drain', more);
      more();
    });
};
const OK = 'HTTP/1.1 200 OK\r\n';
const RECEIVED = { status_code: 200 };
const failed = (failure: string) => ({ failure });
const READING = failed('reading took too long');
const CONNECTING = failed('connecting took too long');

/** What the receiver does with a connection → what is recorded. */
const CONNECTIONS: [string, Behavior, Omit<WebhookAnswer, 'duration_ms'>][] = [
  ['answers 200 and keeps the connection open', answer(`${OK}content-length: 2\r\n\r\nok`), RECEIVED],
  ['answers 204 without a body', answer('HTTP/1.1 204 No Content\r\n\r\n'), { status_code: 204 }],
  [
    'answers as HTTP/1.0 and closes',
    (socket) => socket.once('data', () => socket.end('HTTP/1.0 200 OK\r\n\r\nok')),
    RECEIVED,
  ],
  [
    'sends informational answers first',
    answer('HTTP/1.1 103 Early Hints\r\n\r\n', `${OK}content-length: 0\r\n\r\n`),
    RECEIVED,
  ],
  [
    'names an encoding it does not use',
    answer(`${OK}content-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc`),
    RECEIVED,
  ],
  ['answers with an endless body', flood(`${OK}\r\n`, 'x'.repeat(16_384)), RECEIVED],
  [
    'switches protocols',
    answer('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
    { status_code: 101, failure: 'answered 101' },
  ],
  [
    'switches protocols to none',
    answer('HTTP/1.1 101 Switching Protocols\r\n\r\n'),
    { status_code: 101, failure: 'answered 101' },
  ],
  ['drips informational answers', drip('', 'HTTP/1.1 102 Processing\r\n\r\n'), READING],
  [
    'floods informational answers',
    flood('', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(100)),
    failed('the answer is too long'),
  ],
  ['says nothing', () => undefined, READING],
  ['drips its status line', drip('H', ' '), failed('the answer is not HTTP/1.1')],
  ['drips its headers', drip(OK, 'x: y\r\n'), READING],
  ['drips its body', drip(`${OK}\r\n`, 'x'), READING],
  ['drips chunks', drip(`${OK}transfer-encoding: chunked\r\n\r\n`, '1\r\nx\r\n'), READING],
  ['never ends its last chunk', answer(`${OK}transfer-encoding: chunked\r\n\r\n0\r\n`), READING],
  ['drips trailers', drip(`${OK}transfer-encoding: chunked\r\n\r\n0\r\n`, 'x: y\r\n'), READING],
  ['promises more body than it sends', answer(`${OK}content-length: 10\r\n\r\nabc`), READING],
  [
    'closes within its body',
    (socket) => socket.once('data', () => socket.end(`${OK}content-length: 10\r\n\r\nabc`)),
    failed('the connection broke'),
  ],
  ['closes without an answer', (socket) => socket.once('data', () => socket.end()), failed('the connection broke')],
  ['closes at once', (socket) => socket.end(), failed('the connection broke')],
  [
    'breaks off within its body',
    (socket) => socket.once('data', () => socket.write(`${OK}content-length: 10\r\n\r\nabc`, () => socket.destroy())),
    failed('the connection broke'),
  ],
  [
    'sends headers that are too long',
    flood(OK, `x: ${'y'.repeat(1_000)}\r\n`),
    failed('the headers of the answer are too long'),
  ],
  ['speaks another protocol', answer('220 mail.example ESMTP\r\n'), failed('the answer is not HTTP/1.1')],
  [
    'names two lengths',
    answer(`${OK}content-length: 1\r\ncontent-length: 2\r\n\r\nab`),
    failed('the answer is not HTTP/1.1'),
  ],
];

describe('whatever a receiver does, an attempt has an outcome and leaves no connection open', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'webhook-tls-'));
  const open = new Set<Socket>();
  const closing: (() => void)[] = [];
  const listen = async (server: Server): Promise<number> => {
    server.on('connection', (socket: Socket) => {
      open.add(socket);
      socket.on('error', () => undefined).once('close', () => open.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => server.close());
    return (server.address() as AddressInfo).port;
  };
  afterAll(() => {
    for (const socket of open) socket.destroy();
    for (const close of closing) close();
    rmSync(folder, { recursive: true });
  });

  /** A certificate for localhost that signs itself, and one for nobody that is trusted. */
  const certificate = (name: string, alt_name: string) => {
    const [key, cert] = [path.join(folder, `${name}.key`), path.join(folder, `${name}.pem`)];
    const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key, '-out', cert];
    execFileSync(
      'openssl',
      ['req', '-x509', '-subj', `/CN=${name}`, '-addext', `subjectAltName=${alt_name}`, ...made],
      {
        stdio: 'ignore',
      },
    );
    return { key: readFileSync(key), cert: readFileSync(cert), file: cert };
  };

  /**
   * A name server that knows `inside.example` (a private address) and no other name; it leaves `silent.example`
   * unanswered. Of `inside4.example` it has the same address, and does not answer for IPv6.
   */
  const aNameServer = async () => {
    const server = createSocket('udp4', (query, { port, address }) => {
      const name_end = query.indexOf(0, 12) + 1;
      const asked = query.subarray(12, name_end + 4);
      const name = query.subarray(13, name_end - 1).toString('latin1');
      const is_ipv4 = asked.readUInt16BE(asked.length - 4) === 1;
      if (name.startsWith('silent') || (name.startsWith('inside4') && !is_ipv4)) return;
      const found = name.startsWith('inside') && is_ipv4;
      const header = Buffer.from(query.subarray(0, 12));
      header.writeUInt16BE(name.startsWith('inside') ? 0x8180 : 0x8183, 2);
      header.writeUInt16BE(found ? 1 : 0, 6);
      header.fill(0, 8, 12);
      const record = found ? Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1]) : Buffer.alloc(0);
      server.send(Buffer.concat([header, asked, record]), port, address);
    });
    await new Promise<void>((resolve) => server.bind(0, '127.0.0.1', resolve));
    closing.push(() => server.close());
    return `127.0.0.1:${server.address().port}`;
  };

  test('over TCP, TLS and DNS', async () => {
    const trusted = certificate('trusted', 'DNS:localhost');
    const other = certificate('other', 'DNS:localhost');
    const rows: {
      does: string;
      url: string;
      recorded: Omit<WebhookAnswer, 'duration_ms'>;
      public_only?: boolean;
      time_limit_ms?: number;
    }[] = [];
    for (const [does, behavior, recorded] of CONNECTIONS) {
      rows.push({ does, url: `http://127.0.0.1:${await listen(createServer(behavior))}/`, recorded });
      // The same behind TLS, where a connection ends in other ways.
      const port = await listen(createTlsServer({ ...trusted, ALPNProtocols: ['http/1.1'] }, behavior));
      rows.push({ does: `behind TLS ${does}`, url: `https://localhost:${port}/`, recorded });
    }
    const refused = createServer();
    const refused_port = await listen(refused);
    refused.close();
    const https = async (server: Server, host = 'localhost') => `https://${host}:${await listen(server)}/`;
    const ok = answer(`${OK}content-length: 0\r\n\r\n`);
    rows.push(
      {
        does: 'is called by a URL whose scheme is in capitals',
        url: (await https(createTlsServer(trusted, ok))).replace('https', 'HTTPS'),
        recorded: RECEIVED,
      },
      {
        does: 'nobody listens',
        url: `http://127.0.0.1:${refused_port}/`,
        recorded: failed('the connection was refused'),
      },
      { does: 'TLS stalls', url: await https(createServer(() => undefined)), recorded: CONNECTING },
      {
        does: 'TLS drips',
        url: await https(createServer(drip('\x16\x03\x03\x3f\xff', 'x'))),
        recorded: CONNECTING,
      },
      {
        does: 'TLS is not spoken',
        url: await https(createServer(answer('HTTP/1.1 400 Bad Request\r\n\r\n'))),
        recorded: failed('TLS could not be agreed on'),
      },
      {
        does: 'TLS 1.1 is the newest',
        url: await https(createTlsServer({ ...trusted, minVersion: 'TLSv1', maxVersion: 'TLSv1.1' }, ok)),
        recorded: failed('TLS could not be agreed on'),
      },
      {
        does: 'resets the connection at once',
        url: `http://127.0.0.1:${await listen(createServer((socket) => socket.resetAndDestroy()))}/`,
        recorded: failed('the connection broke'),
      },
      {
        does: 'HTTP/2 is the only protocol',
        url: `http://127.0.0.1:${await listen(createHttp2Server() as unknown as Server)}/`,
        recorded: failed('the answer is not HTTP/1.1'),
      },
      {
        does: 'HTTP/2 is the only protocol, over TLS',
        url: await https(createSecureHttp2Server(trusted) as unknown as Server),
        recorded: failed('TLS could not be agreed on'),
      },
      {
        does: 'the certificate is nobody’s',
        url: await https(createTlsServer(other, ok)),
        recorded: failed('the TLS certificate is not valid for the host'),
      },
      {
        does: 'the certificate is another host’s',
        url: await https(createTlsServer(trusted, ok), '127.0.0.1'),
        recorded: failed('the TLS certificate is not valid for the host'),
      },
      {
        does: 'the name is private',
        url: 'http://inside.example/',
        recorded: failed('the address is private'),
        public_only: true,
      },
      {
        does: 'the name server is silent about IPv6, and the address is private',
        url: 'http://inside4.example/',
        recorded: failed('the address is private'),
        public_only: true,
        time_limit_ms: BEFORE_THE_RESOLVER_MS,
      },
      {
        does: 'the name is unknown',
        url: 'http://nowhere.example/',
        recorded: failed('the name of the host is unknown'),
        public_only: true,
      },
      {
        does: 'the name server is silent',
        url: 'http://silent.example/',
        recorded: CONNECTING,
        public_only: true,
        time_limit_ms: BEFORE_THE_RESOLVER_MS,
      },
    );

    const webhooks = rows.map(({ url, public_only, time_limit_ms = SLOWEST_MS }) =>
      aWebhook({ url, time_limit_ms, private_addresses: public_only !== true }),
    );
    const sending = promisify(execFile)(
      process.execPath,
      ['-e', PROGRAM, JSON.stringify({ webhooks, name_server: await aNameServer() })],
      { cwd: repositoryRoot(), env: { ...process.env, NODE_EXTRA_CA_CERTS: trusted.file } },
    );
    // It ends by itself: nothing is left open on our side.
    const answers = JSON.parse((await sending).stdout) as WebhookAnswer[];
    const recorded = answers.map(({ status_code, failure }, i) => ({ does: rows[i]!.does, status_code, failure }));
    expect(recorded).toEqual(rows.map(({ does, recorded: expected }) => ({ does, ...expected })));
  });
});

/** Sends webhooks, all at once, and prints the answers as JSON; ends once no connection and no timer is left open. */
const PROGRAM = `
  const { postWebhook } = require('./dist/src/webhook/post');
  const { webhooks, name_server } = JSON.parse(process.argv[1]);
  require('./dist/src/webhook/resolve').resolver.setServers([name_server]);
  void Promise.all(webhooks.map((webhook) => postWebhook(webhook))).then((answers) => {
    process.stdout.write(JSON.stringify(answers));
  });
`;

test('rules 13.5: a host that takes a second to connect is reached, although its other address is not', async () => {
  const receiving = spawn(process.execPath, ['-e', BUSY_RECEIVER], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(receiving.stdout, 'data')) as [Buffer];
  const port = Number(line.toString());
  // While it is stopped and its queue is full, the system drops what begins a connection: it is sent again after a second.
  receiving.kill('SIGSTOP');
  const before = Array.from({ length: 4 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
  await sleep(200);
  const webhook = aWebhook({ url: `http://shop.example:${port}/`, time_limit_ms: 30_000 });
  const arguments_ = JSON.stringify({ webhook, receiving: receiving.pid });
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', TO_TWO_ADDRESSES, arguments_], {
    cwd: repositoryRoot(),
  });
  for (const socket of before) socket.destroy();
  receiving.kill('SIGKILL');
  expect(JSON.parse(stdout)).toMatchObject({ status_code: 200 });
});

/** Prints its port. */
const BUSY_RECEIVER = `
  const server = require('node:http').createServer((request, response) => response.end());
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => process.stdout.write(String(server.address().port)));
`;

/** Sends a webhook to a host of two addresses, lets the receiver go on after the first 600 ms, and prints the answer. */
const TO_TWO_ADDRESSES = `
  const { webhook, receiving } = JSON.parse(process.argv[1]);
  const addresses = [{ address: '127.0.0.1', family: 4 }, { address: '::1', family: 6 }];
  require('node:dns').lookup = (_host, _options, answer) => process.nextTick(answer, null, addresses);
  const { postWebhook } = require('./dist/src/webhook/post');
  void postWebhook(webhook).then((answer) => process.stdout.write(JSON.stringify(answer)));
  setTimeout(() => process.kill(receiving, 'SIGCONT'), 600);
`;
