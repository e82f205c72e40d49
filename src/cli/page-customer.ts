import { orderPagePath } from '../domain/page-paths';

/** A customer of the hosted page without a browser: cookies are kept, redirects are not followed. */
export class PageCustomer {
  /** By name and path, as browsers keep them. */
  private cookies = new Map<string, { name: string; path: string; value: string }>();

  /** `base`: the address of the hosted page, without a path. */
  constructor(private readonly base: string) {}

  async send(path: string, init: RequestInit = {}): Promise<Response> {
    const cookie = [...this.cookies.values()]
      .filter((one) => path.toLowerCase().startsWith(one.path))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
    const headers = { ...(cookie === '' ? {} : { cookie }), ...(init.headers as Record<string, string>) };
    const response = await fetch(new URL(path, this.base), { redirect: 'manual', ...init, headers });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value, at] = /^([^=]+)=([^;]*);.* Path=([^;]+)/.exec(line) ?? [];
      if (name !== undefined && value !== undefined && at !== undefined) {
        this.cookies.set(`${name} ${at}`, { name, value, path: at });
      }
    }
    return response;
  }

  async postForm(
    path: string,
    fields: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return await this.send(path, { method: 'POST', body: new URLSearchParams(fields), headers });
  }

  /** Opens the page of an order, or the page at `path`, and answers the hidden fields that each of its forms has. */
  async openPage({ id }: { id: string }, path = orderPagePath(id)): Promise<{ token: string; attempt: string }> {
    const html = await (await this.send(path)).text();
    return { token: hidden(html, 'token'), attempt: hidden(html, 'attempt') };
  }

  /** The address of the issuer's 3-D Secure page, as the page at `path` shows it; `undefined` when it shows none. */
  async issuerAt(path: string): Promise<string | undefined> {
    const html = await (await this.send(path)).text();
    return /href="([^"]+\/challenge\/[^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&');
  }

  /** Sends the form of the issuer's page, and goes where it leads. */
  async answerIssuer(issuer: string, form: Record<string, string>): Promise<Response> {
    const answer = await fetch(issuer, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' });
    const { pathname, search } = new URL(answer.headers.get('location')!);
    return await this.send(`${pathname}${search}`);
  }
}

/** The value of a hidden field; empty when the page has none. */
export function hidden(html: string, name: string): string {
  return new RegExp(`<input type="hidden" name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';
}
