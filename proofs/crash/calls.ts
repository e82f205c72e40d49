import { createRequire } from 'node:module';
import { Client } from 'pg';
import type { CrashPoints } from './points';

/** The answer of a gRPC call. */
type Answered = (error: unknown, response?: unknown) => void;

/** Numbers the SQL statements, processor calls and Temporal calls that both processes make. */
export function numberSharedCalls(points: CrashPoints): void {
  numberStatements(points);
  numberProcessorCalls(points);
  numberTemporalCalls(points);
}

/** SQL transactions that only read: a sandbox clock looks in them, again and again, for what is due. */
const LOOKS = /^BEGIN TRANSACTION .*READ ONLY/i;
const READS = /^\s*(select|begin|set)\b/i;
const ENDS = /^(COMMIT|ROLLBACK)/i;

/** knex sends every statement with a callback. */
function numberStatements(points: CrashPoints): void {
  const looking = new WeakSet<object>();
  const prototype = Client.prototype as unknown as { query: (...args: unknown[]) => unknown };
  const { query } = prototype;
  prototype.query = function (this: object, ...args: unknown[]) {
    const answered = args.at(-1);
    if (typeof answered !== 'function') return query.apply(this, args);
    const { name, text, values } = statementOf(args);
    if (LOOKS.test(text)) looking.add(this);
    if (looking.has(this)) {
      if (ENDS.test(text)) looking.delete(this);
      return query.apply(this, args);
    }
    points.callback(
      {
        what: `SQL: ${name ?? text.replaceAll(/\s+/g, ' ').trim().slice(0, 60)}`,
        text: JSON.stringify(values ?? []),
        is_read: READS.test(text),
      },
      (callback) => void query.apply(this, [...args.slice(0, -1), callback]),
      answered as (...answer: unknown[]) => void,
    );
    return undefined;
  };
}

interface Statement {
  name?: string;
  text: string;
  values?: unknown[];
}

function statementOf([statement, values]: unknown[]): Statement {
  if (typeof statement !== 'string') return statement as Statement;
  return { text: statement, ...(Array.isArray(values) && { values }) };
}

interface ProcessorRequest {
  method?: string;
  body?: string;
}

function numberProcessorCalls(points: CrashPoints): void {
  const undici = require('undici') as { request: (url: string, options?: ProcessorRequest) => Promise<unknown> };
  const { request } = undici;
  undici.request = async (url, options = {}) => await points.around(callOf(url, options), () => request(url, options));
}

function callOf(url: string, { method = 'GET', body = '{}' }: ProcessorRequest) {
  const [, , what = ''] = new URL(url).pathname.split('/');
  const { operation = what } = JSON.parse(body) as { operation?: string };
  return {
    what: `processor: ${method === 'GET' ? 'ask' : operation}`,
    text: `${url} ${body}`,
    is_read: method === 'GET',
  };
}

/** The gRPC client is a package of Temporal's client. */
function numberTemporalCalls(points: CrashPoints): void {
  const grpc = createRequire(require.resolve('@temporalio/client'))('@grpc/grpc-js') as {
    Client: { prototype: { makeUnaryRequest: (method: string, ...args: unknown[]) => unknown } };
  };
  const { prototype } = grpc.Client;
  const { makeUnaryRequest } = prototype;
  prototype.makeUnaryRequest = function (this: unknown, method, ...args) {
    let call: unknown;
    points.callback(
      { what: `Temporal: ${method.split('/').at(-1)}`, text: textOf(args[2]) },
      (answered: Answered) => void (call = makeUnaryRequest.apply(this, [method, ...args.slice(0, -1), answered])),
      args.at(-1) as Answered,
    );
    // Whoever cancels a call that was never sent.
    return call ?? { cancel: () => undefined };
  };
}

/** A message of Temporal's protocol: its texts are readable, payloads are encrypted. */
export const textOf = (message: unknown) =>
  message instanceof Uint8Array ? Buffer.from(message).toString('latin1') : '';
