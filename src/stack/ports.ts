import { randomInt } from 'node:crypto';
import { connect, createServer, type Server } from 'node:net';
import { StackFailure } from './failure';

/** A port that something of the stack is to listen on. */
export interface WantedPort {
  /** The variable of the environment that moves it. */
  variable: string;
  host: string;
  /** 0: a free one is chosen. */
  port: number;
}

/**
 * The ports to use, by variable. Throws a StackFailure with one line per port that is taken. All are held until all are
 * found, so that two variables never get the same one.
 */
export async function choosePorts(wanted: readonly WantedPort[]): Promise<Record<string, number>> {
  const holders: Server[] = [];
  const chosen: Record<string, number> = {};
  const taken: WantedPort[] = [];
  try {
    for (const want of wanted) {
      const holder = want.port === 0 ? await holdFree(want.host) : await hold(want.host, want.port);
      if (holder === undefined) {
        taken.push(want);
        continue;
      }
      holders.push(holder.server);
      chosen[want.variable] = holder.port;
    }
  } finally {
    await Promise.all(holders.map((server) => new Promise((done) => server.close(done))));
  }
  if (taken.length > 0) {
    throw new StackFailure(
      taken
        .map(
          ({ variable, port }) =>
            `Port ${port} is taken: stop what listens there, or set ${variable} to another port (0 picks a free one).`,
        )
        .join('\n'),
    );
  }
  return chosen;
}

/** A free port of this machine. */
export async function freePort(): Promise<number> {
  const { server, port } = await holdFree('127.0.0.1');
  await new Promise((done) => server.close(done));
  return port;
}

interface Holder {
  server: Server;
  port: number;
}

/**
 * Chosen below the range of ports for outgoing connections: such a connection could otherwise take the port while its
 * server restarts.
 */
async function holdFree(host: string): Promise<Holder> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const holder = await hold(host, randomInt(15_000, 32_000));
    if (holder !== undefined) return holder;
  }
  throw new StackFailure('No free port found between 15000 and 32000: stop some of the servers there.');
}

function hold(host: string, port: number): Promise<Holder | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else if (error.code === 'EACCES') {
        reject(new StackFailure(`Port ${port} may only be used by root: set another port.`));
      } else reject(new StackFailure(`Cannot listen on ${host}:${port}: ${error.message}`));
    });
    server.listen({ host, port, exclusive: true }, () => resolve({ server, port }));
  });
}

/** Throws a StackFailure when nothing answers at the address that the variable names. */
export async function reach(variable: string, address: URL, standard_port: number): Promise<void> {
  const { hostname } = address;
  const port = Number(address.port) || standard_port;
  if (!(await takesConnections(hostname.replace(/^\[|\]$/g, ''), port))) {
    throw new StackFailure(
      `${variable} is set, but nothing answers at ${hostname}:${port}: start that server, or leave ${variable} out.`,
    );
  }
}

const REACH_MS = 5_000;

/** Whether something listens there. */
function takesConnections(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: REACH_MS });
    const end = (result: boolean) => {
      socket.destroy();
      resolve(result);
    };
    socket.once('connect', () => end(true));
    socket.once('timeout', () => end(false));
    socket.once('error', () => end(false));
  });
}
