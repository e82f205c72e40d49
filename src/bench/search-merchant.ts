import { Agent, request } from 'undici';
import type { BenchStack } from './stack';

/** The body of a search. */
export interface Search {
  query: string;
  sort?: string;
  size?: number;
}

export type SearchMerchant = ReturnType<typeof searchMerchant>;

/** A merchant of the benchmark who searches over kept-alive connections. */
export function searchMerchant({ facts }: BenchStack) {
  const agent = new Agent({ keepAliveTimeout: 60_000, bodyTimeout: 0, headersTimeout: 0 });
  const headersOf = (key: 'test_api_key' | 'live_api_key') => ({
    authorization: `Basic ${Buffer.from(`${facts[key]}:`).toString('base64')}`,
    'content-type': 'application/json',
  });
  const post = async (path: string, search: Search) => {
    const answer = await request(facts.api_url + path, {
      dispatcher: agent,
      method: 'POST',
      headers: headersOf('test_api_key'),
      body: JSON.stringify(search),
    });
    if (answer.statusCode !== 200) throw new Error(`a search was to be answered: ${answer.statusCode}`);
    return answer.body;
  };
  return {
    async projectId(key: 'test_api_key' | 'live_api_key'): Promise<string> {
      const url = `${facts.api_url}/v1/merchants/self/projects/self/`;
      const { body } = await request(url, { dispatcher: agent, headers: headersOf(key) });
      return ((await body.json()) as { id: string }).id;
    },
    async search(search: Search): Promise<{ hits: number }> {
      return (await (await post('/v1/search/orders/', search)).json()) as { hits: number };
    },
    report: (query: string) => post('/v1/search/orders/?format=csv', { query }),
    close: () => agent.destroy(),
  };
}
