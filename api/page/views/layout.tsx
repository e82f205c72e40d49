import type { ComponentChildren } from 'preact';
import { ASSETS } from '../assets';
import type { Localization } from '../languages';
import { LockIcon } from './icons';

/** Properties that all pages of one request share. */
export interface Frame {
  localization: Localization;
  /** Path below which the service is reached, without a slash at its end; empty at the root. */
  base: string;
  is_test: boolean;
  /** The time of the page's sandbox clock, epoch milliseconds; only where it was advanced (rules 23.8). */
  sandbox_time?: number | undefined;
  /** The address that a reload loads instead of sending the form again; for a page that answers a form. */
  reload_url?: string | undefined;
}

/** The address that a page loads next, and after how many seconds. */
export type Reload = { seconds: number; url: string };

interface LayoutProps extends Frame {
  title: string;
  /** With a script not while a link or button has the focus. */
  refresh?: Reload | undefined;
  children: ComponentChildren;
}

/** The script reloads by then, even where a button has had the focus; one that was not loaded does not. */
const SCRIPT_LATE_SECONDS = 70;

/** The whole document around a page's content. */
export function Layout({
  localization,
  base,
  is_test,
  sandbox_time,
  reload_url,
  title,
  refresh,
  children,
}: LayoutProps) {
  const { lang, texts } = localization;
  const byScript = refresh && refresh.seconds > 0 ? refresh : undefined;
  const reloads = (late_seconds: number) =>
    refresh && <meta http-equiv="refresh" content={`${refresh.seconds + late_seconds};url=${refresh.url}`} />;
  return (
    <html
      lang={lang}
      data-reload-url={reload_url}
      data-refresh-url={byScript?.url}
      data-refresh-seconds={byScript?.seconds}
    >
      <head>
        <meta charset="utf-8" />
        <title>{title}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="format-detection" content="telephone=no" />
        {byScript && <noscript>{reloads(0)}</noscript>}
        {reloads(byScript ? SCRIPT_LATE_SECONDS : 0)}
        <link rel="stylesheet" href={base + ASSETS.style.path} />
        <link rel="icon" type="image/svg+xml" href={base + ASSETS.icon.path} />
        <script src={base + ASSETS.script.path} defer />
      </head>
      <body>
        {is_test && (
          <header class="banner">
            <strong>{texts.test_banner}</strong> · {texts.test_banner_detail}
            {sandbox_time !== undefined && (
              <div>
                {texts.sandbox_time}: {localization.instant(sandbox_time)}
              </div>
            )}
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
