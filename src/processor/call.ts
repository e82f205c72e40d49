import { Agent, request } from 'undici';
import type { z } from 'zod';
import { holdsCardNumber, replaceCardNumbers } from '../domain/card';
import { ServiceError } from '../errors';
import type { Logger } from '../log';
import type { LabelsOf } from '../metrics/catalogue';
import { incrementCounter, measure } from '../metrics/recorder';
import { operationResultSchema, problemSchema, type OperationResult } from './wire';

export interface ProcessorOptions {
  /** Address of the processor. */
  url: string;
  key: string;
  /** Milliseconds a whole call may take, connecting included. */
  timeout_ms: number;
  /** Logs one line per call whose outcome is unknown: the reason, never the content. */
  log?: Logger;
  /** Also logs one line per answered operation. */
  log_operations?: boolean;
}

/** Kept-alive connections to the processor, by the most that it may answer. */
export interface Connection extends ProcessorOptions {
  agents: Readonly<Record<keyof typeof ANSWER_BYTES_MAX, Agent>>;
}

/**
 * More than any answer needs. Totals of an hour, which are a report, have about 160 bytes for each project, operation
 * and currency.
 */
const ANSWER_BYTES_MAX = { reports: 16 * 1024 * 1024, others: 256 * 1024 } as const;

export function connect(options: ProcessorOptions): Connection {
  const agentFor = (maxResponseSize: number) =>
    new Agent({ connect: { timeout: options.timeout_ms }, keepAliveTimeout: 30_000, maxResponseSize });
  const agents = { reports: agentFor(ANSWER_BYTES_MAX.reports), others: agentFor(ANSWER_BYTES_MAX.others) };
  return { ...options, url: options.url.replace(/\/+$/, ''), agents };
}

/** Ends the connections, and the calls over them. */
export const disconnect = async ({ agents }: Connection): Promise<void> =>
  void (await Promise.all(Object.values(agents).map((agent) => agent.destroy())));

type Labels = LabelsOf<'payments_processor_calls_total'>;

interface Call {
  /** The call as metrics name it. */
  operation: Labels['operation'];
  method: 'GET' | 'POST';
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
}

export interface HttpAnswer {
  status: number;
  /** Undefined when the body is not JSON. */
  body: unknown;
}

/** Any answer; rejects when none came. */
export async function callProcessor(connection: Connection, request: Call): Promise<HttpAnswer> {
  const { operation } = request;
  const began = performance.now();
  const ended = (result: Labels['result']) => {
    incrementCounter('payments_processor_calls_total', { operation, result });
    measure('payments_processor_call_duration_seconds', { operation }, (performance.now() - began) / 1_000);
  };
  try {
    const answer = await send(connection, request);
    ended(resultOf(answer));
    return answer;
  } catch (error) {
    ended(isTimeout(error) ? 'timeout' : NOT_HTTP.test(failureReason(error)) ? 'unusable' : 'unreachable');
    throw error;
  }
}

function resultOf({ status, body }: HttpAnswer): Labels['result'] {
  if (status === 401 || status === 403) return 'unauthorized';
  if (body === undefined || status >= 500 || status < 200) return 'unusable';
  return status < 300 ? 'answered' : 'refused';
}

const isTimeout = (error: unknown) => /timeout|ETIMEDOUT/i.test(failureReason(error));

async function send({ agents, url, key, timeout_ms }: Connection, call: Call): Promise<HttpAnswer> {
  const { method, path, body, headers } = call;
  const answer = await request(url + path, {
    dispatcher: call.operation === 'reports' ? agents.reports : agents.others,
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(timeout_ms),
  });
  return { status: answer.statusCode, body: jsonOf(await answer.body.text()) };
}

/**
 * A call that moves money, or polls whether it moved. Without a valid answer about this key the outcome is `unknown`;
 * an answer 404 or 409 is returned as it is.
 */
export async function callOperation(
  connection: Connection,
  idempotency_key: string,
  request: Call,
): Promise<OperationResult | HttpAnswer | 'unknown'> {
  let why: string;
  const began = performance.now();
  try {
    const answer = await callProcessor(connection, request);
    if (answer.status === 404 || answer.status === 409) return answer;
    const result = operationResultSchema.safeParse(answer.body);
    // An answer about another operation is no answer about this one.
    if (answer.status === 200 && result.success && result.data.idempotency_key === idempotency_key) {
      const { challenge_url = '' } = result.data;
      if (!holdsCardNumber(challenge_url)) {
        logAnswer(connection, result.data, performance.now() - began);
        return withoutCardNumbers(result.data);
      }
    }
    why = answer.status === 200 ? 'not an answer of the wire format' : `status ${answer.status}`;
  } catch (error) {
    why = failureReason(error);
  }
  connection.log?.warn({ idempotency_key, why }, 'outcome at the processor is unknown');
  return 'unknown';
}

/** Logs the operation and its result: no amount and no text of the processor. */
function logAnswer({ log, log_operations }: Connection, answer: OperationResult, ms: number): void {
  if (log_operations !== true) return;
  const { operation, result, transaction_id, idempotency_key } = answer;
  log?.info({ operation, result, transaction_id, idempotency_key, ms: Math.round(ms) }, 'processor answered');
}

/** The result with texts that repeat no card number (rules 15.8). */
function withoutCardNumbers(result: OperationResult): OperationResult {
  const { response_code, response_code_description } = result;
  const cleaned = (text: string) => replaceCardNumbers(text, '[card number]');
  return {
    ...result,
    ...(response_code !== undefined && { response_code: cleaned(response_code) }),
    ...(response_code_description !== undefined && {
      response_code_description: cleaned(response_code_description),
    }),
  };
}

/** Errors of an answer that is not HTTP, or too large. */
const NOT_HTTP = /^(HPE_|UND_ERR_RES_EXCEEDED_MAX_SIZE)/;

/**
 * A call that moves no money: an answer of one of the `statuses`, or FailedToFetchTransactionInformation;
 * GatewayTimeout without any answer.
 */
export async function lookUp(
  connection: Connection,
  request: Call,
  statuses: readonly number[] = [200],
): Promise<HttpAnswer> {
  const answer = await callProcessor(connection, request).catch((error: unknown) => failureReason(error));
  if (typeof answer === 'object' && statuses.includes(answer.status)) return answer;
  const why = typeof answer === 'string' ? answer : `status ${answer.status}`;
  // The rest of a path may hold a token.
  const what = request.path.split('/').slice(0, 4).join('/');
  connection.log?.warn({ what, why }, 'the processor gave no usable answer');
  throw typeof answer === 'string' && !NOT_HTTP.test(answer)
    ? new ServiceError('GatewayTimeout', 'The processor did not answer; nothing was stored or charged.')
    : notFetched();
}

/**
 * The body of a look-up's answer. Throws FailedToFetchTransactionInformation when it is not of the wire format, or
 * repeats a card number (rules 15.8).
 */
export function parsed<T extends z.ZodType>(schema: T, body: unknown): z.infer<T> {
  const parsed = schema.safeParse(body);
  if (!parsed.success || showsCardNumber(parsed.data)) throw notFetched();
  return parsed.data;
}

/** What a look-up answers. Throws as lookUp and parsed do. */
export async function read<T extends z.ZodType>(
  connection: Connection,
  schema: T,
  request: Call,
  statuses?: readonly number[],
): Promise<z.infer<T>> {
  return parsed(schema, (await lookUp(connection, request, statuses)).body);
}

/** Whether a text of the answer holds a card number. Tokens may look like one. */
function showsCardNumber(answer: unknown): boolean {
  return Object.entries(answer as object).some(
    ([name, value]) => !name.endsWith('_token') && typeof value === 'string' && holdsCardNumber(value),
  );
}

/** Whether a refusal is the processor's own and about this field. */
export function namesField(field: string, { body }: HttpAnswer): boolean {
  return problemSchema.safeParse(body).data?.field === field;
}

export function notFetched(): ServiceError {
  return new ServiceError(
    'FailedToFetchTransactionInformation',
    'The processor gave no usable answer; nothing was stored or charged.',
  );
}

/** The answer with texts that Postgres can store; `undefined` when it is not JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text, UNSTORABLE.test(text) ? storable : undefined);
  } catch {
    return undefined;
  }
}

/** What Postgres refuses is in JSON as an escape only. */
const UNSTORABLE = /\\u(0000|d[89a-f])/i;

/** Fields of ISO 8583 may be filled up with NUL, and a text may be cut within a surrogate pair. */
const storable = (_: string, value: unknown) =>
  typeof value === 'string' ? Buffer.from(value.replaceAll('\u0000', '')).toString() : value;

/** Why a call failed, without anything of its content. */
function failureReason(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return [code, name].find((reason) => typeof reason === 'string') ?? 'no answer';
}
