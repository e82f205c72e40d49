import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { TLSSocket } from 'node:tls';
import { parseConfig } from '../../../src/config';
import { createLogger } from '../../../src/log';
import { connectTemporal, pingTemporal } from '../../../src/temporal/connect';
import { credentialsOf } from '../../../src/temporal/credentials';

const log = createLogger({ process: 'test', level: 'silent' });
let folder: string;
const file = (name: string) => path.join(folder, name);

/** A certificate that signs itself, for this name. */
function certify(name: string): void {
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`];
  const files = ['-keyout', file(`${name}.key`), '-out', file(`${name}.pem`)];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...subject, ...files], {
    stdio: 'ignore',
  });
}

beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'temporal-tls-'));
  for (const name of ['temporal.test', 'client.test']) certify(name);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What a server that asks for client certificates learns of a client with these variables. */
async function seenBy(
  variables: Record<string, string>,
): Promise<{ client?: string | undefined; authorization?: string }> {
  const server = http2.createSecureServer({
    cert: readFileSync(file('temporal.test.pem')),
    key: readFileSync(file('temporal.test.key')),
    ca: readFileSync(file('client.test.pem')),
    requestCert: true,
    rejectUnauthorized: false,
  });
  const sessions = new Set<http2.ServerHttp2Session>();
  server.on('session', (session) => sessions.add(session));
  let seen: { client?: string | undefined; authorization?: string } = {};
  server.on('stream', (stream, headers) => {
    const { subject } = (stream.session!.socket as unknown as TLSSocket).getPeerCertificate();
    seen = {
      ...(subject && { client: String(subject.CN) }),
      ...(headers.authorization !== undefined && { authorization: headers.authorization }),
    };
    stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '5' }, { endStream: true });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = connectTemporal({
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    namespace: 'n',
    payload_keys: undefined,
    credentials: credentialsOf(parseConfig(variables)),
    log,
  });
  try {
    await pingTemporal(client).catch(() => undefined);
    return seen;
  } finally {
    await client.connection.close();
    for (const session of sessions) session.destroy();
    server.close();
  }
}

const SERVER = () => ({
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: file('temporal.test.pem'),
  TEMPORAL_TLS_SERVER_NAME: 'temporal.test',
});

test('without any of the variables: plain text, whatever is in the home of the user', () => {
  expect(credentialsOf(parseConfig({}))).toEqual({});
});

test('mTLS: the server sees the certificate of the client', async () => {
  const client = {
    TEMPORAL_TLS_CLIENT_CERT_PATH: file('client.test.pem'),
    TEMPORAL_TLS_CLIENT_KEY_PATH: file('client.test.key'),
  };
  expect(await seenBy({ ...SERVER(), ...client })).toEqual({ client: 'client.test' });
});

test('an API key is sent, over TLS', async () => {
  expect(credentialsOf(parseConfig({ TEMPORAL_API_KEY: 'k' }))).toEqual({ tls: true, apiKey: 'k' });
  expect(await seenBy({ ...SERVER(), TEMPORAL_API_KEY: 'k' })).toEqual({ authorization: 'Bearer k' });
});

test('a server with a certificate of another name, or that nobody vouches for, learns nothing', async () => {
  expect(await seenBy({ ...SERVER(), TEMPORAL_TLS_SERVER_NAME: 'other.test', TEMPORAL_API_KEY: 'k' })).toEqual({});
  expect(await seenBy({ TEMPORAL_TLS: 'true', TEMPORAL_API_KEY: 'k' })).toEqual({});
});

test.each(['CERT', 'KEY'])('a client %s alone is a mistake', (part) => {
  const config = parseConfig({ [`TEMPORAL_TLS_CLIENT_${part}_PATH`]: file('client.test.pem') });
  expect(() => credentialsOf(config)).toThrow('mTLS needs both');
});
