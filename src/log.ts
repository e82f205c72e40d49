import { writeSync } from 'node:fs';
import pino from 'pino';
import { replaceCardNumbers } from './domain/card';
import { inLines } from './domain/shown-text';

export type Logger = pino.Logger;

/** The replacement of a number in a JSON line, which has no quotation marks. */
const REPLACED_NUMBER = /(?<=[^\\]":)\[card number\]/g;
const KEY = /\b((?:test|live|sk|mk|cs|whsec)_)[A-Za-z0-9_+/=-]{16,}/g;
const AUTHORIZATION = /\b(Basic|Bearer) [A-Za-z0-9+/=._-]{8,}/g;

/** The text without card numbers, API keys and credentials. Applied to whole log lines, so that no field is missed. */
export function withoutSecrets(text: string): string {
  return replaceCardNumbers(text, '[card number]')
    .replace(REPLACED_NUMBER, '"$&"')
    .replace(KEY, '$1[key]')
    .replace(AUTHORIZATION, '$1 [credentials]');
}

/** Fields that hold contents of rows: of Postgres's errors, and of knex's. */
const ROW_FIELDS = ['detail', 'where', 'internalQuery', 'bindings'];

/** An error with its stack, without contents of rows. Other values, such as chosen fields of an error, stay as they are. */
function tellError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const told = pino.stdSerializers.err(error);
  for (const field of ROW_FIELDS) delete told[field];
  return told;
}

/** The service logs errors under `err`, Temporal's SDK under `error`. */
export const SERIALIZERS = { err: tellError, error: tellError };

interface LogOptions {
  process: string;
  level: string;
  /** Fields that every line gets, as they are when it is written. */
  fields?: () => object;
}

/** Writes to standard output. A line that cannot be written, as on a full disk, is lost, and the process goes on. */
function writeLine(text: string): void {
  const { stdout } = process;
  if (stdout.listenerCount('error') === 0) stdout.on('error', () => undefined);
  if (!stdout.destroyed) return void stdout.write(text);
  // Node has given the stream up after an error; there may be room again.
  try {
    writeSync(stdout.fd, text);
  } catch {
    // It is lost too.
  }
}

/**
 * One JSON line per entry on standard output; card numbers and keys are dropped from every line, and control and format
 * characters escaped.
 */
export function createLogger({ process: name, level, fields }: LogOptions): Logger {
  const line = { write: (text: string) => writeLine(inLines(withoutSecrets(text))) };
  return pino(
    {
      level,
      base: { process: name },
      ...(fields && { mixin: fields }),
      serializers: SERIALIZERS,
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    line,
  );
}
