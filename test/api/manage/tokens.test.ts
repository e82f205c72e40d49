import { createHmac, createPrivateKey, generateKeyPairSync, randomUUID } from 'node:crypto';
import { SignJWT, decodeProtectedHeader } from 'jose';
import { Tokens } from '../../../api/manage/tokens';
import type { OAuthClient } from '../../../src/db/projects/oauth-clients';
import { currentSigningKey } from '../../../src/db/projects/token-keys';
import { SecretKeys } from '../../../src/secrets';
import { secrets } from '../../support/database';
import { aManageHost } from '../../support/manage';
import { setUp } from '../../support/set-up';

/** What is no token of ours is refused, whatever it looks like (rules 21.4). */

const ISSUER = 'https://manage.example.com';
const HOUR_MS = 3_600_000;
const host = setUp(aManageHost);
let client_id: string;
beforeAll(async () => {
  ({ client_id } = await host.aClient('operator'));
  await host.tokens.keySet(Date.now());
});

const statusWith = async (token: string) => (await host.send('GET', '/v1/merchants/', { token })).status;

/** A token that our own key signs, good but for what `change` makes of it. */
async function aToken(
  change: { header?: Record<string, string>; claims?: Record<string, unknown>; foreign?: boolean } = {},
): Promise<string> {
  const { kid, private_key } = (await currentSigningKey(host.database.db))!;
  const now = Math.floor(Date.now() / 1_000);
  const claims = { iss: ISSUER, aud: 'payments', sub: client_id, iat: now, exp: now + 600, role: 'operator' };
  const key = change.foreign
    ? generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    : createPrivateKey(secrets.decrypt(private_key, kid));
  return await new SignJWT({ ...claims, ...change.claims })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid, ...change.header })
    .sign(key);
}

const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The token with another head, signed by `sign`. */
async function withHead(head: Record<string, unknown>, sign: (input: string) => string): Promise<string> {
  const [, payload] = (await aToken()).split('.');
  const input = `${base64url(head)}.${payload}`;
  return `${input}.${sign(input)}`;
}

test('a good token is accepted, so that the following ones are refused for their own reason', async () => {
  expect(await statusWith(await aToken())).toBe(200);
});

const seconds = (offset: number) => Math.floor(Date.now() / 1_000) + offset;

test.each<[string, () => Promise<string>]>([
  ['alg none', () => withHead({ alg: 'none', typ: 'at+jwt' }, () => '')],
  [
    'HS256 with the public key as secret',
    async () => {
      const { keys } = (await host.tokens.keySet(Date.now())) as { keys: Record<string, string>[] };
      const { kid } = keys[0]!;
      const secret = JSON.stringify(keys[0]);
      return await withHead({ alg: 'HS256', typ: 'at+jwt', kid }, (input) =>
        createHmac('sha256', secret).update(input).digest('base64url'),
      );
    },
  ],
  ['a foreign key under our id', () => aToken({ foreign: true })],
  ['an id of no key', () => aToken({ header: { kid: randomUUID() } })],
  [
    'a key in its own head',
    async () => {
      const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      return await withHead(
        { alg: 'ES256', typ: 'at+jwt', jwk: publicKey.export({ format: 'jwk' }), kid: randomUUID() },
        () => 'AAAA',
      );
    },
  ],
  ['another audience', () => aToken({ claims: { aud: 'other' } })],
  ['another issuer', () => aToken({ claims: { iss: 'https://other.example.com' } })],
  ['another type', () => aToken({ header: { typ: 'JWT' } })],
  ['expired', () => aToken({ claims: { iat: seconds(-700), exp: seconds(-100) } })],
  ['not yet valid', () => aToken({ claims: { nbf: seconds(300) } })],
  ['without an end', () => aToken({ claims: { exp: undefined } })],
  ['without a client', () => aToken({ claims: { sub: undefined } })],
  ['a client that does not exist', () => aToken({ claims: { sub: randomUUID() } })],
  ['a changed payload', async () => (await aToken()).replace(/\.[^.]+\./, `.${base64url({ sub: client_id })}.`)],
  ['text', () => Promise.resolve('a.b.c')],
])('rules 21.4: %s: 401', async (_title, make) => {
  expect(await statusWith(await make())).toBe(401);
});

test('rules 21.4: the role is that of the database, whatever the token says', async () => {
  const merchant = (await host.database.db('merchants').first('id')) as { id: string };
  const { client_id: sub } = await host.aClient('merchant', merchant.id);
  expect(await statusWith(await aToken({ claims: { sub } }))).toBe(403);
});

test('rules 21.13: a revoked client: its tokens are refused at once, and it gets no new one', async () => {
  const [operator, client] = [await host.aToken('operator'), await host.aClient('operator')];
  const token = String((await host.askToken({ ...client })).body['access_token']);
  expect(await statusWith(token)).toBe(200);
  const revoke = () => host.send('DELETE', `/v1/clients/${client.client_id}/`, { token: operator });
  expect((await revoke()).status).toBe(204);
  expect(await statusWith(token)).toBe(401);
  expect((await host.askToken({ ...client })).status).toBe(401);
  expect((await revoke()).status).toBe(404);
});

test('rules 21.5: a rolled key signs no more, and checks what it has signed until that has expired', async () => {
  const before = await aToken();
  const now = Date.now();
  const kid = await host.tokens.rotate(now);
  const after = await aToken();
  expect(decodeProtectedHeader(after).kid).toBe(kid);
  expect([await statusWith(before), await statusWith(after)]).toEqual([200, 200]);
  const kids = async (at: number) =>
    ((await host.tokens.keySet(at)) as { keys: { kid: string }[] }).keys.map((key) => key.kid);
  expect(await kids(now)).toEqual([kid, decodeProtectedHeader(before).kid]);
  expect(await kids(now + HOUR_MS + 61_000)).toEqual([kid]);
});

test('rules 21.5: a key of 30 days is replaced by the next token request, once by however many', async () => {
  const current = (await currentSigningKey(host.database.db))!.kid;
  const later = Date.now() + 30 * 24 * HOUR_MS;
  const issue = () => host.tokens.issue({ client_id, role: 'operator', merchant_id: null } as OAuthClient, later);
  // Anyone may read the set, also while nothing is written.
  await host.tokens.keySet(later);
  expect((await currentSigningKey(host.database.db))!.kid).toBe(current);
  await Promise.all(Array.from({ length: 4 }, issue));
  const replaced = (await currentSigningKey(host.database.db))!.kid;
  expect(replaced).not.toBe(current);
  await issue();
  expect((await currentSigningKey(host.database.db))!.kid).toBe(replaced);
});

test('rules 21.5: a private key is stored encrypted, and is of no use without SECRET_KEYS', async () => {
  const { private_key } = (await currentSigningKey(host.database.db))!;
  expect(private_key.data.toString('latin1')).not.toContain('PRIVATE KEY');
  const others = new SecretKeys(`other:${Buffer.alloc(32, 9).toString('base64')}`);
  const tokens = new Tokens({ db: host.database.db, secrets: others, issuer: ISSUER });
  const client = { client_id, role: 'operator', merchant_id: null } as Parameters<Tokens['issue']>[0];
  await expect(tokens.issue(client, Date.now())).rejects.toThrow('SECRET_KEYS');
});
