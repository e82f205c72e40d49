import { randomBytes, randomUUID } from 'node:crypto';
import pino from 'pino';
import { Client } from 'pg';
import { createProcessor, type Processor } from '../../../src/processor/client';
import type { LedgerEntry, Operation } from '../../../src/processor/wire';
import { startSimulator, type Simulator, type SimulatorOptions } from '../../../src/simulator/server';
import { CARDS, type CardName } from '../../support/cards';
import { callSimulator, postControl } from '../../support/simulator';
import { stack } from '../../support/stack';

/** A simulator of its own database over real HTTP, a client of it, and short ways to ask it for things. */
export interface TestSimulator {
  simulator: Simulator;
  processor: Processor;
  postgres_url: string;
  project_id: string;
  /** Every log line, as JSON text. */
  lines: string[];
  /** Vaults a test card; gives its token. */
  token(card: CardName): Promise<string>;
  /** A sale or authorization of a test card, not yet sent. */
  charge(card: CardName, over?: Partial<Operation>): Promise<Operation>;
  ledger(query?: string): Promise<LedgerEntry[]>;
  /** Calls the control API or the ledger; throws when it is refused. */
  call(path: string, options?: { method?: string; body?: object }): Promise<Response>;
  /** POST to the control API; throws when it is refused. */
  control(path: string, body: object): Promise<void>;
  /** Stops everything and drops the database. */
  close(): Promise<void>;
}

export const KEY = 'sk_of_the_simulator_tests';
export const CONTROL_KEY = 'control_key_of_the_simulator_tests';
export const SECRET = 'whsec_c2ltdWxhdG9yX2RldmVsb3BtZW50X29ubHk=';

export async function startTestSimulator(
  options: Partial<SimulatorOptions> = {},
  timeout_ms = 5_000,
): Promise<TestSimulator> {
  const lines: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
  const postgres_url = options.postgres_url ?? ownDatabase();
  const simulator = await startSimulator({
    host: '127.0.0.1',
    port: 0,
    page_host: '127.0.0.1',
    page_port: 0,
    connections_max: 10,
    key: KEY,
    control_key: CONTROL_KEY,
    notification_secret: SECRET,
    log,
    ...options,
    postgres_url,
  });
  const processor = createProcessor({ url: simulator.url, key: KEY, timeout_ms });
  const project_id = randomUUID();
  const place = { simulator_url: simulator.url, simulator_control_key: CONTROL_KEY };

  const token = async (card: CardName): Promise<string> => {
    const vaulted = await processor.vaultCard({ ...A_CARD, project_id, is_test: true, number: CARDS[card].number });
    if (!vaulted.usable) throw new Error(vaulted.reason);
    return vaulted.vault_token;
  };
  return {
    simulator,
    processor,
    postgres_url,
    project_id,
    lines,
    token,
    charge: async (card, over = {}) => ({
      operation: 'sale',
      order_id: randomUUID(),
      transaction_id: randomUUID(),
      project_id,
      is_test: true,
      amount: 1_000,
      currency: 'EUR',
      vault_token: await token(card),
      ...over,
    }),
    call: (path, options) => callSimulator(place, path, options),
    ledger: async (query = '') => (await (await callSimulator(place, `/ledger/${query}`)).json()) as LedgerEntry[],
    control: async (path, body) => void (await postControl(place, path, body)),
    close: async () => {
      await processor.close();
      await simulator.close();
      await dropDatabase(postgres_url);
    },
  };
}

export const A_CARD = { card_expiry: '122039', security_code: '123' };

/** The operation that follows a charge; its order is new. */
export function followUp(
  charge: Operation,
  operation: 'capture' | 'void' | 'refund' | 'reversal',
  amount: number,
): Operation {
  const { order_id, transaction_id, project_id, is_test, currency } = charge;
  return {
    operation,
    order_id,
    transaction_id,
    project_id,
    is_test,
    currency,
    amount,
    follow_up_order_id: randomUUID(),
  };
}

/** The address of a database that does not exist yet, on the cluster of the test run. */
export function ownDatabase(): string {
  const url = new URL(stack().postgres_url);
  url.pathname = `/simulator_${randomBytes(6).toString('hex')}`;
  return url.href;
}

export async function dropDatabase(postgres_url: string): Promise<void> {
  const url = new URL(postgres_url);
  const name = url.pathname.slice(1);
  url.pathname = '/postgres';
  const client = new Client({ connectionString: url.href });
  await client.connect();
  await client.query(`drop database if exists ${client.escapeIdentifier(name)} with (force)`);
  await client.end();
}

/** Waits until `look` gives something, at most half a minute. */
export async function eventually<T>(look: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const end = Date.now() + 30_000;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > end) throw new Error('waited half a minute in vain');
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
