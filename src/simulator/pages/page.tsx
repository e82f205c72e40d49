import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';

/** A complete HTML document. preact escapes all values. */
export function renderPage(page: { title: string; width: 'wide' | 'narrow'; children: ComponentChildren }): string {
  const document = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>{page.title}</title>
        <link rel="stylesheet" href="/style.css" />
        <link rel="icon" href="data:," />
      </head>
      <body>
        <main class={page.width}>{page.children}</main>
      </body>
    </html>
  );
  return `<!doctype html>${renderToString(document)}`;
}
