import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { choosePorts, reach } from '../../../src/stack/ports';

const host = '127.0.0.1';

async function taken() {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, close: () => new Promise((done) => server.close(done)) };
}

test('each taken port is one line: which, and the variable that moves it', async () => {
  const [one, two] = await Promise.all([taken(), taken()]);
  const wanted = [
    { variable: 'API_PORT', host, port: one.port },
    { variable: 'SIMULATOR_PORT', host, port: 0 },
    { variable: 'TEMPORAL_PORT', host, port: two.port },
  ];
  await expect(choosePorts(wanted)).rejects.toThrow(
    `Port ${one.port} is taken: stop what listens there, or set API_PORT to another port (0 picks a free one).\n` +
      `Port ${two.port} is taken: stop what listens there, or set TEMPORAL_PORT to another port (0 picks a free one).`,
  );
  await Promise.all([one.close(), two.close()]);
  expect(await choosePorts(wanted)).toMatchObject({ API_PORT: one.port, TEMPORAL_PORT: two.port });
});

test('0 is a free port, another one each time', async () => {
  const chosen = await choosePorts(['A', 'B', 'C', 'D'].map((variable) => ({ variable, host, port: 0 })));
  expect(new Set(Object.values(chosen)).size).toBe(4);
});

test('two variables never share a port', async () => {
  const { port, close } = await taken();
  await close();
  const wanted = ['API_PORT', 'SIMULATOR_PORT'].map((variable) => ({ variable, host, port }));
  await expect(choosePorts(wanted)).rejects.toThrow(
    `Port ${port} is taken: stop what listens there, or set SIMULATOR_PORT`,
  );
});

test('an address of the environment where nothing answers is named with its variable', async () => {
  const { port, close } = await taken();
  const address = new URL(`postgres://someone@${host}:${port}/payments`);
  await expect(reach('POSTGRES_URL', address, 5432)).resolves.toBeUndefined();
  await close();
  await expect(reach('POSTGRES_URL', address, 5432)).rejects.toThrow(
    `POSTGRES_URL is set, but nothing answers at ${host}:${port}`,
  );
});
