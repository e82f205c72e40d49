import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { AmountMismatch } from '../domain/outcome';
import type { TimeSpan } from '../domain/period';
import { toIsoTime } from '../time';
import {
  callOperation,
  callProcessor,
  connect,
  disconnect,
  lookUp,
  namesField,
  notFetched,
  parsed,
  read,
  type Connection,
  type ProcessorOptions,
} from './call';
import {
  problemSchema,
  reportedOperationSchema,
  settlementSchema,
  testCardSchema,
  totalSchema,
  vaultedAccountSchema,
  vaultedCardSchema,
  type OperationRequest,
  type OperationResult,
  type ReportedOperation,
  type Settlement,
  type TestCard,
  type Total,
  type VaultAccount,
  type VaultCard,
  type VaultWallet,
  type VaultedAccount,
  type VaultedCard,
} from './wire';

/** A card or account that cannot be used: which field, and why, in words for the customer. */
interface Unusable {
  usable: false;
  field: string;
  reason: string;
}

/**
 * The answer of the processor about an operation. `unknown`: no usable answer came, so anything may have happened.
 * AmountMismatch: it is about another amount or currency.
 */
export type OperationOutcome = OperationResult | AmountMismatch | 'unknown';

/** An operation whose outcome is polled, as the record has it. Absent fields may have any value. */
type ExpectedOperation = Partial<Pick<OperationResult, 'operation' | 'transaction_id' | 'amount' | 'currency'>>;

/**
 * The processor, as the service sees it. Money operations never throw and never guess: without a valid answer in time
 * the outcome is `unknown`. Look-ups that move no money throw instead: FailedToFetchTransactionInformation when the
 * answer is of no use, GatewayTimeout when there is none. Bodies are never logged.
 */
export type Processor = ReturnType<typeof createProcessorClient>;

/** A client of the processor; close it before the process ends. */
export function createProcessorClient(options: ProcessorOptions) {
  const connection = connect(options);
  return {
    ...vaultCalls(connection),
    ...moneyCalls(connection),
    ...reportCalls(connection),

    /**
     * What is wrong with the processor or the key, in words for operators, if anything: it is asked about an operation
     * that it cannot know. Rejects when it does not answer.
     */
    async findProblem(): Promise<string | undefined> {
      const path = `/v1/operations/${randomUUID()}/`;
      const answer = await callProcessor(connection, { operation: 'find', method: 'GET', path });
      const { status } = answer;
      if (status === 401 || status === 403) return `PROCESSOR_KEY is refused: status ${status}.`;
      const is_its_own = status === 404 && namesField('idempotency_key', answer);
      return is_its_own ? undefined : `It does not answer as the processor does: status ${status}.`;
    },

    /** The processor's published test cards. */
    async testCards(): Promise<TestCard[]> {
      return await read(connection, z.array(testCardSchema), {
        operation: 'other',
        method: 'GET',
        path: '/cards.json',
      });
    },

    close: (): Promise<void> => disconnect(connection),
  };
}

const vaultCalls = (connection: Connection) => ({
  /** Swaps a card for a vault token of its project; an unusable card is returned, not thrown. */
  vaultCard: async (card: VaultCard): Promise<({ usable: true } & VaultedCard) | Unusable> =>
    await vault(connection, { operation: 'vault_card', path: '/v1/vault/cards/', body: card }, vaultedCardSchema),

  /** A token of the card that the customer's wallet pays with. */
  async vaultWallet(wallet: VaultWallet): Promise<VaultedCard> {
    const call = { operation: 'vault_wallet', method: 'POST', path: '/v1/vault/wallets/', body: wallet } as const;
    return await read(connection, vaultedCardSchema, call, [201]);
  },

  /** Swaps a receiver's account number for a token; a malformed number is returned, not thrown. */
  vaultAccount: async (account: VaultAccount): Promise<({ usable: true } & VaultedAccount) | Unusable> =>
    await vault(
      connection,
      { operation: 'vault_account', path: '/v1/vault/accounts/', body: account },
      vaultedAccountSchema,
    ),

  /** The card of a vault token; undefined when this project has no such token. */
  async getVaultedCard(vault_token: string, project_id: string): Promise<VaultedCard | undefined> {
    // As path segments these lead elsewhere, even when encoded.
    if (vault_token === '.' || vault_token === '..') return undefined;
    const path = `/v1/vault/cards/${encodeURIComponent(vault_token)}/?project_id=${encodeURIComponent(project_id)}`;
    const answer = await lookUp(connection, { operation: 'get_card', method: 'GET', path }, [200, 404]);
    if (answer.status === 404 && namesField('vault_token', answer)) return undefined;
    return parsed(vaultedCardSchema, answer.body);
  },
});

const moneyCalls = (connection: Connection) => ({
  /**
   * Executes an operation, or returns the first answer of its key again. `key_used_for_other_request`: the key came
   * with another request before, whose outcome counts.
   */
  async execute(
    operation: OperationRequest,
    idempotency_key: string,
  ): Promise<OperationOutcome | 'key_used_for_other_request'> {
    const result = await callOperation(connection, idempotency_key, {
      operation: 'execute',
      method: 'POST',
      path: '/v1/operations/',
      body: operation,
      headers: { 'idempotency-key': idempotency_key },
    });
    if (result === 'unknown') return 'unknown';
    if ('result' in result) return compared(connection, operation, result);
    connection.log?.warn({ idempotency_key, why: `status ${result.status}` }, 'outcome at the processor is unknown');
    return result.status === 409 && namesField('Idempotency-Key', result) ? 'key_used_for_other_request' : 'unknown';
  },

  /**
   * The state of an operation, compared with what is recorded. `not_found`: the processor does not know the key, so
   * nothing happened.
   */
  async findOperation(idempotency_key: string, expected: ExpectedOperation): Promise<OperationOutcome | 'not_found'> {
    const path = `/v1/operations/${encodeURIComponent(idempotency_key)}/`;
    const result = await callOperation(connection, idempotency_key, { operation: 'find', method: 'GET', path });
    if (result === 'unknown') return 'unknown';
    if ('result' in result) return compared(connection, expected, result);
    // A 404 that is not the processor's own (a proxy's page) must not count as "nothing happened".
    return namesField('idempotency_key', result) ? 'not_found' : 'unknown';
  },
});

const reportCalls = (connection: Connection) => ({
  /** Settlements after a number, oldest first, in pages; an empty one when there are no more yet. */
  async settlements(after: number): Promise<Settlement[]> {
    const call = { operation: 'settlements', method: 'GET', path: `/v1/settlements/?after=${after}` } as const;
    return rising(await read(connection, z.array(settlementSchema), call), after);
  },

  /**
   * Operations of some orders (REPORT_ORDERS_MAX at most), or that happened in a period, after a number, in pages; an
   * empty one when there are no more. Instants in epoch milliseconds.
   */
  async operations(of: OperationsOf, after: number): Promise<ReportedOperation[]> {
    const filter = 'order_ids' in of ? { order_id: of.order_ids.join(',') } : periodOf(of);
    const query = new URLSearchParams({ ...filter, after: String(after) });
    const call = { operation: 'reports', method: 'GET', path: `/v1/operations/?${query}` } as const;
    return rising(await read(connection, z.array(reportedOperationSchema), call), after);
  },

  /** Totals of a period, settled amounts up to a number of the settlements. Instants in epoch milliseconds. */
  async totals(period: TimeSpan, settled_up_to: number): Promise<Total[]> {
    const query = new URLSearchParams({ ...periodOf(period), settled_up_to: String(settled_up_to) });
    const call = { operation: 'reports', method: 'GET', path: `/v1/totals/?${query}` } as const;
    return await read(connection, z.array(totalSchema), call);
  },
});

/** Which operations a report is about. */
export type OperationsOf = TimeSpan | { order_ids: readonly string[] };

const periodOf = ({ since, until }: TimeSpan) => ({
  since: toIsoTime(since),
  until: toIsoTime(until),
});

async function vault<T extends z.ZodObject>(
  connection: Connection,
  call: { operation: 'vault_card' | 'vault_account'; path: string; body: object },
  schema: T,
): Promise<({ usable: true } & z.infer<T>) | Unusable> {
  const answer = await lookUp(connection, { ...call, method: 'POST' }, [201, 422]);
  if (answer.status === 201) return { usable: true, ...parsed(schema, answer.body) };
  const { error, field } = parsed(problemSchema, answer.body);
  return { usable: false, field: field ?? 'number', reason: error };
}

/** Returns the answer if it is about the expected operation, exactly to the minor unit, and fits its kind. */
function compared({ log }: Connection, expected: ExpectedOperation, result: OperationResult): OperationOutcome {
  const differs = (field: keyof ExpectedOperation) =>
    expected[field] !== undefined && expected[field] !== result[field];
  const { operation, idempotency_key, amount, currency } = result;
  if (differs('operation') || differs('transaction_id')) {
    log?.error({ idempotency_key }, 'the processor answered for another operation');
    return 'unknown';
  }
  if (differs('amount') || differs('currency')) {
    log?.error({ idempotency_key, amount, currency }, 'the processor answered for another amount');
    return { result: 'mismatch', amount, currency };
  }
  if (result.result === 'challenge' && operation !== 'sale' && operation !== 'authorize') {
    log?.error({ idempotency_key }, 'the processor answered with a 3-D Secure challenge, which only a charge has');
    return 'unknown';
  }
  return result;
}

/** A page after a number. Throws when its numbers do not rise from there: who reads all pages would never end. */
function rising<Item extends { number: number }>(page: Item[], after: number): Item[] {
  if (page.every(({ number }, n) => number > (page[n - 1]?.number ?? after))) return page;
  throw notFetched();
}
