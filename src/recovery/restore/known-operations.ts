import { chargeIdempotencyKey } from '../../domain/transaction';
import type { Processor } from '../../processor/client';
import type { ReportedOperation } from '../../processor/wire';

/** What the processor has carried out since the backup, and what it says when it is asked. */
export class KnownOperations {
  private readonly by_key: ReadonlyMap<string, ReportedOperation>;
  private readonly reversed: ReadonlySet<string>;

  constructor(
    private readonly processor: Pick<Processor, 'findOperation'>,
    operations: readonly ReportedOperation[],
  ) {
    this.by_key = new Map(operations.map((operation) => [operation.idempotency_key, operation]));
    const reversals = operations.filter(({ operation, result }) => operation === 'reversal' && result === 'approved');
    this.reversed = new Set(reversals.map(({ transaction_id }) => transaction_id));
  }

  /** The operation of a key, if it was carried out since the backup. */
  since(idempotency_key: string): ReportedOperation | undefined {
    return this.by_key.get(idempotency_key);
  }

  /** Whether a transaction was approved after its end, and reversed: nothing else is (rules 10.11). */
  wasGivenBack(transaction_id: string): boolean {
    return this.reversed.has(transaction_id);
  }

  /** Asks the processor whether it knows the charge of an attempt. Throws an Error when it does not say. */
  async isCharged(transaction_id: string): Promise<boolean> {
    return await this.isKnown(chargeIdempotencyKey(transaction_id));
  }

  /** Asks the processor whether it knows an operation. Throws an Error when it does not say. */
  async isKnown(idempotency_key: string): Promise<boolean> {
    const found = await this.processor.findOperation(idempotency_key, {});
    if (found === 'unknown') throw new Error('The processor does not say whether it has carried it out.');
    return found !== 'not_found';
  }

  /** Whether the processor says that it knows an operation. */
  async isSaidToBeKnown(idempotency_key: string): Promise<boolean> {
    const operation = await this.processor.findOperation(idempotency_key, {});
    return operation !== 'not_found' && operation !== 'unknown';
  }
}
