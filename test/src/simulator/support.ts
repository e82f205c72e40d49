import { randomBytes, randomUUID } from 'node:crypto';
import pino from 'pino';
import { withDatabase } from '../../../src/db/connection';
import { createProcessorClient } from '../../../src/processor/client';
import type { LedgerEntry, OperationRequest } from '../../../src/processor/wire';
import { startSimulator, type SimulatorOptions } from '../../../src/simulator/server';
import { withDatabaseName } from '../../support/database';
import { CARDS, type CardName } from '../../support/domain';
import { callSimulator, postControl, stack } from '../../support/stack';

/** A simulator with a database of its own over real HTTP, a client of it, and short ways to call it. */
export type TestSimulator = Awaited<ReturnType<typeof startTestSimulator>>;

export const KEY = 'sk_of_the_simulator_tests';
export const CONTROL_KEY = 'control_key_of_the_simulator_tests';
export const SECRET = 'whsec_c2ltdWxhdG9yX2RldmVsb3BtZW50X29ubHk=';

export async function startTestSimulator(options: Partial<SimulatorOptions> = {}, timeout_ms = 5_000) {
  /** Every log line, as JSON text. */
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
  const processor = createProcessorClient({ url: simulator.url, key: KEY, timeout_ms });
  const project_id = randomUUID();
  const place = { simulator_url: simulator.url, simulator_control_key: CONTROL_KEY };

  /** Vaults a test card; answers its token. */
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
    /** A sale or authorization of a test card, not yet sent. */
    charge: async (card: CardName, over: Partial<OperationRequest> = {}): Promise<OperationRequest> => ({
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
    /** Calls the control API or the ledger; throws when it is refused. */
    call: (path: string, options?: { method?: string; body?: object }) => callSimulator(place, path, options),
    ledger: async (query = '') => (await (await callSimulator(place, `/ledger/${query}`)).json()) as LedgerEntry[],
    control: async (path: string, body: object) => void (await postControl(place, path, body)),
    /** Stops everything and drops the database. */
    close: async () => {
      await processor.close();
      await simulator.close();
      await dropDatabase(postgres_url);
    },
  };
}

export const A_CARD = { card_expiry: '122039', security_code: '123' };

/** The operation that follows a charge; its order is new. */
export function followUpOperation(
  charge: OperationRequest,
  operation: 'capture' | 'void' | 'refund' | 'reversal',
  amount: number,
): OperationRequest {
  const { order_id, transaction_id, project_id, is_test, currency } = charge;
  const of_payment = { order_id, transaction_id, project_id, is_test, currency };
  return { ...of_payment, operation, amount, follow_up_order_id: randomUUID() };
}

/** The address of a database that does not exist yet, on the cluster of the test run. */
export const ownDatabase = () => withDatabaseName(stack().postgres_url, `simulator_${randomBytes(6).toString('hex')}`);

export async function dropDatabase(postgres_url: string): Promise<void> {
  const name = new URL(postgres_url).pathname.slice(1);
  await withDatabase(stack().postgres_url, (db) => db.raw('drop database if exists ?? with (force)', [name]));
}
