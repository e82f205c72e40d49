import type { ComponentChildren } from 'preact';
import { ASSETS } from '../assets';
import type { Reader } from '../reader';
import { LockIcon } from './icons';

/** What every page of one request shares. */
export interface Frame {
  reader: Reader;
  /** Path below which the service is reached, without a slash at its end; empty at the root. */
  base: string;
  is_test: boolean;
  /** Address of the order's page when this answers a form; a reload loads it. */
  home?: string | undefined;
}

interface LayoutProps extends Frame {
  title: string;
  /** Load `address` after so many seconds. */
  refresh?: { seconds: number; address: string } | undefined;
  children: ComponentChildren;
}

/** The whole document around a page's content. */
export function Layout({ reader, base, is_test, home, title, refresh, children }: LayoutProps) {
  const { lang, texts } = reader;
  return (
    <html lang={lang} data-home={home}>
      <head>
        <meta charset="utf-8" />
        <title>{title}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="format-detection" content="telephone=no" />
        {refresh && <meta http-equiv="refresh" content={`${refresh.seconds};url=${refresh.address}`} />}
        <link rel="stylesheet" href={base + ASSETS.style.path} />
        <link rel="icon" type="image/svg+xml" href={base + ASSETS.icon.path} />
        <script src={base + ASSETS.script.path} defer />
      </head>
      <body>
        {is_test && (
          <header class="banner">
            <strong>{texts.test_banner}</strong> · {texts.test_banner_detail}
          </header>
        )}
        <main>{children}</main>
        <footer>
          <LockIcon />
          {texts.secure}
        </footer>
      </body>
    </html>
  );
}
