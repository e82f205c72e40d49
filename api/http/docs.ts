import { existsSync } from 'node:fs';
import path from 'node:path';
import { Router, type RequestHandler } from 'express';
import { answerJson } from './answer';
import { otherMethods } from './bind';

/**
 * Scalar's browser bundle, compressed by `npm run build`. This file runs from api/http, or compiled from dist/api/http.
 */
const SCALAR = 'scalar.js.gz';
const DIST = ['../..', '../../dist']
  .map((folder) => path.join(__dirname, folder))
  .find((folder) => existsSync(path.join(folder, SCALAR)));

/**
 * Everything comes from this server: no font, script or telemetry from outside. Scalar writes style elements and data
 * images.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Starts Scalar. Addresses are relative to the page, so that it works below a path prefix too. API keys are not stored.
 */
const START = `const folder = new URL('.', document.currentScript.src);
Scalar.createApiReference('#docs', {
  url: new URL('openapi.json', folder).href,
  servers: [{ url: new URL('..', folder).href.replace(/\\/$/, '') }],
  persistAuth: false,
  telemetry: false,
  withDefaultFonts: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  documentDownloadType: 'json',
  defaultOpenAllTags: true,
});
`;

/** An OpenAPI document, as far as its page knows it. */
export interface ApiDocument {
  readonly info: { readonly title: string };
}

/** Documentation of an API at /docs/, with a console to try calls, and its OpenAPI document at /docs/openapi.json. */
export function docs(document: ApiDocument): Router {
  const router = Router({ caseSensitive: true });
  const read = (file: string, handler: RequestHandler) =>
    router
      .route(file)
      .get(handler)
      .all(otherMethods(['get']));
  read('/', ({ originalUrl }, response) => {
    response.setHeader('Content-Security-Policy', POLICY);
    response.setHeader('Referrer-Policy', 'no-referrer');
    // Without the slash at its end the page is in the folder above.
    response.type('html').send(page(document.info.title, /\/docs($|\?)/.test(originalUrl) ? 'docs/' : ''));
  });
  // Made once: it is half a megabyte, and anybody may ask for it.
  const json = JSON.stringify(document);
  read('/openapi.json', (_request, response) => answerJson(response, 200, json));
  read('/start.js', (_request, response) => void response.type('js').send(START));
  read('/scalar.js', (request, response, next) => {
    if (DIST === undefined) throw new Error(`dist/${SCALAR} is missing: npm run build`);
    const headers = { 'Content-Type': 'text/javascript; charset=utf-8', 'Content-Encoding': 'gzip' };
    response.sendFile(SCALAR, { root: DIST, headers, maxAge: '1h', acceptRanges: false }, (error) => {
      if (error === undefined || request.socket.destroyed) return;
      // The answer to the error is plain text.
      if (!response.headersSent) response.removeHeader('Content-Encoding');
      next(error);
    });
  });
  return router;
}

const page = (title: string, folder: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
</head>
<body>
<div id="docs"></div>
<noscript>This page needs JavaScript. The <a href="${folder}openapi.json">OpenAPI document</a> does not.</noscript>
<script src="${folder}scalar.js"></script>
<script src="${folder}start.js"></script>
</body>
</html>
`;
