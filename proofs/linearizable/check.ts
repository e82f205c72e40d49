import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../../src/stack/files';
import { buildGoProgram, runGo } from '../../src/stack/tools/go';

/** What a client asked of one order, what it was answered, and when: a line of the model's input. Nanoseconds. */
export interface ObservedOperation {
  order: string;
  /** Whether the order is an authorization that is captured by hand; otherwise a sale. */
  manual: boolean;
  /** The amount of the order. */
  of: number;
  client: number;
  in: { kind: OperationKind; attempt?: number; card?: string; amount?: number };
  out: { result: string; amount?: number; status?: string } & Partial<Record<AmountName, number>>;
  call: number;
  /** Null: it was not answered. */
  return: number | null;
  /** The read after which nothing was under way. */
  final?: true;
}

export type OperationKind = 'pay' | 'capture' | 'void' | 'refund' | 'cancel' | 'read';
export type AmountName = 'captured' | 'voided' | 'refunded' | 'capturable' | 'voidable' | 'refundable';

export interface HistoryVerdict {
  order: string;
  operations: number;
  /** `Unknown`: not decided within a minute. */
  result: 'Ok' | 'Illegal' | 'Unknown';
}

/** The module of the model. */
const MODEL = path.join(repositoryRoot(), 'proofs', 'linearizable', 'model');

/** Throws an Error if `go test` fails: the model does not call known histories legal and illegal. */
export const testModel = (): Promise<void> => runGo({ module: MODEL }, ['test', './...']);

/**
 * What the model says of each order. Builds its program in `.tools` first; throws an Error that says how to get Go
 * where it is missing.
 */
export async function checkHistories(operations: readonly ObservedOperation[]): Promise<HistoryVerdict[]> {
  const folder = path.join(repositoryRoot(), '.tools');
  mkdirSync(folder, { recursive: true });
  const program = path.join(folder, 'linearizable-model');
  await buildGoProgram({ module: MODEL, package: '.', to: program });
  const child = spawn(program, { stdio: ['pipe', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  child.stdin.end(operations.map((operation) => `${JSON.stringify(operation)}\n`).join(''));
  if ((await ended) !== 0) throw new Error('the model of linearizability ended with an error');
  return printed
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as HistoryVerdict);
}
