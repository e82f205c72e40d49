import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';
import { createRemoteJWKSet, errors, jwtVerify } from 'jose';
import { z } from 'zod';
import type { Config } from '../config';

/** The name of the operator who sends a request; `undefined` without a valid sign-in. */
export type SignIn = (request: IncomingMessage) => Promise<string | undefined>;

/** The issuer of the tokens does not answer. */
export class SignInUnavailable extends Error {}

type SignInConfig = Pick<Config, 'CODEC_HOST' | 'CODEC_TRUSTED_PROXY' | 'CODEC_TOKEN_ISSUER' | 'CODEC_TOKEN_AUDIENCE'>;

/**
 * How operators sign in to the codec server (rules 24.5): by the token that the Web UI got from the issuer, through a
 * proxy that has signed them in, or, without either, on this machine's loopback. Throws an Error that names the
 * variable when that is not safe.
 */
export function signInOf(config: SignInConfig): SignIn {
  const { CODEC_HOST, CODEC_TRUSTED_PROXY, CODEC_TOKEN_ISSUER, CODEC_TOKEN_AUDIENCE } = config;
  if (CODEC_TOKEN_ISSUER !== undefined) {
    if (CODEC_TOKEN_AUDIENCE === undefined) {
      throw new Error('CODEC_TOKEN_AUDIENCE is not set: without it a token for any other program would do');
    }
    return byToken(CODEC_TOKEN_ISSUER, CODEC_TOKEN_AUDIENCE);
  }
  if (CODEC_TRUSTED_PROXY !== undefined) return byProxy(CODEC_TRUSTED_PROXY);
  if (!addresses('127.0.0.0/8,::1').check(...addressOf(CODEC_HOST === 'localhost' ? '127.0.0.1' : CODEC_HOST))) {
    throw new Error(
      `CODEC_HOST is ${CODEC_HOST}, where others reach the codec server: set CODEC_TOKEN_ISSUER or CODEC_TRUSTED_PROXY, or 127.0.0.1`,
    );
  }
  return () => Promise.resolve('local');
}

/** Errors of jose that are no verdict on the token: the issuer did not answer. */
const ISSUER_ERRORS = ['ERR_JWKS_TIMEOUT', 'ERR_JOSE_GENERIC', 'ERR_JWKS_INVALID'];

/** Sign-in by tokens of an OpenID Connect issuer, whose keys are fetched with the first token. */
function byToken(issuer: string, audience: string): SignIn {
  let keys: Promise<ReturnType<typeof createRemoteJWKSet>> | undefined;
  return async ({ headers }) => {
    const token = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1];
    if (token === undefined) return undefined;
    keys ??= findKeys(issuer).catch((error: unknown) => {
      keys = undefined;
      throw new SignInUnavailable('the issuer of tokens does not answer', { cause: error });
    });
    const found = await keys;
    try {
      return (await jwtVerify(token, found, { issuer, audience })).payload.sub;
    } catch (error) {
      if (error instanceof errors.JOSEError && !ISSUER_ERRORS.includes(error.code)) return undefined;
      throw new SignInUnavailable('the keys of the issuer of tokens cannot be read', { cause: error });
    }
  };
}

async function findKeys(issuer: string) {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
  const { jwks_uri } = z.object({ jwks_uri: z.url() }).parse(await response.json());
  return createRemoteJWKSet(new URL(jwks_uri));
}

/** Sign-in by a proxy that admits only signed-in operators and sends their names. */
function byProxy(list: string): SignIn {
  const proxies = addresses(list);
  return ({ socket, headers }) => {
    const operator = headers['x-forwarded-user'];
    const is_proxy = proxies.check(...addressOf(socket.remoteAddress ?? ''));
    return Promise.resolve(is_proxy && typeof operator === 'string' && operator !== '' ? operator : undefined);
  };
}

/** Parses a comma-separated list of addresses and subnets. Throws an Error that names an invalid entry. */
function addresses(list: string): BlockList {
  const found = new BlockList();
  for (const entry of list.split(',')) {
    const [address = '', bits] = entry.trim().split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    try {
      if (bits === undefined) found.addAddress(address, family);
      // Number('') is 0, which would trust everybody.
      else found.addSubnet(address, /^\d+$/.test(bits) ? Number(bits) : Number.NaN, family);
    } catch (cause) {
      throw new Error(`CODEC_TRUSTED_PROXY: ${entry.trim()} is neither an address nor a subnet`, { cause });
    }
  }
  return found;
}

const addressOf = (address: string): [string, 'ipv4' | 'ipv6'] => {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '');
  return [plain, isIPv6(plain) ? 'ipv6' : 'ipv4'];
};
