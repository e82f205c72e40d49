import { connectDatabase } from '../../src/db/connection';
import { EncryptingCodec, isEncrypted } from '../../src/temporal/payload-codec';
import { withDatabaseName } from '../../test/support/database';
import type { RunningStack } from '../../test/support/stack';
import { payloadsIn, temporalOf } from '../../test/support/temporal-client';
import { severalAtOnce } from '../../src/domain/several-at-once';
import { capturedAndVoided } from './captured-and-voided';
import { deliveries } from './deliveries';
import { ends } from './ends';
import { indexEqualsRecord } from './index-equals-record';
import type { HistoryInvariant, HistoryOptions, Invariant, Evidence, WorkflowHistory } from './invariant';
import { ledgerInvariant } from './ledger';
import { ledgerSums } from './ledger-sums';
import { links } from './links';
import { noCardNumbers, noCardNumbersInPayloads } from './no-card-numbers';
import { oneCharge } from './one-charge';
import { onePayment } from './one-payment';
import { refunded } from './refunded';
import { replay } from './replay';
import { statuses } from './statuses';
import { webhooks } from './webhooks';

/** Invariants of the servers. The first wait until nothing is under way. */
export const INVARIANTS: readonly Invariant[] = [
  ledgerInvariant,
  ledgerSums,
  ends,
  deliveries,
  indexEqualsRecord,
  oneCharge,
  onePayment,
  capturedAndVoided,
  refunded,
  statuses,
  webhooks,
  links,
  noCardNumbers,
];

/** Invariants of workflow histories, which are read once for all of them. */
export const HISTORY_INVARIANTS: readonly HistoryInvariant[] = [replay, noCardNumbersInPayloads];

interface CheckOptions extends HistoryOptions {
  /** How long invariants may take to hold, each. Milliseconds. */
  within_ms?: number;
  /** Workflow histories that are replayed and searched; of more, every second, third … */
  histories_max?: number;
  /** Names of the invariants to check; absent: all. */
  only?: readonly string[];
  /** The processor's own database, where it is not on the server of the record. */
  simulator_postgres_url?: string;
  /** Reports progress, a line each. */
  say?: (line: string) => void;
}

/** Violations that are listed of one invariant. */
const LISTED = 20;
/** Workflow histories that are in memory at a time. */
const BATCH = 500;
/** Of these, how many are read from Temporal at a time. */
const READ_AT_ONCE = 8;

/**
 * Ends the faults of the stack's processor, waits until nothing is under way, and returns how the stack breaks the
 * invariants. Each text begins with the name of the invariant. Empty: all hold.
 */
export async function checkInvariants(stack: RunningStack, options: CheckOptions = {}): Promise<string[]> {
  const { within_ms = 180_000, histories_max = 1_000, only, say = () => undefined } = options;
  const record = connectDatabase(stack.postgres_url, { pool_max: 2 });
  const { simulator_postgres_url } = options;
  const processor_url = simulator_postgres_url ?? withDatabaseName(stack.postgres_url, 'simulator');
  const processor = connectDatabase(processor_url, { pool_max: 2 });
  const place: Evidence = { stack, record, processor, simulator_postgres_url };
  const isChosen = ({ name }: { name: string }) => only?.includes(name) ?? true;
  const broken: string[] = [];
  const report = (name: string, violations: readonly string[], began: number) => {
    say(`${name}: ${violations.length} violations (${Math.round((performance.now() - began) / 1_000)} s)`);
    broken.push(...violations.slice(0, LISTED).map((violation) => `${name}: ${violation}`));
    if (violations.length > LISTED) broken.push(`${name}: ${violations.length - LISTED} more`);
  };
  try {
    for (const invariant of INVARIANTS.filter(isChosen)) {
      const began = performance.now();
      report(invariant.name, await violationsOf(invariant, place, within_ms), began);
    }
    const began = performance.now();
    const chosen = HISTORY_INVARIANTS.filter(isChosen);
    const found = await violationsInHistories(chosen, stack, { ...options, histories_max, say });
    for (const [n, { name }] of chosen.entries()) report(name, found[n]!, began);
    return broken;
  } finally {
    await Promise.all([record.destroy(), processor.destroy()]);
  }
}

/** An eventual invariant is looked at until it holds, or its time is over. A server of it may still be starting. */
async function violationsOf(invariant: Invariant, place: Evidence, within_ms: number): Promise<string[]> {
  const give_up = Date.now() + within_ms;
  for (;;) {
    const violations = await invariant.violations(place).catch((error: unknown) => {
      if (invariant.eventual === undefined || Date.now() > give_up) throw error;
      return [String(error)];
    });
    if (violations.length === 0 || invariant.eventual === undefined || Date.now() > give_up) return violations;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

/** What each invariant finds in the histories. */
async function violationsInHistories(
  invariants: readonly HistoryInvariant[],
  stack: RunningStack,
  { histories_max, say, ...options }: HistoryOptions & { histories_max: number; say: (line: string) => void },
): Promise<string[][]> {
  const found: string[][] = invariants.map(() => []);
  if (invariants.length === 0) return found;
  let read = 0;
  for await (const histories of historiesOf(stack, histories_max)) {
    for (const [n, invariant] of invariants.entries()) {
      found[n]!.push(...(await invariant.violations(histories, options)));
    }
    read += histories.length;
    if (read % (10 * BATCH) === 0) say(`${read} histories read`);
  }
  say(`${read} histories read in all`);
  if (read === 0) throw new Error('Temporal has no workflow history');
  return found;
}

/** Histories of every run, or of every second, third …, decrypted, in batches. */
async function* historiesOf(stack: RunningStack, histories_max: number): AsyncGenerator<WorkflowHistory[]> {
  const client = temporalOf(stack);
  const codec = new EncryptingCodec(stack.payload_keys);
  try {
    const runs: { workflow_id: string; run_id: string }[] = [];
    for await (const { workflowId, runId } of client.workflow.list()) {
      runs.push({ workflow_id: workflowId, run_id: runId });
    }
    const step = Math.max(1, Math.ceil(runs.length / histories_max));
    const chosen = runs.filter((_, n) => n % step === 0);
    for (let first = 0; first < chosen.length; first += BATCH) {
      const histories: WorkflowHistory[] = [];
      await severalAtOnce(READ_AT_ONCE, chosen.slice(first, first + BATCH), async (run) => {
        const history = await client.workflow.getHandle(run.workflow_id, run.run_id).fetchHistory();
        const encrypted = payloadsIn(history).filter(isEncrypted);
        const decrypted = await codec.decode(encrypted);
        for (const [n, payload] of decrypted.entries()) Object.assign(encrypted[n]!, payload);
        histories.push({ ...run, history, payloads: decrypted.map(({ data }) => Buffer.from(data ?? []).toString()) });
      });
      yield histories;
    }
  } finally {
    await client.connection.close();
  }
}
