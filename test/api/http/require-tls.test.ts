import express from 'express';
import { requireTls, trustedProxies } from '../../../api/http/require-tls';

describe('rules 2.5: who may speak plain http', () => {
  const ask = (peer: string, forwarded: string | undefined, proxies: string) => {
    const app = express();
    const list = trustedProxies({ TRUSTED_PROXY: proxies });
    if (list.length > 0) app.set('trust proxy', list);
    const request = Object.create(app.request, {
      app: { value: app },
      socket: { value: { remoteAddress: peer } },
      connection: { value: { remoteAddress: peer } },
      headers: { value: forwarded === undefined ? {} : { 'x-forwarded-proto': forwarded } },
    }) as express.Request;
    const headers: Record<string, string> = {};
    const response = {
      setHeader: (name: string, value: string) => void (headers[name] = value),
    } as unknown as express.Response;
    const next = jest.fn();
    try {
      void requireTls()(request, response, next);
    } catch (error) {
      return (error as { error: string }).error;
    }
    return 'Strict-Transport-Security' in headers ? 'passes as https' : 'passes';
  };

  test.each([
    ['127.0.0.1', undefined, '', 'passes'],
    ['::1', undefined, '', 'passes'],
    ['::ffff:127.0.0.1', undefined, '', 'passes'],
    ['203.0.113.9', undefined, '', 'Forbidden'],
    ['203.0.113.9', 'https', '', 'Forbidden'], // a header anyone can send
    ['10.0.0.1', undefined, '10.0.0.1', 'Forbidden'],
    // A proxy on this machine: what it passes on and a request of this machine look the same.
    ['127.0.0.1', undefined, '127.0.0.1', 'Forbidden'],
    ['127.0.0.1', 'https', '127.0.0.1', 'passes as https'],
    ['10.0.0.1', 'https', '10.0.0.1', 'passes as https'],
    ['10.0.0.1', 'http', '10.0.0.1', 'Forbidden'],
    ['10.0.3.4', 'https', '192.0.2.0/24, 10.0.0.0/16', 'passes as https'],
    ['10.0.0.9', 'https', '10.0.0.1', 'Forbidden'],
  ])('from %s, X-Forwarded-Proto %s, trusted "%s": %s', (peer, forwarded, proxies, outcome) => {
    expect(ask(peer, forwarded, proxies)).toBe(outcome);
  });
});
