import { serveHttp, type HttpServer } from '../http-server';
import { scrape } from './recording';
import { messageOf } from '../errors';

/** The format of Prometheus, version 0.0.4. */
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * Answers `GET /metrics`. It asks no other server. `more`: metrics of another source, in the same format, left out when
 * they cannot be read. Rejects when the port is taken.
 */
export async function serveMetrics(
  place: { host: string; port: number },
  more: () => Promise<string> = () => Promise.resolve(''),
): Promise<HttpServer> {
  return await serveHttp((request, response) => {
    const end = (status: number, text: string) =>
      response.writeHead(status, { 'content-type': CONTENT_TYPE }).end(text);
    if (request.url?.split('?')[0] !== '/metrics') end(404, 'metrics are at /metrics\n');
    else if (request.method !== 'GET' && request.method !== 'HEAD') end(405, 'expected GET\n');
    else {
      Promise.all([scrape(), more().catch(() => '')]).then(
        (parts) => end(200, parts.map((part) => (part === '' ? '' : `${part.trimEnd()}\n`)).join('')),
        (error: unknown) => end(500, `${messageOf(error)}\n`),
      );
    }
  }, place);
}
