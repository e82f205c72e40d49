import type { Processor } from '../../src/processor/client';
import type { OperationRequest, OperationResult } from '../../src/processor/wire';
import type { Sandbox } from './sandbox';

type Result = OperationResult['result'];

/** How the processor answers the first request of a key; named by the card of a charge. */
export const CARD_ANSWERS = ['approved', 'declined', 'challenge', 'processing'] as const;
export type CardAnswer = (typeof CARD_ANSWERS)[number];

interface Operation extends Omit<OperationRequest, 'operation'> {
  operation: OperationRequest['operation'];
  key: string;
  result: Result;
  occurred: string;
}

/**
 * The processor in memory: every operation once by its key, its first answer kept. Before it has done an operation and
 * after it, anything may happen; its answer may be lost on either side.
 */
export class MemoryProcessor {
  readonly operations = new Map<string, Operation>();

  constructor(
    private readonly sandbox: Sandbox,
    /** The answer of a capture, void, refund or reversal, by chance. */
    private readonly followUpResult: () => Result,
  ) {}

  /** The part of the client that the activities use. */
  readonly client = {
    execute: async (request: OperationRequest, key: string) => {
      await this.sandbox.turn(`processor ${request.operation}`);
      if (this.sandbox.isLost()) return 'unknown';
      const known = this.operations.get(key);
      if (known !== undefined && !isSame(known, request)) return 'key_used_for_other_request';
      const operation = known ?? this.carryOut(request, key);
      await this.sandbox.turn(`processor answers ${request.operation}`);
      return this.sandbox.isLost() ? 'unknown' : answerOf(operation);
    },
    findOperation: async (key: string) => {
      await this.sandbox.turn('processor is asked');
      const known = this.operations.get(key);
      const answer = known === undefined ? ('not_found' as const) : answerOf(known);
      await this.sandbox.turn('processor answers the question');
      return this.sandbox.isLost() ? 'unknown' : answer;
    },
  } satisfies Pick<Processor, 'execute' | 'findOperation'>;

  private carryOut(request: OperationRequest, key: string): Operation {
    const is_charge = request.operation === 'sale' || request.operation === 'authorize';
    const result = is_charge ? (request.vault_token as CardAnswer) : this.resultOf(request);
    const operation = { ...request, key, result, occurred: new Date(this.sandbox.now).toISOString() };
    this.operations.set(key, operation);
    return operation;
  }

  /** A reversal is never refused: an operator would have to act, and the money would stay where it is. */
  private resultOf({ operation }: OperationRequest): Result {
    const result = this.followUpResult();
    return operation === 'reversal' && result === 'refused' ? 'approved' : result;
  }

  /** What is open is decided: at the issuer, or by the processor itself. */
  decide(what: 'challenge' | 'processing', result: Result): void {
    for (const operation of this.operations.values()) if (operation.result === what) operation.result = result;
  }

  /** The sum of what was approved of these operations for a transaction, in minor units. */
  approved(transaction_id: string, ...names: OperationRequest['operation'][]): number {
    return [...this.operations.values()]
      .filter(
        (one) => one.transaction_id === transaction_id && one.result === 'approved' && names.includes(one.operation),
      )
      .reduce((sum, { amount }) => sum + amount, 0);
  }
}

const isSame = (known: Operation, request: OperationRequest) =>
  known.operation === request.operation && known.amount === request.amount && known.vault_token === request.vault_token;

function answerOf({ key, ...operation }: Operation): OperationResult {
  const { order_id, transaction_id, follow_up_order_id, project_id, amount, currency, result, occurred } = operation;
  return {
    ...{ operation: operation.operation, idempotency_key: key, order_id, transaction_id, project_id, amount, currency },
    ...{ result, occurred, is_test: true },
    ...(follow_up_order_id !== undefined && { follow_up_order_id }),
    ...(result === 'approved' && { response_code: '00' }),
    ...(result === 'declined' && { response_code: '05' }),
    ...(result === 'challenge' && { challenge_url: 'https://issuer.example/' }),
  } as OperationResult;
}
