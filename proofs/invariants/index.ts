import { connectDatabase } from '../../src/db/connection';
import { EncryptingCodec, isEncrypted } from '../../src/temporal/payload-codec';
import type { RunningStack } from '../../test/support/stack';
import { payloadsIn, temporalOf } from '../../test/support/temporal-client';
import { capturedAndVoided } from './captured-and-voided';
import { deliveries } from './deliveries';
import { ends } from './ends';
import { indexEqualsRecord } from './index-equals-record';
import type { Invariant, Place, WorkflowHistory } from './invariant';
import { ledger } from './ledger';
import { ledgerSums } from './ledger-sums';
import { links } from './links';
import { noCardNumbers } from './no-card-numbers';
import { oneCharge } from './one-charge';
import { onePayment } from './one-payment';
import { refunded } from './refunded';
import { replay } from './replay';
import { statuses } from './statuses';
import { webhooks } from './webhooks';

/** All invariants. The first wait until nothing is under way. */
export const INVARIANTS: readonly Invariant[] = [
  ledger,
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
  replay,
  noCardNumbers,
];

interface CheckOptions {
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

/**
 * Ends the faults of the stack's processor, waits until nothing is under way, and returns how the stack breaks the
 * invariants. Each text begins with the name of the invariant. Empty: all hold.
 */
export async function checkInvariants(stack: RunningStack, options: CheckOptions = {}): Promise<string[]> {
  const { within_ms = 180_000, histories_max = 1_000, only, say = () => undefined } = options;
  const record = connectDatabase(stack.postgres_url, { pool_max: 2 });
  const { simulator_postgres_url } = options;
  const processor_url = simulator_postgres_url ?? stack.postgres_url.replace(/\/[^/]+$/, '/simulator');
  const processor = connectDatabase(processor_url, { pool_max: 2 });
  let fetched: Promise<WorkflowHistory[]> | undefined;
  const place: Place = {
    stack,
    record,
    processor,
    simulator_postgres_url,
    histories: () => (fetched ??= fetchHistories(stack, histories_max)),
  };
  const broken: string[] = [];
  try {
    for (const invariant of INVARIANTS.filter(({ name }) => only?.includes(name) ?? true)) {
      const began = performance.now();
      const violations = await violationsOf(invariant, place, within_ms);
      say(`${invariant.name}: ${violations.length} violations (${Math.round((performance.now() - began) / 1_000)} s)`);
      broken.push(...violations.slice(0, LISTED).map((violation) => `${invariant.name}: ${violation}`));
      if (violations.length > LISTED) broken.push(`${invariant.name}: ${violations.length - LISTED} more`);
    }
    return broken;
  } finally {
    await Promise.all([record.destroy(), processor.destroy()]);
  }
}

/** An eventual invariant is looked at until it holds, or its time is over. A server of it may still be starting. */
async function violationsOf(invariant: Invariant, place: Place, within_ms: number): Promise<string[]> {
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

/** Histories of every run, or of every second, third …, decrypted in place. */
async function fetchHistories(stack: RunningStack, histories_max: number): Promise<WorkflowHistory[]> {
  const client = temporalOf(stack);
  const codec = new EncryptingCodec(stack.payload_keys);
  try {
    const runs: { workflow_id: string; run_id: string }[] = [];
    for await (const { workflowId, runId } of client.workflow.list()) {
      runs.push({ workflow_id: workflowId, run_id: runId });
    }
    const step = Math.ceil(runs.length / histories_max);
    const histories: WorkflowHistory[] = [];
    for (const run of runs.filter((_, n) => n % step === 0)) {
      const history = await client.workflow.getHandle(run.workflow_id, run.run_id).fetchHistory();
      const encrypted = payloadsIn(history).filter(isEncrypted);
      const decrypted = await codec.decode(encrypted);
      for (const [n, payload] of decrypted.entries()) Object.assign(encrypted[n]!, payload);
      histories.push({ ...run, history, payloads: decrypted.map(({ data }) => Buffer.from(data ?? []).toString()) });
    }
    return histories;
  } finally {
    await client.connection.close();
  }
}
