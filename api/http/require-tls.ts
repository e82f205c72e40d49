import type { RequestHandler } from 'express';
import { isLoopback, type Config } from '../../src/config';
import { ServiceError } from '../../src/errors';

/** The addresses of TRUSTED_PROXY as a list; none when it is empty. */
export function trustedProxies({ TRUSTED_PROXY }: Pick<Config, 'TRUSTED_PROXY'>): string[] {
  return TRUSTED_PROXY.split(',')
    .map((address) => address.trim())
    .filter((address) => address !== '');
}

/**
 * Accepts a request that came with TLS, through a trusted proxy that says so, or from this machine: an API key sent in
 * the clear is lost. Adds HSTS over https. Throws Forbidden (rules 2.5).
 */
export function requireTls(): RequestHandler {
  return (request, response, next) => {
    if (request.secure) {
      response.setHeader('Strict-Transport-Security', 'max-age=31536000');
      return next();
    }
    const peer = request.socket.remoteAddress ?? '';
    const trusted = (request.app.get('trust proxy fn') as (address: string, hop: number) => boolean)(peer, 0);
    if (!trusted && isLoopback(peer)) return next();
    throw new ServiceError('Forbidden', 'This service is only available over HTTPS.');
  };
}
