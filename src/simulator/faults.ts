import { z } from 'zod';
import { OPERATIONS } from '../processor/wire';

/**
 * Which calls a fault hits, and which faults to end: those about this. A question about an unknown key names only the
 * key, a call to the vault only the project.
 */
export const faultFactsSchema = z.object({
  order_id: z.uuid().optional(),
  transaction_id: z.uuid().optional(),
  project_id: z.uuid().optional(),
  vault_token: z.string().optional(),
  idempotency_key: z.string().optional(),
});

/** A fault requested through the control API. */
export const faultSchema = z.object({
  /**
   * Which calls: an operation, `ask` (GET of an operation), `vault` (cards, wallets and accounts, in and out),
   * `settlements`, `reports` (of operations, and totals); absent: all.
   */
  operation: z.enum([...OPERATIONS, 'ask', 'vault', 'settlements', 'reports']).optional(),
  ...faultFactsSchema.shape,
  /**
   * latency: answers late. error: 500 and nothing happened. no_answer: silence and nothing happened. lost_answer: it
   * happened, then the connection is cut. outage: the connection is cut and nothing happened. garbage: it happened, the
   * answer is nonsense. altered: it happened, and the answer has the fields of `answer` (null: leaves one out).
   * not_found: a question is answered as if the key were unknown.
   */
  kind: z.enum(['latency', 'error', 'no_answer', 'lost_answer', 'outage', 'garbage', 'altered', 'not_found']),
  /** Fields of an altered answer. */
  answer: z.record(z.string(), z.unknown()).optional(),
  /** Length of the latency, or of the silence before the connection is cut. */
  milliseconds: z.int().min(0).max(600_000).optional(),
  /** How many calls it hits; absent: all until it is removed. */
  times: z.int().min(1).optional(),
});
export type Fault = z.infer<typeof faultSchema>;
export type FaultTarget = NonNullable<Fault['operation']>;

/** The subject of a call. */
const FACTS = faultFactsSchema.keyof().options;
export type Facts = { readonly [K in (typeof FACTS)[number]]?: string | null | undefined };

/** The active faults. In memory only: a restarted simulator has none. */
export class Faults {
  private faults: Fault[] = [];

  list(): readonly Fault[] {
    return this.faults;
  }

  add(fault: Fault): void {
    this.faults.push(fault);
  }

  /** Ends the faults about the given facts; without any, all. */
  clear(facts: Facts): void {
    this.faults = this.faults.filter((fault) =>
      FACTS.some((fact) => facts[fact] !== undefined && fault[fact] !== facts[fact]),
    );
  }

  /** The oldest fault that hits this call, used up once. */
  take(target: FaultTarget, facts: Facts): Fault | undefined {
    const hit = this.faults.find(
      (fault) =>
        (fault.operation ?? target) === target &&
        FACTS.every((fact) => fault[fact] === undefined || fault[fact] === facts[fact]),
    );
    if (hit?.times !== undefined) {
      hit.times -= 1;
      if (hit.times === 0) this.faults = this.faults.filter((fault) => fault !== hit);
    }
    return hit;
  }
}
