import type { OperationRequest } from '../processor/wire';
import { availableAmount, type Sums } from './amounts';
import { APPROVED, chargeOutcome, refused, scenarioOf, type ScenarioOutcome, type Scenario } from './scenarios';
import type { Next, OperationRow, RecordedOperation } from './operation';
import type { Store } from './store';

/** The result of a request for an operation. */
export type OperationAnswer =
  | { kind: 'answer'; row: OperationRow }
  /** No answer at all; `happened`: whether it was done. */
  | { kind: 'silence'; happened: boolean }
  | { kind: 'error' }
  /** The key belongs to another request. */
  | { kind: 'key_reused' };

/** Executes an operation once per key, and stores its outcome before returning. Throws if Postgres does not answer. */
export async function operate(
  store: Store,
  operation: OperationRequest,
  idempotency_key: string,
  now: Date,
): Promise<OperationAnswer> {
  if (operation.operation !== 'sale' && operation.operation !== 'authorize') {
    const follow_up = { ...operation, operation: operation.operation };
    const row = await store.recordFollowUp(operation, (charge, sums) =>
      decideFollowUp(follow_up, idempotency_key, charge, sums, now),
    );
    return row ? { kind: 'answer', row } : { kind: 'key_reused' };
  }
  return charge(store, operation, idempotency_key, now);
}

async function charge(
  store: Store,
  operation: OperationRequest,
  idempotency_key: string,
  now: Date,
): Promise<OperationAnswer> {
  const card =
    operation.vault_token === undefined
      ? undefined
      : await store.vault.card(operation.vault_token, operation.project_id);
  const { receiver_account_token } = operation;
  const has_receiver =
    receiver_account_token === undefined ||
    (await store.vault.hasAccount(receiver_account_token, operation.project_id));
  const scenario: Scenario = scenarioOf(card?.scenario ?? null);

  let earlier_requests = 0;
  if (scenario.first_arrival === 'no_answer' || scenario.first_arrival === 'error') {
    const arrivals = await store.arrive(idempotency_key);
    if (arrivals === 1) {
      return scenario.first_arrival === 'error' ? { kind: 'error' } : { kind: 'silence', happened: false };
    }
    earlier_requests = arrivals - 1;
  }

  // A token of a card or account that is not of this project ends without an issuer being asked.
  const outcome: ScenarioOutcome =
    card && has_receiver ? chargeOutcome(card.scenario, operation.is_test) : { result: 'error' };
  const next = operation.operation === 'sale' ? chargebackAfter(scenario, outcome, now) : undefined;
  const row = await store.record({
    idempotency_key,
    operation,
    scenario: card?.scenario,
    outcome,
    next,
    earlier_requests,
    now,
  });
  if (!row) return { kind: 'key_reused' };
  if (scenario.first_arrival === 'lost_answer' && row.requests === 1) return { kind: 'silence', happened: true };
  return { kind: 'answer', row };
}

type FollowUp = OperationRequest & { operation: 'capture' | 'void' | 'refund' | 'reversal' };

function decideFollowUp(
  operation: FollowUp,
  idempotency_key: string,
  original: OperationRow | undefined,
  sums: Sums | undefined,
  now: Date,
): RecordedOperation {
  const scenario: Scenario = scenarioOf(original?.scenario ?? null);
  const outcome = followUpOutcome(operation, scenario, original, sums);
  const next = operation.operation === 'capture' ? chargebackAfter(scenario, outcome, now) : undefined;
  return {
    idempotency_key,
    operation,
    scenario: original?.scenario ?? undefined,
    outcome,
    next,
    earlier_requests: 0,
    now,
  };
}

function followUpOutcome(
  operation: FollowUp,
  scenario: Scenario,
  original: OperationRow | undefined,
  sums: Sums | undefined,
): ScenarioOutcome {
  if (!original || !sums || operation.currency !== original.currency || operation.order_id !== original.order_id) {
    return refused('12');
  }
  if (operation.amount === 0 || operation.amount > availableAmount(operation.operation, sums)) return refused('13');
  if (operation.operation === 'capture') return scenario.capture ?? APPROVED;
  if (operation.operation === 'refund') return scenario.refund ?? APPROVED;
  return APPROVED;
}

function chargebackAfter(scenario: Scenario, outcome: ScenarioOutcome, now: Date): Next | undefined {
  if (scenario.chargeback_after_ms === undefined || outcome.result !== 'approved') return undefined;
  return { operation: 'chargeback', due: new Date(now.getTime() + scenario.chargeback_after_ms) };
}

/** The operation that the processor initiates after a chargeback (or its reversal) at `now`. */
export function afterChargeback(origin: OperationRow, now: Date): Next | undefined {
  const { won_after_ms }: Scenario = scenarioOf(origin.scenario);
  if (origin.next_operation !== 'chargeback' || won_after_ms === undefined) return undefined;
  return { operation: 'chargeback_reversal', due: new Date(now.getTime() + won_after_ms) };
}
