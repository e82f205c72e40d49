import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT, exportJWK, generateKeyPair } from 'jose';
import { SignInUnavailable, signInOf } from '../../../src/temporal/operator-sign-in';

/** Who is signed in, by what a request carries. */
const aRequest = (headers: Record<string, string>, remoteAddress = '192.0.2.1') =>
  ({ headers, socket: { remoteAddress } }) as unknown as IncomingMessage;
const config = (given: Partial<Parameters<typeof signInOf>[0]>): Parameters<typeof signInOf>[0] => ({
  CODEC_HOST: '0.0.0.0',
  CODEC_TOKEN_ISSUER: undefined,
  CODEC_TOKEN_AUDIENCE: undefined,
  CODEC_TRUSTED_PROXY: undefined,
  ...given,
});

describe('without an issuer and without a proxy', () => {
  test.each(['127.0.0.1', '127.0.0.5', '::1', 'localhost'])('on loopback (%s) nobody signs in', async (CODEC_HOST) => {
    expect(await signInOf(config({ CODEC_HOST }))(aRequest({}))).toBe('local');
  });

  test.each(['0.0.0.0', '::', '10.0.0.1', 'codec.example.com'])(
    '%s is no loopback: it does not start',
    (CODEC_HOST) => {
      expect(() => signInOf(config({ CODEC_HOST }))).toThrow(/^CODEC_HOST is .* set CODEC_TOKEN_ISSUER or/);
    },
  );
});

describe('behind a proxy that signs operators in', () => {
  const signIn = signInOf(config({ CODEC_TRUSTED_PROXY: '10.0.0.7, fd00::/8,172.16.0.0/12' }));

  test.each([
    ['10.0.0.7', { 'x-forwarded-user': 'ada' }, 'ada'],
    ['::ffff:10.0.0.7', { 'x-forwarded-user': 'ada' }, 'ada'],
    ['fd00::1', { 'x-forwarded-user': 'ada' }, 'ada'],
    ['172.20.0.1', { 'x-forwarded-user': 'ada' }, 'ada'],
    ['10.0.0.8', { 'x-forwarded-user': 'ada' }, undefined],
    ['127.0.0.1', { 'x-forwarded-user': 'ada' }, undefined],
    ['10.0.0.7', {}, undefined],
    ['10.0.0.7', { 'x-forwarded-user': '' }, undefined],
  ])('from %s with %j: %s', async (address, headers, operator) => {
    expect(await signIn(aRequest(headers as Record<string, string>, address))).toBe(operator);
  });
});

test.each(['proxy.example.com', '10.0.0.0/33', '10.0.0.0/x', '10.0.0.5/', ''])(
  '%j is no list of proxies',
  (CODEC_TRUSTED_PROXY) => {
    expect(() => signInOf(config({ CODEC_TRUSTED_PROXY }))).toThrow(
      `CODEC_TRUSTED_PROXY: ${CODEC_TRUSTED_PROXY} is neither an address nor a subnet`,
    );
  },
);

describe('by the token of the Web UI', () => {
  const audience = 'temporal-ui';
  let server: Server;
  let issuer: string;
  let sign: (claims: { issuer?: string; audience?: string; expires?: string }) => Promise<string>;
  beforeAll(async () => {
    const { publicKey, privateKey } = await generateKeyPair('RS256');
    const keys = { keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'RS256' }] };
    server = createServer((request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(request.url === '/keys' ? keys : { jwks_uri: `${issuer}/keys` }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    sign = (claims) =>
      new SignJWT({})
        .setProtectedHeader({ alg: 'RS256', kid: 'k' })
        .setSubject('ada')
        .setIssuer(claims.issuer ?? issuer)
        .setAudience(claims.audience ?? audience)
        .setExpirationTime(claims.expires ?? '1h')
        .sign(privateKey);
  });
  afterAll(() => server.close());
  const signInWith = (token: string) =>
    signInOf(config({ CODEC_TOKEN_ISSUER: issuer, CODEC_TOKEN_AUDIENCE: audience }))(
      aRequest({ authorization: `Bearer ${token}` }),
    );

  test('one of the issuer for this audience', async () => {
    expect(await signInWith(await sign({}))).toBe('ada');
  });

  test.each([[{ issuer: 'http://elsewhere.test' }], [{ audience: 'another-program' }], [{ expires: '-1m' }]])(
    'not with %j',
    async (claims) => {
      expect(await signInWith(await sign(claims))).toBeUndefined();
    },
  );

  test('nor without a token, nor with a changed one', async () => {
    const signIn = signInOf(config({ CODEC_TOKEN_ISSUER: issuer, CODEC_TOKEN_AUDIENCE: audience }));
    expect(await signIn(aRequest({}))).toBeUndefined();
    const [head, , signature] = (await sign({})).split('.');
    const claims = Buffer.from(JSON.stringify({ sub: 'eve', iss: issuer, aud: audience })).toString('base64url');
    for (const token of ['x', `${head}.${claims}.${signature}`]) expect(await signInWith(token)).toBeUndefined();
  });

  test('an issuer that does not answer is no refusal', async () => {
    const signIn = signInOf(config({ CODEC_TOKEN_ISSUER: 'http://127.0.0.1:1', CODEC_TOKEN_AUDIENCE: audience }));
    await expect(signIn(aRequest({ authorization: `Bearer ${await sign({})}` }))).rejects.toThrow(SignInUnavailable);
  });

  test('an issuer without an audience is refused: any token of it would do', () => {
    expect(() => signInOf(config({ CODEC_TOKEN_ISSUER: issuer }))).toThrow(/^CODEC_TOKEN_AUDIENCE is not set/);
  });
});
