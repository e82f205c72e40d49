import type { Request } from 'express';
import type { OrderView } from '../../src/db/order-view';
import { formatAmount } from '../../src/domain/currency';
import { knownLocale } from '../../src/domain/locale';
import { textsFor, type Texts } from './languages';

/** How the page speaks to its reader: the language of the texts and the notation of amounts. */
export interface Reader {
  /** The value of `<html lang>`. */
  readonly lang: string;
  readonly texts: Texts;
  amount(order: Pick<OrderView, 'amount' | 'currency'>): string;
  /** An instant in words. In UTC: without a script the customer's time zone is unknown. */
  instant(epoch_ms: number): string;
}

/** Chosen by the order's locale, else its customer's, else the browser's languages. */
export function readerOf(request: Request, order?: Pick<OrderView, 'locale' | 'customer'>): Reader {
  const named = [order?.locale, order?.customer?.['locale']].filter((locale) => typeof locale === 'string');
  const wanted = [...named, ...request.acceptsLanguages()];
  const locale = knownLocale(wanted);
  const { lang, dates, texts } = textsFor(wanted);
  const instants = new Intl.DateTimeFormat(dates, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
  return {
    lang,
    texts,
    amount: ({ amount, currency }) => formatAmount(amount, currency, locale),
    instant: (epoch_ms) => `${instants.format(epoch_ms)} UTC`,
  };
}

/** Whether a request prefers JSON to a page, as programs do. */
export function prefersJson(request: Request): boolean {
  return request.accepts(['html', 'json']) === 'json';
}
