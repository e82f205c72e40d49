import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Express } from 'express';
import type { Logger } from '../log';
import type { TestCard } from '../processor/wire';
import { jsonOnly, programsOnly, requireKey } from './access';
import { brandOf, TEST_CARDS } from './cards';
import type { SimulatorContext } from './context';
import { control } from './control';
import { Faults } from './faults';
import { ledger } from './ledger';
import { startLoop } from './loop';
import { createNotifier } from './notify';
import { afterChargeback } from './operate';
import { processorApi } from './processor-api';
import { refuseUnknownPath, answerProblem, withoutNul } from './refusal';
import { prepareDatabase } from './schema';
import { frontPage, issuerSite } from './site';
import { Store } from './store';

/** Milliseconds between two checks for due work. */
const ROUND_MS = 500;
const DAY_MS = 86_400_000;

export interface SimulatorOptions {
  /** The address for programs: the processor's API, the control API and the ledger. Ports: 0 picks a free one. */
  host: string;
  port: number;
  /** Host names that programs use in addition to those of loopback. */
  names?: readonly string[] | undefined;
  /** Where customers' browsers reach the 3-D Secure page, and nothing else. */
  page_host: string;
  page_port: number;
  /** The simulator's own database, made when it is missing. */
  postgres_url: string;
  /** Connections to it at most. */
  connections_max: number;
  /** The key with which the service authenticates. */
  key: string;
  /** The key of the control API and the ledger. */
  control_key: string;
  /** Where a customer's browser reaches the 3-D Secure page; default: where that listens. */
  public_url?: string | undefined;
  /** Where notifications go; absent: none are sent, they wait. */
  notification_url?: string | undefined;
  /** Standard Webhooks secret, `whsec_…`. */
  notification_secret: string;
  log: Logger;
}

export interface Simulator {
  /** Where programs call it, without trailing slash. */
  url: string;
  /** Where the 3-D Secure page listens, without trailing slash. */
  page_url: string;
  /** Finishes running calls, then ends. Calls that would stay silent are cut. */
  close(): Promise<void>;
}

/**
 * Starts the processor simulator; returns when it answers. Throws when a port is taken or Postgres cannot be reached.
 */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { log } = options;
  await prepareDatabase(options.postgres_url);
  const store = new Store(options.postgres_url, options.connections_max, (err) =>
    log.warn({ err }, 'a connection to Postgres broke'),
  );
  const faults = new Faults();

  const programs = createServer();
  const pages = createServer();
  try {
    await listen(programs, options.port, options.host);
    await listen(pages, options.page_port, options.page_host);
  } catch (error) {
    programs.close();
    await store.close();
    throw error;
  }
  const url = addressOf(programs, options.host);
  const page_url = addressOf(pages, options.page_host);
  const public_url = (options.public_url ?? page_url).replace(/\/+$/, '');

  const { notification_url } = options;
  const notifier =
    notification_url === undefined
      ? undefined
      : createNotifier({ store, url: notification_url, secret: options.notification_secret, public_url, log });
  const doDue = async (): Promise<void> => {
    const now = new Date();
    await store.resolveDue(now);
    await store.doDue(now, (origin) => afterChargeback(origin, now));
  };
  const settleDay = settleDaily(store);
  const loop = startLoop(
    async () => {
      await doDue();
      await settleDay(new Date());
      await notifier?.send(new Date());
    },
    ROUND_MS,
    log,
  );

  const context = { store, faults, log, public_url, doDue, wake: () => loop.wake() };
  programs.on('request', programsApp(context, options));
  pages.on('request', pagesApp(context));

  return {
    url,
    page_url,
    async close() {
      const closed = Promise.all([programs, pages].map(close));
      await loop.stop();
      await closed;
      await notifier?.close();
      await store.close();
    },
  };
}

/** Settles each day in UTC what moved money before it: with the first round of the day, or of this process. */
function settleDaily(store: Store): (now: Date) => Promise<void> {
  let settled_until = 0;
  return async (now) => {
    const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
    if (today === settled_until) return;
    await store.settle({ before: new Date(today) }, now);
    settled_until = today;
  };
}

/** Routes for programs. Health and the published test cards need no key. */
function programsApp(
  context: SimulatorContext,
  { names = [], key, control_key }: Pick<SimulatorOptions, 'names' | 'key' | 'control_key'>,
): Express {
  const { store } = context;
  const app = createApp();
  const body = [jsonOnly, express.json({ limit: '64kb' }), withoutNul];
  app.use(programsOnly(names));
  app.use('/v1', requireKey(key, 'processor key'), body, processorApi(context));
  app.use(['/ledger', '/control'], requireKey(control_key, 'control key'), body);
  app.use('/ledger', ledger(store));
  app.use('/control', control(context));
  app.get('/cards.json', (_req, res) => void res.json(testCards()));
  app.get('/health/live', (_req, res) => void res.json({ status: 'ok' }));
  app.get('/health/ready', async (_req, res) => {
    const ready = await store.ping().then(
      () => true,
      () => false,
    );
    res.status(ready ? 200 : 503).json(ready ? { status: 'ok' } : { error: 'Postgres does not answer.' });
  });
  app.use(frontPage());
  return withErrors(app, context);
}

/** Routes for customers' browsers. */
function pagesApp(context: SimulatorContext): Express {
  const app = createApp();
  app.use(withoutNul);
  app.use(issuerSite(context));
  return withErrors(app, context);
}

function createApp(): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  return app;
}

function withErrors(app: Express, { log }: SimulatorContext): Express {
  app.use(refuseUnknownPath);
  app.use(answerProblem(log));
  return app;
}

/** The table of test cards as the wire has it. */
export function testCards(): TestCard[] {
  return Object.entries(TEST_CARDS).map(([name, { number, title, meaning }]) => ({
    name,
    number,
    title,
    meaning,
    brand: brandOf(number) ?? 'unknown',
  }));
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  // Longer than clients keep a connection, so that none is closed under a request.
  server.keepAliveTimeout = 75_000;
  server.listen(port, host);
  await once(server, 'listening');
}

/** Finishes running calls; cuts those that last longer than a second. */
async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  const timer = setTimeout(() => server.closeAllConnections(), 1_000);
  await closed;
  clearTimeout(timer);
}

function addressOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
