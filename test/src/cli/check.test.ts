import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { checkReceiver } from '../../../src/cli/check';

test('a look that the service does not answer is made again: the check goes on', async () => {
  const answers = [
    { status: 201, body: { id: 'c', status: 'running' } },
    { status: 503, body: {} },
    { status: 429, body: {} },
    { status: 200, body: { id: 'c', status: 'completed', cases: [] } },
  ];
  const server = http.createServer((_request, response) => {
    const { status, body } = answers.shift()!;
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await checkReceiver({ url, api_key: 'k' }, undefined)).toMatchObject({ status: 'completed' });
    expect(answers).toEqual([]);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
