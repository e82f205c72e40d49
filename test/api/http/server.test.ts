import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import express from 'express';
import { listen, type Listening } from '../../../api/http/server';
import { API_KEY, AUTHORIZATION, OWNER, serveTestApi } from '../../support/test-api';
import { until } from '../../support/waits';

const folder = mkdtempSync(path.join(tmpdir(), 'tls-'));
const TLS_CERT_FILE = path.join(folder, 'cert.pem');
const TLS_KEY_FILE = path.join(folder, 'key.pem');
const PLAIN = {
  host: '127.0.0.1',
  port: 0,
  TLS_CERT_FILE: undefined,
  TLS_KEY_FILE: undefined,
  TRUSTED_PROXY: '',
};

beforeAll(() => {
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '2',
      ...subject,
      '-keyout',
      TLS_KEY_FILE,
      '-out',
      TLS_CERT_FILE,
    ],
    {
      stdio: 'ignore',
    },
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

/**
 * The protocol a client that offers one version only ends up with. Security level 0: OpenSSL itself refuses TLS 1.1
 * otherwise.
 */
function connect(port: number, version: tls.SecureVersion): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const options = {
      port,
      host: '127.0.0.1',
      rejectUnauthorized: false,
      minVersion: version,
      maxVersion: version,
      ciphers: 'ALL:@SECLEVEL=0',
    };
    const socket = tls.connect(options, () => {
      resolve(socket.getProtocol());
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

describe('TLS', () => {
  test.each<tls.SecureVersion>(['TLSv1.2', 'TLSv1.3'])('%s is spoken, and HSTS sent', async (version) => {
    const api = await serveTestApi({ listen: { TLS_CERT_FILE, TLS_KEY_FILE } });
    expect(api.url).toMatch(/^https:/);
    expect(await connect(api.port, version)).toBe(version);
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = tls.connect({ port: api.port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
        socket.end(
          `GET /v1/merchants/self/projects/self HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: ${AUTHORIZATION}\r\n\r\n`,
        );
      });
      let text = '';
      socket.on('data', (chunk) => (text += String(chunk)));
      socket.on('end', () => resolve(text));
      socket.on('error', reject);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*Strict-Transport-Security: max-age=31536000\r\n/);
    await api.close();
  });

  test.each<tls.SecureVersion>(['TLSv1', 'TLSv1.1'])(
    'rules 2.4: %s is refused, and not because the client cannot speak it',
    async (version) => {
      const old = tls.createServer({
        cert: readFileSync(TLS_CERT_FILE),
        key: readFileSync(TLS_KEY_FILE),
        minVersion: 'TLSv1',
        ciphers: 'ALL:@SECLEVEL=0',
      });
      await new Promise<void>((resolve) => old.listen(0, '127.0.0.1', resolve));
      expect(await connect((old.address() as net.AddressInfo).port, version)).toBe(version);
      old.close();

      const api = await serveTestApi({ listen: { TLS_CERT_FILE, TLS_KEY_FILE } });
      await expect(connect(api.port, version)).rejects.toThrow(/protocol version|unsupported protocol|alert/i);
      await api.close();
    },
  );

  test.each([
    [{ TLS_CERT_FILE, TLS_KEY_FILE: undefined }, /^TLS_CERT_FILE is set, TLS_KEY_FILE is not/],
    [{ TLS_CERT_FILE: undefined, TLS_KEY_FILE }, /^TLS_KEY_FILE is set, TLS_CERT_FILE is not/],
    [{ TLS_CERT_FILE: 'nowhere.pem', TLS_KEY_FILE }, /^TLS_CERT_FILE names a file that cannot be read: nowhere\.pem$/],
  ])('half a configuration does not start: %#', async (files, message) => {
    await expect(listen(express(), { ...PLAIN, ...files })).rejects.toThrow(message);
  });
});

describe('plain http', () => {
  test.each(['0.0.0.0', '::', '192.0.2.1', 'example.com'])(
    'is refused on %s, in one line that says what to set',
    async (host) => {
      await expect(listen(express(), { ...PLAIN, host })).rejects.toThrow(
        /^The API does not listen in plain http on [^\n]*TLS_CERT_FILE[^\n]*TRUSTED_PROXY[^\n]*$/,
      );
    },
  );

  test.each(['127.0.0.1', 'localhost', '127.0.0.2'])('is allowed on %s', async (host) => {
    const server = await listen(express(), { ...PLAIN, host });
    expect(server.url).toBe(`http://${host}:${server.port}`);
    await server.close();
  });

  test('is allowed elsewhere for a trusted proxy', async () => {
    const server = await listen(express(), { ...PLAIN, host: '0.0.0.0', TRUSTED_PROXY: '10.0.0.1' });
    await server.close();
  });

  test('a port that is taken is named with its variable', async () => {
    const first = await listen(express(), PLAIN);
    await expect(listen(express(), { ...PLAIN, port: first.port })).rejects.toThrow(
      `Port ${first.port} is taken: set API_PORT`,
    );
    await first.close();
  });
});

describe('a request that Node refuses is answered in the documented shape', () => {
  let server: Listening;
  /** Whose time for a request is up soon. */
  let impatient: Listening;
  beforeAll(async () => {
    const app = express();
    app.post('/', (request, response) => {
      request.on('error', () => {});
      request.resume();
      request.on('end', () => response.end('read'));
    });
    app.get('/stream', (_request, response) => void response.write('first'));
    app.get('/late', (_request, response) => void setTimeout(() => response.end('late'), 50));
    server = await listen(app, PLAIN);
    impatient = await listen(app, PLAIN, { request_ms: 200, check_ms: 20 });
  });
  afterAll(() => Promise.all([server.close(), impatient.close()]));

  /** What a client hears that sends this and then nothing, until the server hangs up. */
  async function answerTo({ port }: Listening, ...parts: string[]): Promise<string> {
    const socket = net.connect(port, '127.0.0.1');
    socket.write(parts.join('\r\n'));
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString();
  }
  const errorOf = (answer: string) => {
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toMatch(/\r\nContent-Type: application\/json\r\n[^]*X-Request-Id: [0-9a-f-]{36}\r\nConnection: close/);
    return [head.split('\r\n')[0], (JSON.parse(body) as { error: { status: number; type: string } }).error];
  };

  test.each([
    ['headers that do not end', ['GET / HTTP/1.1', 'Host: localhost', 'X-Slow: ']],
    ['nothing at all', []],
    ['a body that does not end', ['POST / HTTP/1.1', 'Host: localhost', 'Content-Length: 10', '', '{']],
  ])('rules 2.8: %s: 408 once the time is up, then the connection is closed', async (_title, parts) => {
    expect(errorOf(await answerTo(impatient, ...parts))).toMatchObject([
      'HTTP/1.1 408 Request Timeout',
      { status: 408, type: 'RequestTimeout' },
    ]);
  });

  test('rules 2.8: headers that are too large: 431', async () => {
    const answer = await answerTo(
      server,
      'GET / HTTP/1.1',
      'Host: localhost',
      `X-Large: ${'x'.repeat(17_000)}`,
      '',
      '',
    );
    expect(errorOf(answer)).toMatchObject([
      'HTTP/1.1 431 Request Header Fields Too Large',
      { status: 431, type: 'RequestHeaderFieldsTooLarge' },
    ]);
  });

  test('a request that is not HTTP: 400', async () => {
    expect(errorOf(await answerTo(server, 'this is not http', '', ''))).toMatchObject([
      'HTTP/1.1 400 Bad Request',
      { status: 400, type: 'ValidationError' },
    ]);
  });

  test('a request that is carried out gets its own answer, and none what comes behind it', async () => {
    const parts = ['GET /late HTTP/1.1', 'Host: localhost', '', 'this is not http', '', ''];
    const answer = await answerTo(server, ...parts);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK[^]*\r\nlate$/);
  });

  test.each([
    ['', 'GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    [
      ': another request waits',
      'GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HTTP/1.1\r\nHost: localhost\r\n\r\n',
    ],
    [': its request has an unknown Expect', 'GET /stream HTTP/1.1\r\nHost: localhost\r\nExpect: it\r\n\r\n'],
  ])('no refusal is written into an answer that has begun%s', async (_title, requests) => {
    const socket = net.connect(server.port, '127.0.0.1');
    socket.write(requests);
    const chunks: Buffer[] = [];
    for await (const chunk of socket) {
      chunks.push(chunk as Buffer);
      socket.write('this is not http\r\n\r\n');
    }
    const answer = Buffer.concat(chunks).toString();
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK[^]*\r\nfirst\r\n$/);
  });
});

test('rules 18.9: a client that takes nothing of its answer is disconnected, one that takes it gets all of it', async () => {
  const app = express();
  const size = 32 * 1_024 * 1_024;
  let closed = 0;
  app.get('/', (request, response) => {
    request.socket.once('close', () => (closed += 1));
    response.end(Buffer.alloc(size));
  });
  // Long enough for a reader that the machine itself holds up.
  const server = await listen(app, PLAIN, { answer_ms: 3_000 });
  const client = net.connect(server.port, '127.0.0.1');
  client.on('error', () => undefined);
  client.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  expect(await until('the connection is closed', () => closed === 1)).toBe(true);
  client.destroy();
  expect((await (await fetch(server.url)).arrayBuffer()).byteLength).toBe(size);
  await server.close();
});

test('rules 2.9: close finishes the request that is open, and closes its connection', async () => {
  let release = () => {};
  const open = new Promise<void>((resolve) => (release = resolve));
  const api = await serveTestApi({
    operations: {
      listCurrencies: async () => {
        await open;
        return { payment_methods: {} };
      },
    },
    findOwner: async (key) => {
      setImmediate(release);
      return key === API_KEY ? OWNER : undefined;
    },
  });
  const answer = api.send('/v1/merchants/self/projects/self/currencies/');
  await open;
  const closed = api.close();
  const { status, headers } = await answer;
  expect([status, headers.get('connection')]).toEqual([200, 'close']);
  await closed;
  await expect(fetch(api.url)).rejects.toThrow();
});
