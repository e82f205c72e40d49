import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { RequestHandler } from 'express';
import { Refusal } from './refusal';

/**
 * Refuses requests that a web page could send to the private port: with an `Origin`, or with a host name that may have
 * been pointed at this machine (DNS rebinding). Loopback, addresses and the given names are allowed (rules 17.7).
 */
export function programsOnly(names: readonly string[]): RequestHandler {
  const allowed = new Set(['localhost', ...names.map((name) => name.toLowerCase())]);
  return (req, _res, next) => {
    const host = (req.headers.host ?? '').toLowerCase().replace(/:\d*$/, '');
    if (!allowed.has(host) && isIP(host.replace(/^\[|\]$/g, '')) === 0) {
      throw new Refusal(403, 'The simulator is not called by this name: the host of PROCESSOR_URL names it.', 'Host');
    }
    if (req.headers.origin !== undefined) throw new Refusal(403, 'Web pages have no access.', 'Origin');
    next();
  };
}

/**
 * Lets calls with `Authorization: Bearer <key>` pass. The comparison takes the same time for every wrong key (rules
 * 17.6).
 */
export function requireKey(key: string, name: string): RequestHandler {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const expected = digest(`Bearer ${key}`);
  return (req, res, next) => {
    if (timingSafeEqual(digest(req.get('authorization') ?? ''), expected)) return next();
    res.set('WWW-Authenticate', 'Bearer');
    throw new Refusal(401, `The ${name} is missing or wrong.`);
  };
}

/** Every POST is JSON: a form, or a request of another site that its browser sends without asking, is refused. */
export const jsonOnly: RequestHandler = (req, _res, next) => {
  if (req.method === 'POST' && typeof req.is('application/json') !== 'string') {
    throw new Refusal(415, 'Expected Content-Type: application/json.', 'Content-Type');
  }
  next();
};
