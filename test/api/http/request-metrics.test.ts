import { requestMetrics } from '../../../api/http/request-metrics';
import { scrape, startRecording } from '../../../src/metrics/recording';

const observe = requestMetrics('api', { count: 0 });

/** The results that a request adds to. */
async function resultsOf(ended: { status: number; was_sent: boolean }): Promise<string[]> {
  startRecording('api');
  observe({
    request_id: '0e6c7d8a-5a4e-4c9f-9d57-0a4f7f7a2f10',
    fields: { operation: 'getOrder' },
    method: 'GET',
    received_at: 0,
    ms: 1,
    waited_ms: 0,
    is_repeat: false,
    ...ended,
  });
  const counts = (await scrape()).matchAll(/^payments_http_request_results_total\{result="(\w+)"\} 1$/gm);
  return [...counts].map(([, result]) => result!);
}

it.each([
  [200, 'no_server_error'],
  [303, 'no_server_error'],
  [404, 'no_server_error'],
  [429, 'no_server_error'],
  [500, 'server_error'],
  [502, 'server_error'],
  [503, 'server_error'],
  [504, 'server_error'],
])('a request that is answered with %i counts as %s', async (status, result) => {
  expect(await resultsOf({ status, was_sent: true })).toEqual([result]);
});

it('a request whose connection closed before the answer counts as no server error', async () => {
  expect(await resultsOf({ status: 503, was_sent: false })).toEqual(['no_server_error']);
});
