import { readProcess } from '../../../src/metrics/process-gauges';
import { gauge, incrementCounter, measure } from '../../../src/metrics/recorder';
import { startRecording } from '../../../src/metrics/recording';
import { serveMetrics } from '../../../src/metrics/server';
import { setUp } from '../../support/set-up';

const server = setUp(() => {
  startRecording('api');
  readProcess('api', '1.2.3');
  return serveMetrics({ host: '127.0.0.1', port: 0 }, () => Promise.resolve('more_total 1'));
});

const scrape = async () => await (await fetch(`${server.url}/metrics`)).text();

it('rules 24.14: answers what was recorded, and the metrics of another source', async () => {
  incrementCounter('payments_http_requests_total', { host: 'api', operation: 'getOrder', status: '200' }, 3);
  measure('payments_http_request_duration_seconds', { host: 'api', operation: 'getOrder' }, 0.02);
  const text = await scrape();
  expect(text).toContain('\npayments_http_requests_total{host="api",operation="getOrder",status="200"} 3\n');
  expect(text).toContain(
    '\npayments_http_request_duration_seconds_bucket{host="api",operation="getOrder",le="0.025"} 1\n',
  );
  expect(text).toMatch(/payments_build_info\{process="api",version="1.2.3",node="\d+\.\d+\.\d+"\} 1\n/);
  expect(text).toMatch(/\nmore_total 1\n$/);
});

it('rules 24.14: a label with a value that is not in its list is other', async () => {
  incrementCounter('payments_http_requests_total', {
    host: 'api',
    operation: '4111111111111111',
    status: '799' as '200',
  });
  expect(await scrape()).toContain('payments_http_requests_total{host="api",operation="other",status="other"} 1\n');
});

it('a small counter begins at 0', async () => {
  const text = await scrape();
  expect(text).toContain('payments_http_requests_refused_total{limit="concurrency"} 0\n');
  expect(text).toContain('payments_http_request_results_total{result="no_server_error"} 0\n');
  expect(text).toContain('payments_http_request_results_total{result="server_error"} 0\n');
});

it('a gauge is read at each scrape, and is gone when it has no value', async () => {
  let waiting: number[] = [4];
  const end = gauge('payments_db_pool_waiting', () => waiting.map((value) => ({ value, labels: { pool: 'main' } })));
  expect(await scrape()).toContain('payments_db_pool_waiting{pool="main"} 4\n');
  waiting = [];
  expect(await scrape()).not.toContain('payments_db_pool_waiting{');
  waiting = [1];
  end();
  expect(await scrape()).not.toContain('payments_db_pool_waiting{');
});

it.each([
  ['GET', '/', 404],
  ['POST', '/metrics', 405],
  ['GET', '/metrics?name=x', 200],
])('%s %s is %i', async (method, path, status) => {
  expect((await fetch(`${server.url}${path}`, { method })).status).toBe(status);
});

it('metrics of another source that cannot be read are left out', async () => {
  const other = await serveMetrics({ host: '127.0.0.1', port: 0 }, () => Promise.reject(new Error('gone')));
  const answer = await fetch(`${other.url}/metrics`);
  await other.close();
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('payments_build_info')]);
});
