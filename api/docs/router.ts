import { createHash } from 'node:crypto';
import { Router, type RequestHandler } from 'express';
import { renderToString } from 'preact-render-to-string';
import { openApi } from '../../src/contract/openapi';
import type { RouteSet } from '../../src/contract/routes';
import { answer } from '../http/answer';
import { otherMethods } from '../http/bind';
import { DocsPage } from './page';
import { STYLE } from './style';

/** Documentation of an API at /docs/ and /docs/openapi.json: rendered once, without scripts, needs no network. */
export function docs(routes: RouteSet): Router {
  const document = openApi(routes);
  const page = Buffer.from(`<!doctype html>${renderToString(DocsPage({ document }))}`);
  const style = createHash('sha256').update(STYLE).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${style}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

  const router = Router({ caseSensitive: true });
  const show: RequestHandler = (_request, response) => {
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.setHeader('Content-Length', page.length);
    response.setHeader('Content-Security-Policy', policy);
    response.setHeader('Referrer-Policy', 'no-referrer');
    response.end(page);
  };
  router
    .route('/')
    .get(show)
    .all(otherMethods(['get']));
  router
    .route('/openapi.json')
    .get((_request, response) => answer(response, 200, document))
    .all(otherMethods(['get']));
  return router;
}
