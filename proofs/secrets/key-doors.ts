import { TOKEN_PATH } from '../../src/contract/manage/manage-api';
import type { RunningStack } from '../../test/support/stack';
import type { Secret } from './scan';

/** Sends a key where it does not belong, on both hosts; the answers, each with the name of its door. */
export async function sendKey(
  stack: RunningStack,
  { name, text }: Secret,
): Promise<{ door: string; answer: Response }[]> {
  const right = `Basic ${Buffer.from(`${stack.test_api_key}:`).toString('base64')}`;
  const basic = (user: string) => `Basic ${Buffer.from(user).toString('base64')}`;
  const encoded = encodeURIComponent(text);
  const sent: [string, Promise<Response>][] = [];
  const add = (door: string, url: string, init: RequestInit = {}) =>
    sent.push([`${name}: ${door}`, fetch(url, { redirect: 'manual', ...init })]);
  const post = (headers: Record<string, string>, body: string) => ({
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  for (const host of [stack.api_url, stack.manage_url]) {
    for (const authorization of [
      text,
      `Bearer ${text}`,
      `Bearer ${text}x`,
      basic(`${text}x:`),
      basic(`x:${text}`),
      basic(`:${text}`),
      basic(text),
    ]) {
      // A request that is accepted shows what its caller may see.
      add('Authorization', `${host}/v1/nothing/`, { headers: { authorization } });
      add('Authorization', `${host}/v1/orders/`, { ...post({ authorization }, '{"amount":-1}') });
    }
    add('query', `${host}/v1/orders/?api_key=${encoded}`, { headers: { authorization: right } });
    add('path', `${host}/v1/orders/${encoded}/`, { headers: { authorization: right } });
    add('path', `${host}/${encoded}`);
    add('cookie', `${host}/v1/orders/`, {
      headers: { cookie: `key=${encoded}`, 'user-agent': text, referer: `https://shop.example/?key=${encoded}` },
    });
  }
  add('invalid JSON', `${stack.api_url}/v1/orders/`, post({ authorization: right }, `{"key": ${text}`));
  add(
    'ignored field',
    `${stack.api_url}/v1/orders/`,
    post({ authorization: right }, JSON.stringify({ currency: 'EUR', amount: 1, api_key: text })),
  );
  add(
    'wrong fields',
    `${stack.api_url}/v1/orders/`,
    post({ authorization: right }, JSON.stringify({ currency: text, amount: text, webhook_url: text })),
  );
  add('page', `${stack.api_url}/pay/${encoded}/?key=${encoded}`);
  add(
    'notification',
    `${stack.api_url}/processor/notifications/`,
    post({ 'webhook-id': '1', 'webhook-timestamp': '1', 'webhook-signature': `v1,${encoded}` }, '{}'),
  );
  for (const field of ['client_id', 'client_secret', 'scope', 'grant_type']) {
    const form = {
      grant_type: 'client_credentials',
      client_id: stack.operator_client_id,
      client_secret: 'x',
      scope: 'payments/.default',
      [field]: text,
    };
    if (field === 'client_secret' && name === 'operator client secret') continue;
    add(`token endpoint: ${field}`, stack.manage_url + TOKEN_PATH, { method: 'POST', body: new URLSearchParams(form) });
  }
  return await Promise.all(sent.map(async ([door, answer]) => ({ door, answer: await answer })));
}
