import { Agent, request } from 'undici';
import { z } from 'zod';
import type { AmountMismatch } from '../domain/outcome';
import { ServiceError } from '../errors';
import type { Logger } from '../log';
import {
  operationResultSchema,
  problemSchema,
  settlementSchema,
  testCardSchema,
  vaultedAccountSchema,
  vaultedCardSchema,
  type Operation,
  type OperationResult,
  type Settlement,
  type TestCard,
  type VaultAccount,
  type VaultCard,
  type VaultWallet,
  type VaultedAccount,
  type VaultedCard,
} from './wire';

/** A card or account that cannot be used: which field, and why, in words for the customer. */
export interface UnusableCard {
  usable: false;
  field: string;
  reason: string;
}

/**
 * The answer of the processor about an operation. `unknown`: no usable answer came, so anything may have happened.
 * AmountMismatch: it is about another amount or currency.
 */
export type OperationOutcome = OperationResult | AmountMismatch | 'unknown';

/** An operation that the processor is asked about, as the record has it. Absent fields may have any value. */
export type ExpectedOperation = Partial<Pick<OperationResult, 'operation' | 'transaction_id' | 'amount' | 'currency'>>;

/**
 * The processor, as the service sees it. Money operations never throw and never guess: without a valid answer in time
 * the outcome is `unknown`. Look-ups that move no money throw instead: FailedToFetchTransactionInformation when the
 * answer is of no use, GatewayTimeout when there is none. Bodies are never logged.
 */
export interface Processor {
  /** Swaps a card for a vault token of its project; an unusable card is returned, not thrown. */
  vaultCard(card: VaultCard): Promise<({ usable: true } & VaultedCard) | UnusableCard>;
  /** A token of the card that the customer's wallet pays with. */
  vaultWallet(wallet: VaultWallet): Promise<VaultedCard>;
  /** The card of a vault token; undefined when this project has no such token. */
  getVaultedCard(vault_token: string, project_id: string): Promise<VaultedCard | undefined>;
  /** Swaps a receiver's account number for a token; a malformed number is returned, not thrown. */
  vaultAccount(account: VaultAccount): Promise<({ usable: true } & VaultedAccount) | UnusableCard>;
  /**
   * Executes an operation, or returns the first answer of its key again. `key_used_for_other_request`: the key came
   * with another request before, whose outcome counts.
   */
  execute(operation: Operation, idempotency_key: string): Promise<OperationOutcome | 'key_used_for_other_request'>;
  /**
   * The state of an operation, compared with what is recorded. `not_found`: the processor does not know the key, so
   * nothing happened.
   */
  findOperation(idempotency_key: string, expected: ExpectedOperation): Promise<OperationOutcome | 'not_found'>;
  /** Settlements after a number, oldest first, in pages; an empty one when there are no more yet. */
  settlements(after: number): Promise<Settlement[]>;
  /** The processor's published test cards. */
  testCards(): Promise<TestCard[]>;
  close(): Promise<void>;
}

export interface ProcessorOptions {
  /** Address of the processor. */
  url: string;
  key: string;
  /** Milliseconds a whole call may take, connecting included. */
  timeout_ms: number;
  /** Gets one line for every call whose outcome is unknown: the reason, never the content. */
  log?: Logger;
}

interface HttpAnswer {
  status: number;
  /** Undefined when the body is not JSON. */
  body: unknown;
}

/** Errors of an answer that is not HTTP, or too large. */
const NOT_HTTP = /^(HPE_|UND_ERR_RES_EXCEEDED_MAX_SIZE)/;

/** More than any answer of the wire format needs. */
const ANSWER_BYTES_MAX = 256 * 1024;

/** A client of the processor over kept-alive connections; close it before the process ends. */
export function createProcessor({ url, key, timeout_ms, log }: ProcessorOptions): Processor {
  const agent = new Agent({
    connect: { timeout: timeout_ms },
    keepAliveTimeout: 30_000,
    maxResponseSize: ANSWER_BYTES_MAX,
  });
  const base = url.replace(/\/+$/, '');

  async function call(
    method: 'GET' | 'POST',
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<HttpAnswer> {
    const answer = await request(`${base}${path}`, {
      dispatcher: agent,
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeout_ms),
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, body: jsonOf(text) };
  }

  /** A call that moves money, or asks whether it moved. */
  async function callOperation(
    idempotency_key: string,
    calling: Promise<HttpAnswer>,
  ): Promise<OperationResult | HttpAnswer | 'unknown'> {
    let why: string;
    try {
      const answer = await calling;
      if (answer.status === 404 || answer.status === 409) return answer;
      const result = operationResultSchema.safeParse(answer.body);
      // An answer about another operation says nothing about this one.
      if (answer.status === 200 && result.success && result.data.idempotency_key === idempotency_key) {
        return result.data;
      }
      why = answer.status === 200 ? 'not an answer of the wire format' : `status ${answer.status}`;
    } catch (error) {
      why = failureReason(error);
    }
    log?.warn({ idempotency_key, why }, 'outcome at the processor is unknown');
    return 'unknown';
  }

  /**
   * A call that moves no money: a valid answer of one of the `statuses`, or FailedToFetchTransactionInformation;
   * GatewayTimeout without any answer.
   */
  async function callLookUp(
    what: string,
    calling: Promise<HttpAnswer>,
    statuses: readonly number[],
  ): Promise<HttpAnswer> {
    const answer = await calling.catch((error: unknown) => failureReason(error));
    if (typeof answer === 'object' && statuses.includes(answer.status)) return answer;
    const why = typeof answer === 'string' ? answer : `status ${answer.status}`;
    log?.warn({ what, why }, 'the processor gave no usable answer');
    throw typeof answer === 'string' && !NOT_HTTP.test(answer)
      ? new ServiceError('GatewayTimeout', 'The processor did not answer; nothing was stored or charged.')
      : notFetched();
  }

  /** The answer when it is about what was asked for, to the last minor unit. */
  function compared(expected: ExpectedOperation, result: OperationResult): OperationOutcome {
    const differs = (field: keyof ExpectedOperation) =>
      expected[field] !== undefined && expected[field] !== result[field];
    const { idempotency_key, amount, currency } = result;
    if (differs('operation') || differs('transaction_id')) {
      log?.error({ idempotency_key }, 'the processor answered for another operation');
      return 'unknown';
    }
    if (!differs('amount') && !differs('currency')) return result;
    log?.error({ idempotency_key, amount, currency }, 'the processor answered for another amount');
    return { result: 'mismatch', amount, currency };
  }

  return {
    async vaultCard(card) {
      const { status, body } = await callLookUp('vault card', call('POST', '/v1/vault/cards/', card), [201, 422]);
      return status === 422 ? unusableCard(body) : { usable: true, ...parsed(vaultedCardSchema, body) };
    },
    async vaultWallet(wallet) {
      const { body } = await callLookUp('vault wallet', call('POST', '/v1/vault/wallets/', wallet), [201]);
      return parsed(vaultedCardSchema, body);
    },
    async getVaultedCard(vault_token, project_id) {
      // As path segments these lead elsewhere, even when encoded.
      if (vault_token === '.' || vault_token === '..') return undefined;
      const path = `/v1/vault/cards/${encodeURIComponent(vault_token)}/?project_id=${encodeURIComponent(project_id)}`;
      const { status, body } = await callLookUp('vaulted card', call('GET', path), [200, 404]);
      if (status === 404 && namesField('vault_token', { status, body })) return undefined;
      return parsed(vaultedCardSchema, body);
    },
    async vaultAccount(account) {
      const { status, body } = await callLookUp(
        'vault account',
        call('POST', '/v1/vault/accounts/', account),
        [201, 422],
      );
      return status === 422 ? unusableCard(body) : { usable: true, ...parsed(vaultedAccountSchema, body) };
    },
    async execute(operation, idempotency_key) {
      const calling = call('POST', '/v1/operations/', operation, { 'idempotency-key': idempotency_key });
      const result = await callOperation(idempotency_key, calling);
      if (result === 'unknown') return 'unknown';
      if (!isOperationResult(result)) {
        log?.warn({ idempotency_key, why: `status ${result.status}` }, 'outcome at the processor is unknown');
        return result.status === 409 && namesField('Idempotency-Key', result)
          ? 'key_used_for_other_request'
          : 'unknown';
      }
      return compared(operation, result);
    },
    async findOperation(idempotency_key, expected) {
      const result = await callOperation(
        idempotency_key,
        call('GET', `/v1/operations/${encodeURIComponent(idempotency_key)}/`),
      );
      if (result === 'unknown') return 'unknown';
      if (isOperationResult(result)) return compared(expected, result);
      // A 404 that is not the processor's own (a proxy's page) must not count as "nothing happened".
      return namesField('idempotency_key', result) ? 'not_found' : 'unknown';
    },
    async settlements(after) {
      const { body } = await callLookUp('settlements', call('GET', `/v1/settlements/?after=${after}`), [200]);
      return parsed(z.array(settlementSchema), body);
    },
    async testCards() {
      const { body } = await callLookUp('test cards', call('GET', '/cards.json'), [200]);
      return parsed(z.array(testCardSchema), body);
    },
    close: () => agent.destroy(),
  };
}

function isOperationResult(result: OperationResult | HttpAnswer | 'unknown'): result is OperationResult {
  return typeof result === 'object' && 'result' in result;
}

/** Whether a refusal is the processor's own and about this field. */
function namesField(field: string, answer: HttpAnswer): boolean {
  return problemSchema.safeParse(answer.body).data?.field === field;
}

function unusableCard(body: unknown): UnusableCard {
  const { error, field } = parsed(problemSchema, body);
  return { usable: false, field: field ?? 'number', reason: error };
}

function parsed<T extends z.ZodType>(schema: T, body: unknown): z.infer<T> {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw notFetched();
  return parsed.data;
}

function notFetched(): ServiceError {
  return new ServiceError(
    'FailedToFetchTransactionInformation',
    'The processor gave no usable answer; nothing was stored or charged.',
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Why a call failed, without anything of its content. */
function failureReason(error: unknown): string {
  const { code } = error as { code?: unknown };
  if (typeof code === 'string') return code;
  return error instanceof Error ? error.name : 'no answer';
}
