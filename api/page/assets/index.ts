import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import { Router, type RequestHandler } from 'express';
import { SCRIPT } from './script';
import { PAGE_STYLE } from './style';

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#3d3ccb"/><rect x="6" y="10" width="20" height="13" rx="2.5" fill="#fff"/><rect x="6" y="13" width="20" height="3.5" fill="#23245f"/></svg>`;

interface Asset {
  /** Below the service's address; it changes with the content. */
  readonly path: string;
  readonly type: string;
  readonly content: string;
}

function asset(extension: string, type: string, content: string): Asset {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 16);
  return { path: `/assets/${hash}.${extension}`, type, content };
}

/** Everything a page loads. */
export const ASSETS = {
  style: asset('css', 'text/css; charset=utf-8', PAGE_STYLE),
  script: asset('js', 'text/javascript; charset=utf-8', SCRIPT),
  icon: asset('svg', 'image/svg+xml', ICON),
};

/**
 * Serves the assets. They may be cached for ever, as their names derive from their content. While processes of two
 * releases run, one is asked for the assets of a page of the other: it answers with its own, which are not cached.
 */
export function assets(): Router {
  const router = Router({ caseSensitive: true });
  for (const { path, type, content } of Object.values(ASSETS)) {
    const serve =
      (caching: string): RequestHandler =>
      (_request, response) => {
        response.set({ 'Content-Type': type, 'Cache-Control': caching });
        response.end(content);
      };
    router.get(path, serve('public, max-age=31536000, immutable'));
    router.get(new RegExp(`^/assets/[0-9a-f]{16}[.]${extname(path).slice(1)}$`), serve('no-store'));
  }
  return router;
}
